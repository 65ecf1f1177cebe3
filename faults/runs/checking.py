"""Runs plans and experiments, checks the promises on the results, and shrinks a failing experiment."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from antiphon.faults.checks.promises import broken_promises
from antiphon.faults.plan import Experiment, Fault, Plan, Step
from antiphon.faults.results import Run
from antiphon.faults.runs.service import ServiceUnderTest, run_plan
from antiphon.faults.runs.world import World
from antiphon.vocabulary.errors import ServiceError
from antiphon.vocabulary.events import Event, QueryReceived, Recorded, RecordingFailed

OpenWorld = Callable[[Path], World]
"""Makes a world with its traces in a folder."""
Trace = Sequence[Recorded[Event]]

SAME_TRACE = "the same plan gave another trace"
_PLACE = re.compile(r"(step \d+: )?(query \d+: )?")
_TIME_DIGITS = 5
"""Digits of seconds to compare: the last digits of sums of virtual times depend on the time of the start."""


class Checker:
    """Checks the promises on the runs of one world; knows the neighbour's trace when nothing is broken."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._unbroken: dict[int, Trace] = {}

    def run(self, plan: Plan, *, twice: bool = False) -> tuple[Run, list[str]]:
        """Runs a plan; returns its run and each promise that it breaks.

        Args:
            twice: Reruns it and compares the traces.
        """
        run = run_plan(self.world, plan)
        broken = self.broken_in([run])
        if twice:
            differs = trace_difference(run.trace, run_plan(self.world, plan).trace)
            if differs:
                broken.append(f"{SAME_TRACE}: {differs}")
        return run, broken

    def run_step(
        self, service: ServiceUnderTest, step: Step
    ) -> tuple[list[Run], list[str]]:
        """Runs one step of an experiment; returns its runs and each promise that they break."""
        try:
            runs = service.run(step)
        # In a random run this is a finding too, which can be shrunk and rerun.
        except (
            ServiceError,
            RuntimeError,
            AssertionError,
            LookupError,
            TypeError,
            ValueError,
        ) as error:
            return [], [f"the run itself failed: {type(error).__name__}: {error}"]
        return runs, self.broken_in(runs)

    def broken_in(self, runs: Sequence[Run]) -> list[str]:
        """Returns each promise that the runs of one step break."""
        broken: list[str] = []
        for number, run in enumerate(runs, start=1):
            place = f"query {number}: " if len(runs) > 1 else ""
            for wrong in broken_promises(run):
                broken.append(f"{place}{wrong}")
        unbroken = self._neighbour(runs[0].plan.seed)
        # A fault that blocks the event loop delays all queries.
        is_timed = not any(run.injected.blocked_s for run in runs)
        differs = trace_difference(unbroken, runs[0].neighbour, timed=is_timed)
        if differs:
            broken.append(f"the query beside it changed: {differs}")
        return broken

    def _neighbour(self, seed: int) -> Trace:
        # By seed, because the seed decides which query begins first, and so the times of both.
        if seed not in self._unbroken:
            self._unbroken[seed] = run_plan(self.world, Plan(seed=seed)).neighbour
        return self._unbroken[seed]


def run_experiment(
    open_world: OpenWorld, experiment: Experiment, *, twice: bool = False
) -> tuple[list[list[Run]], list[str]]:
    """Runs an experiment in a fresh world.

    Args:
        twice: Reruns it in another world and compares the traces.

    Returns:
        The runs of each step, and each promise that one of them breaks.
    """
    steps: list[list[Run]] = []
    broken: list[str] = []
    with fresh_world(open_world) as world, ServiceUnderTest(world) as service:
        checker = Checker(world)
        for number, step in enumerate(experiment.steps, start=1):
            place = f"step {number}: " if len(experiment.steps) > 1 else ""
            runs, broken_now = checker.run_step(service, step)
            steps.append(runs)
            for wrong in broken_now:
                broken.append(f"{place}{wrong}")
    # A failing experiment needs no comparison to be reported.
    if twice and not broken:
        differs = rerun_difference(open_world, experiment, steps)
        if differs:
            broken.append(differs)
    return steps, broken


def rerun_difference(
    open_world: OpenWorld, experiment: Experiment, steps: Sequence[Sequence[Run]]
) -> str:
    """Reruns an experiment; returns the first difference of its traces from those of `steps`, or an empty text."""
    rerun, _ = run_experiment(open_world, experiment)
    for runs, others in zip(steps, rerun, strict=True):
        # Not strict, because a step whose run failed has no runs to compare.
        for run, other in zip(runs, others, strict=False):
            differs = trace_difference(run.trace, other.trace)
            if differs:
                return f"{SAME_TRACE}: {differs}"
    return ""


@contextmanager
def fresh_world(open_world: OpenWorld) -> Iterator[World]:
    """Opens a world, and deletes its traces at the end."""
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(open_world(Path(folder))) as world,
    ):
        yield world


def promise_of(wrong: str) -> str:
    """Returns the promise in a sentence about a broken one, without the place and the particulars."""
    return _PLACE.sub("", wrong, count=1).partition(":")[0]


def trace_difference(first: Trace, second: Trace, *, timed: bool = True) -> str:
    """Returns the first difference of two traces apart from ids and start times; empty if there is none.

    Args:
        timed: Compares times and contents too; False: only the kinds of events and their causes.
    """
    for one, other in zip(first, second, strict=False):
        if timed:
            is_same = _comparable(one, first[0].at) == _comparable(other, second[0].at)
        else:
            is_same = _place_of(one) == _place_of(other)
        if not is_same:
            return f"event {one.seq}: {type(one.event).__name__} became {type(other.event).__name__} or another of it"
    if len(first) != len(second):
        return f"{len(first)} events became {len(second)}"
    return ""


def _place_of(recorded: Recorded[Event]) -> tuple[object, ...]:
    return recorded.seq, recorded.cause, type(recorded.event)


def _comparable(recorded: Recorded[Event], began: float) -> tuple[object, ...]:
    """Reduces an event to the parts that are the same in every run."""
    place = (recorded.seq, recorded.cause, round(recorded.at - began, _TIME_DIGITS))
    event = recorded.event
    if isinstance(event, QueryReceived):
        return *place, event.query
    if isinstance(event, RecordingFailed):
        # Its detail may contain the query's id, which differs in every run.
        return place
    return *place, event


Fails = Callable[[Experiment], bool]
"""Runs an experiment; returns True if it fails."""
T = TypeVar("T")
Shrinkable = TypeVar("Shrinkable", Plan, Fault)


def smallest(experiment: Experiment, fails: Fails) -> Experiment:
    """Removes all that the failure does not need, until the removal of any one thing makes the experiment pass."""
    smaller = _first_failing(experiment, fails)
    while smaller is not None:
        experiment = smaller
        smaller = _first_failing(experiment, fails)
    return experiment


def _first_failing(experiment: Experiment, fails: Fails) -> Experiment | None:
    for smaller in smaller_than(experiment):
        if fails(smaller):
            return smaller
    return None


def smaller_than(experiment: Experiment) -> Iterator[Experiment]:
    """Yields the experiments with one thing less, the largest removals first."""
    steps = experiment.steps
    if len(steps) > 1:
        # The last one first, because the experiment failed in it.
        for step in reversed(steps):
            yield Experiment(steps=(step,))
        for fewer in _without_one(steps):
            yield Experiment(steps=fewer)
    for at, step in enumerate(steps):
        for less in _smaller_steps(step):
            yield Experiment(steps=_with(steps, at, less))


def _smaller_steps(step: Step) -> Iterator[Step]:
    plans = step.at_once
    if len(plans) > 1:
        for plan in plans:
            yield replace(step, at_once=(plan,))
        for fewer in _without_one(plans):
            yield replace(step, at_once=fewer)
    if step.after_s:
        yield replace(step, after_s=0.0)
    for at, plan in enumerate(plans):
        for less in _smaller_plans(plan):
            yield replace(step, at_once=_with(plans, at, less))


def _smaller_plans(plan: Plan) -> Iterator[Plan]:
    if len(plan.faults) > 1:
        yield replace(plan, faults=())
        for fault in plan.faults:
            yield replace(plan, faults=(fault,))
    for fewer in _without_one(plan.faults):
        yield replace(plan, faults=fewer)
    # Fields come last: a removed fault says more about a failure than a simpler one.
    yield from _plainer(plan, ("scenario", "seed"))
    for at, fault in enumerate(plan.faults):
        for less in _plainer(fault, ("for_s", "nth", "times", "when")):
            yield replace(plan, faults=_with(plan.faults, at, less))


def _plainer(value: Shrinkable, fields: tuple[str, ...]) -> Iterator[Shrinkable]:
    """Yields copies of the value, each with one field set to its default."""
    defaults = {field.name: field.default for field in msgspec.structs.fields(value)}
    for name in fields:
        default = defaults[name]
        if getattr(value, name) != default:
            yield replace(value, **{name: default})


def _without_one(items: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    for at in range(len(items)):
        yield items[:at] + items[at + 1 :]


def _with(items: tuple[T, ...], at: int, item: T) -> tuple[T, ...]:
    return (*items[:at], item, *items[at + 1 :])
