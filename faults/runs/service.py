"""Runs queries on virtual time: those that a plan breaks and, beside each step, an unbroken one; notes leftovers."""

from __future__ import annotations

import asyncio
import inspect
import math
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from antiphon.faults.injector import Injector
from antiphon.faults.plan import Experiment, Plan, Step
from antiphon.faults.ports.virtual_time import VirtualLoop
from antiphon.faults.results import Run
from antiphon.faults.runs.query import ask_broken
from antiphon.faults.runs.scripted_model import ScriptedModel
from antiphon.faults.runs.world import NEIGHBOUR, World
from antiphon.faults.scenarios import SCENARIOS
from antiphon.service import Antiphon, Question

LINGERING_S = 70
"""Seconds within which a session ends after its answer even with a failing store: an append under way, and then up to
five tries, each of which waits up to four seconds and gives up an append after ten."""
LASTING_TASKS = ("watch the index", "watch the loop", "watch for blocking code")
"""The tasks that a service has for its whole life."""
STORE_THREAD = "checkpoint_run"
"""The thread of the store's checkpoint, which belongs to the world and ends by itself."""
_FEW_TURNS = 3
"""Turns of the loop that a cancelled task, and the tasks that it waited for, need to end."""


class ServiceUnderTest:
    """One service on a virtual event loop, for any number of steps.

    A context manager, which at its end leaves the service and closes the loop.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._loop = VirtualLoop()
        self._service = self._loop.run_until_complete(_opened(world))

    def run(self, step: Step) -> list[Run]:
        """Runs a step; returns its runs in the order of its plans, with all leftovers in the first of them."""
        before = set(threading.enumerate())
        runs = self._loop.run_until_complete(
            _run_step(self._world, self._service, step)
        )
        for thread in set(threading.enumerate()) - before:
            if thread.name != STORE_THREAD:
                runs[0].left.append(f"thread {thread.name}")
        return runs

    def __enter__(self) -> ServiceUnderTest:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: object,
        trace: TracebackType | None,
    ) -> None:
        self._loop.run_until_complete(self._service.leave())
        # A tool that ignores its cancellation must not stop the harness: it is cancelled once, then abandoned.
        self._loop.run_until_complete(_cancel_all())
        self._loop.set_exception_handler(lambda _, __: None)
        self._loop.close()


def run_plan(world: World, plan: Plan) -> Run:
    """Runs one plan in a service of its own, from the question until nothing of the query is left."""
    with ServiceUnderTest(world) as service:
        return service.run(Experiment.of(plan).steps[0])[0]


async def _opened(world: World) -> Antiphon:
    return world.service()


async def _cancel_all() -> None:
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    await _let_others_run()


async def _let_others_run() -> None:
    for _ in range(_FEW_TURNS):
        await asyncio.sleep(0)


async def _run_step(world: World, service: Antiphon, step: Step) -> list[Run]:
    await _until_a_whole_second(step.after_s)
    # In its own service on the same store, because faults may open the circuits of the broken one.
    neighbouring = world.service()
    runs: list[Run] = []
    queries = []
    for plan in step.at_once:
        injector = _injector(plan)
        run = Run(
            plan=plan, scenario=SCENARIOS[plan.scenario], injected=injector.injected
        )
        runs.append(run)
        queries.append(ask_broken(service, run, injector))
    # With an odd seed the unbroken query begins first.
    place = 0 if step.at_once[0].seed % 2 == 1 else len(queries)
    queries.insert(place, _ask_neighbour(neighbouring, runs))
    try:
        # Each in its own task, because shared ports find a query's faults by the context in which it runs.
        tasks = [asyncio.create_task(query) for query in queries]
        await asyncio.gather(*tasks)
        runs[0].left += await _open_sessions(service)
    finally:
        await neighbouring.leave()
    runs[0].left += await _running_tasks()
    # A coroutine that never began warns when it is collected unless it is closed.
    for run in runs:
        for work in run.injected.delayed:
            work.close()
    return runs


async def _until_a_whole_second(after_s: float) -> None:
    """Lets time pass up to a whole second, so that the times within a step are the same whenever it runs."""
    now = asyncio.get_running_loop().time()
    await asyncio.sleep(math.ceil(now + after_s) - now)


async def _ask_neighbour(service: Antiphon, runs: Sequence[Run]) -> None:
    """Asks the unbroken query; adds its trace to each run of the step."""
    handle = await service.start(Question(query=NEIGHBOUR))
    outcome = await handle.outcome()
    stored = await service.store.read(outcome.query_id)
    for run in runs:
        run.neighbour = stored


async def _open_sessions(service: Antiphon) -> list[str]:
    """Lists sessions that do not end; one with a failing or slow store may try for a while after its answer."""
    for _ in range(LINGERING_S):
        if service.running():
            await asyncio.sleep(1.0)
    return [f"an open session {query_id}" for query_id in service.running()]


async def _running_tasks() -> list[str]:
    # Lets just cancelled tasks end first.
    await _let_others_run()
    left: list[str] = []
    lasting: Counter[str] = Counter()
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        if task.get_name() in LASTING_TASKS:
            lasting[task.get_name()] += 1
        else:
            left.append(f"task {task.get_name()}{_place_of(task)}")
    # One service lives on for the next step.
    services = max(lasting.values(), default=0)
    if services > 1:
        left.append(f"{services - 1} services")
    return left


def _place_of(task: asyncio.Task[object]) -> str:
    """Returns the coroutine and line at which a task waits, since a bare name (`Task-1147`) leads nowhere."""
    place = ""
    awaited: object = task.get_coro()
    while inspect.iscoroutine(awaited) and awaited.cr_frame is not None:
        file = Path(awaited.cr_code.co_filename)
        # Interested in the code that waits, not in asyncio's own frames.
        if file.parent.name != "asyncio":
            name = f"{file.parent.name}/{file.name}:{awaited.cr_frame.f_lineno}"
            place = f" ({awaited.__qualname__} at {name})"
        awaited = awaited.cr_await
    return place


def _injector(plan: Plan) -> Injector:
    scenario = SCENARIOS[plan.scenario]
    primary = None
    if scenario.greedy or scenario.dear:
        primary = ScriptedModel(greedy=scenario.greedy, dear=scenario.dear)
    return Injector(
        (*plan.faults, *scenario.faults),
        provider_open=scenario.provider_open,
        primary=primary,
    )
