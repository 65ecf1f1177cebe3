"""Plays queries on virtual time: those that a plan breaks, beside each step one that is not; and looks round after."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Sequence
from types import TracebackType

from antiphon.faults.injector import Injector
from antiphon.faults.plan import Plan
from antiphon.faults.running import Run, ask_broken
from antiphon.faults.scenarios import SCENARIOS
from antiphon.faults.script import ScriptedModel
from antiphon.faults.story import Step, Story
from antiphon.faults.virtual import VirtualLoop
from antiphon.faults.world import NEIGHBOUR, World
from antiphon.service import Antiphon, Question

LINGERING_S = 10
INDEX_WATCH = "watch the index"
"""The task that a service has as long as it lives."""


class Stage:
    """One service on a virtual event loop, through as many steps as it is told to play.

    Used as a context manager: at its end the service is left, and the loop closed.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._loop = VirtualLoop()
        self._service = self._loop.run_until_complete(_opened(world))

    def play(self, step: Step) -> list[Run]:
        """The runs of a step, in the order of its plans; what was left behind is in the first of them."""
        before = set(threading.enumerate())
        runs = self._loop.run_until_complete(_step(self._world, self._service, step))
        # The store's checkpoint is the world's own and ends by itself.
        threads = [each for each in set(threading.enumerate()) - before if each.name != "checkpoint_run"]
        runs[0].left += [f"thread {each.name}" for each in threads]
        return runs

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._loop.run_until_complete(self._service.leave())
        # A tool that will not be stopped must not stop the harness: it is told once, then left behind.
        self._loop.run_until_complete(_stop_all())
        self._loop.set_exception_handler(lambda _, __: None)
        self._loop.close()


def run_plan(world: World, plan: Plan) -> Run:
    """Runs one plan in a service of its own, from its question to the last trace of its end."""
    return run_story(world, Story(steps=(Step(at_once=(plan,)),)))[0][0]


def run_story(world: World, story: Story) -> list[list[Run]]:
    """Runs all steps of a story in one service."""
    with Stage(world) as stage:
        return [stage.play(step) for step in story.steps]


async def _opened(world: World) -> Antiphon:
    return world.service()


async def _stop_all() -> None:
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    for _ in range(3):
        await asyncio.sleep(0)


async def _step(world: World, service: Antiphon, step: Step) -> list[Run]:
    await _until_a_whole_second(step.after_s)
    neighbouring = world.service()
    injectors = [_injector(plan) for plan in step.at_once]
    runs = [
        Run(plan=plan, scenario=SCENARIOS[plan.scenario], meeting=injector.meeting)
        for plan, injector in zip(step.at_once, injectors, strict=True)
    ]
    # Each in a task of its own: what is broken is known by the context that it runs in.
    works = [ask_broken(service, run, injector) for run, injector in zip(runs, injectors, strict=True)]
    works.insert(0 if step.at_once[0].seed % 2 else len(works), _ask_beside(neighbouring, runs))
    try:
        await asyncio.gather(*(asyncio.create_task(work) for work in works))
        runs[0].left += await _left_open(service)
    finally:
        await neighbouring.leave()
    runs[0].left += await _left_running()
    for work in (work for run in runs for work in run.meeting.held):
        work.close()
    return runs


async def _until_a_whole_second(after_s: float) -> None:
    """Lets time pass; a step begins at a whole second, so that times within it are the same whenever it is played."""
    now = asyncio.get_running_loop().time()
    await asyncio.sleep(math.ceil(now + after_s) - now)


async def _ask_beside(service: Antiphon, runs: Sequence[Run]) -> None:
    """The query that nobody breaks; each run of the step is told its trace."""
    running = await service.start(Question(query=NEIGHBOUR))
    outcome = await running.outcome()
    stored = await service.store.read(outcome.query_id)
    for run in runs:
        run.neighbour = stored


async def _left_open(service: Antiphon) -> list[str]:
    """Sessions that do not end; one whose store refuses may try again for a while after its answer."""
    for _ in range(LINGERING_S):
        if service.running():
            await asyncio.sleep(1.0)
    return [f"an open session {query_id}" for query_id in service.running()]


async def _left_running() -> list[str]:
    for _ in range(3):
        await asyncio.sleep(0)
    ours = asyncio.current_task()
    tasks = [task.get_name() for task in asyncio.all_tasks() if task is not ours]
    return [f"task {name}" for name in tasks if name != INDEX_WATCH] + [
        f"{tasks.count(INDEX_WATCH) - 1} services" for _ in range(tasks.count(INDEX_WATCH) > 1)
    ]


def _injector(plan: Plan) -> Injector:
    scenario = SCENARIOS[plan.scenario]
    return Injector(
        (*plan.faults, *scenario.faults),
        provider_open=scenario.provider_open,
        primary=ScriptedModel(greedy=scenario.greedy, dear=scenario.dear) if scenario.greedy or scenario.dear else None,
    )
