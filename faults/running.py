"""Runs one plan: the query that is broken, and beside it one that is not; and looks at what is left behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from faults.injector import Injector
from faults.kinds import Kind
from faults.passage import Fired, Meeting
from faults.plan import Plan
from faults.resuming import begin
from faults.scenarios import SCENARIOS, Scenario
from faults.virtual import run
from faults.watching import watch
from faults.world import NEIGHBOUR, QUESTIONS, World
from service import Antiphon, Outcome, Question, Running
from vocabulary.errors import BadInputError, NotFoundError, ServiceError
from vocabulary.events import AnyEvent, Event, Live, Recorded, RoundOpened

NEIGHBOUR_SCENARIO = Scenario(what="the query beside the broken one")
CONVERSATION = "an earlier conversation"
LINGERING_S = 10
PATIENCE = 3.0
"""Times its deadline after which a query is held to hang."""


@dataclass
class Run:
    """What came of one plan.

    Attributes:
        outcome: What the caller was given; None where nothing came, or where the question was refused.
        refused: The refusal of the question, in words.
        trace: The query's events, as they were delivered.
        stored: Its events, as the store has them afterwards.
        neighbour: The stored events of the query beside it.
        left: What was still there after both had ended, in words.
        took_s: Virtual seconds from question to answer.
    """

    plan: Plan
    scenario: Scenario
    meeting: Meeting
    outcome: Outcome | None = None
    refused: str = ""
    broke: str = ""
    trace: list[Recorded[AnyEvent]] = field(default_factory=list)
    stored: Sequence[Recorded[AnyEvent]] = ()
    neighbour: Sequence[Recorded[AnyEvent]] = ()
    left: list[str] = field(default_factory=list)
    took_s: float = 0.0

    @property
    def fired(self) -> list[Fired]:
        """The plan's own faults that fired; those of its scenario are left out."""
        own = {(fault.point, fault.kind) for fault in self.plan.faults}
        return [each for each in self.meeting.fired if (each.point, each.kind) in own or _by_ending(each, own)]


def _by_ending(fired: Fired, own: set[tuple[str, Kind]]) -> bool:
    return any(kind == fired.kind and point.endswith("*") and fired.point.startswith(point[:-1]) for point, kind in own)


def run_plan(world: World, plan: Plan) -> Run:
    """Runs the plan from its question to the last trace of its end."""
    before = set(threading.enumerate())
    done = run(_both(world, plan))
    # The store's checkpoint is the world's own and ends by itself.
    done.left += [
        f"thread {each.name}" for each in set(threading.enumerate()) - before if each.name != "checkpoint_run"
    ]
    return done


async def _both(world: World, plan: Plan) -> Run:
    scenario = SCENARIOS[plan.scenario]
    service = world.service(greedy=scenario.greedy, dear=scenario.dear)
    neighbouring = world.service()
    injector = _injector(plan, scenario)
    done = Run(plan=plan, scenario=scenario, meeting=injector.meeting)
    try:
        # Each in a task of its own: what is broken is known by the context that it runs in.
        first, second = _broken(service, done, injector), _neighbour(neighbouring, done)
        works = (first, second) if plan.seed % 2 == 0 else (second, first)
        await asyncio.gather(*(asyncio.create_task(work) for work in works))
        done.left += await _left_open(service)
    finally:
        await service.leave()
        await neighbouring.leave()
    await _look_round(done)
    return done


def _injector(plan: Plan, scenario: Scenario) -> Injector:
    return Injector((*plan.faults, *scenario.faults), provider_open=scenario.provider_open)


async def _broken(service: Antiphon, done: Run, injector: Injector) -> None:
    loop = asyncio.get_running_loop()
    if done.scenario.goes_on:
        await service.store.open_conversation(CONVERSATION)
    began = loop.time()
    limit_s = PATIENCE * done.scenario.settings.deadline_s
    try:
        async with asyncio.timeout(limit_s):
            running = await begin(service, _question(done), done.scenario, injector)
            done.outcome = await _accompany(running, done, injector)
    except BadInputError as error:
        done.refused = str(error)
    except TimeoutError:
        done.broke = f"no answer within {limit_s:g} s"
    except (ServiceError, RuntimeError, asyncio.CancelledError) as error:
        done.broke = f"the caller got {type(error).__name__}: {error}"
    done.took_s = loop.time() - began
    if done.outcome is not None:
        done.stored = await _stored(service, done.outcome.query_id)


def _question(done: Run) -> Question:
    text = QUESTIONS[done.plan.seed % len(QUESTIONS)]
    fault = done.meeting.meet("intake")
    if fault is not None:
        text = {"empty": " \n ", "oversized": "why? " * 10_000, "malformed": "half \ud800 a pair"}[fault.kind]
    session_id = CONVERSATION if done.scenario.goes_on else None
    return Question(query=text, session_id=session_id, settings=done.scenario.settings)


async def _accompany(running: Running, done: Run, injector: Injector) -> Outcome:
    """Waits as a caller does, with a follower at its side; goes away where the plan says so."""
    # Both follow before anything else runs: a query may be over before this task has its next turn.
    following = asyncio.create_task(watch(running, done.meeting))
    leaving = asyncio.create_task(_leave(running, running.follow(1_000_000), done, injector))
    try:
        return await running.outcome()
    finally:
        await asyncio.wait([leaving], timeout=0)
        leaving.cancel()
        following.cancel()
        await asyncio.gather(leaving, following, return_exceptions=True)


async def _stored(service: Antiphon, query_id: str) -> Sequence[Recorded[AnyEvent]]:
    try:
        return await service.store.read(query_id)
    except NotFoundError:
        return ()


async def _leave(
    running: Running, events: AsyncIterator[Recorded[Event] | Live], done: Run, injector: Injector
) -> None:
    """Notes each event; goes away when a round opens, where the plan or the scenario says so."""
    async for told in events:
        if not isinstance(told, Recorded):
            continue
        done.trace.append(told)  # type: ignore[arg-type]  # every recorded event is one of AnyEvent
        left = isinstance(told.event, RoundOpened) and injector.meeting.meet("client") is not None
        if left or (done.scenario.leaves and isinstance(told.event, RoundOpened)):
            running.cancel("the caller went away")


async def _neighbour(service: Antiphon, done: Run) -> None:
    running = await service.start(Question(query=NEIGHBOUR))
    outcome = await running.outcome()
    done.neighbour = await service.store.read(outcome.query_id)


async def _left_open(service: Antiphon) -> list[str]:
    """Sessions that do not end; one whose store refuses may try again for a while after its answer."""
    for _ in range(LINGERING_S):
        if service.running():
            await asyncio.sleep(1.0)
    return [f"an open session {query_id}" for query_id in service.running()]


async def _look_round(done: Run) -> None:
    for _ in range(3):
        await asyncio.sleep(0)
    ours = asyncio.current_task()
    done.left += [f"task {task.get_name()}" for task in asyncio.all_tasks() if task is not ours]
