"""One query that a plan breaks: asked, followed and left as its caller would, and what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from antiphon.faults.injector import Injector
from antiphon.faults.passage import Fired, Meeting
from antiphon.faults.plan import Fault, Plan
from antiphon.faults.resuming import begin
from antiphon.faults.scenarios import Scenario
from antiphon.faults.watching import watch
from antiphon.faults.world import QUESTIONS
from antiphon.service import Antiphon, Outcome, QueryHandle, Question
from antiphon.vocabulary.errors import BadInputError, NotFoundError, ServiceError
from antiphon.vocabulary.events import Event, Live, Recorded, RoundOpened

CONVERSATION = "an earlier conversation"
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
    trace: list[Recorded[Event]] = field(default_factory=list)
    stored: Sequence[Recorded[Event]] = ()
    neighbour: Sequence[Recorded[Event]] = ()
    left: list[str] = field(default_factory=list)
    took_s: float = 0.0

    @property
    def fired(self) -> list[Fired]:
        """The plan's own faults that fired; those of its scenario are left out."""
        return [each for each in self.meeting.fired if any(_is(each, fault) for fault in self.plan.faults)]

    @property
    def idle(self) -> list[Fault]:
        """The plan's faults that never fired."""
        return [fault for fault in self.plan.faults if not any(_is(each, fault) for each in self.meeting.fired)]


def _is(fired: Fired, fault: Fault) -> bool:
    return fired.kind == fault.kind and (
        fired.point.startswith(fault.point[:-1]) if fault.point.endswith("*") else fired.point == fault.point
    )


async def ask_broken(service: Antiphon, done: Run, injector: Injector) -> None:
    """Asks the plan's question as a caller does, and notes what comes of it."""
    loop = asyncio.get_running_loop()
    if done.scenario.goes_on:
        await service.store.open_conversation(CONVERSATION)
    began = loop.time()
    limit_s = PATIENCE * done.scenario.settings.deadline_s
    running: QueryHandle | None = None
    try:
        async with asyncio.timeout(limit_s):
            running = await begin(service, _question(done), done.scenario, injector)
            done.outcome = await _accompany(running, done, injector)
    except BadInputError as error:
        done.refused = str(error)
    except TimeoutError:
        done.broke = f"no answer within {limit_s:g} s"
        if running is not None:
            running.cancel("nobody waits any longer")
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


async def _accompany(running: QueryHandle, done: Run, injector: Injector) -> Outcome:
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


async def _stored(service: Antiphon, query_id: str) -> Sequence[Recorded[Event]]:
    try:
        return await service.store.read(query_id)
    except NotFoundError:
        return ()


async def _leave(
    running: QueryHandle, events: AsyncIterator[Recorded[Event] | Live], done: Run, injector: Injector
) -> None:
    """Notes each event; goes away when a round opens, where the plan or the scenario says so."""
    async for told in events:
        if not isinstance(told, Recorded):
            continue
        done.trace.append(told)
        left = isinstance(told.event, RoundOpened) and injector.meeting.meet("client") is not None
        if left or (done.scenario.leaves and isinstance(told.event, RoundOpened)):
            running.cancel("the caller went away")
