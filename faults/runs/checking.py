"""Runs plans and experiments, checks the promises on what they left, and makes a failing experiment smaller."""

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
"""Makes a world whose traces are in a folder."""
Trace = Sequence[Recorded[Event]]

SAME_TRACE = "the same plan gave another trace"
_PLACE = re.compile(r"(step \d+: )?(query \d+: )?")
_TIME_DIGITS = 5
"""Digits of seconds that are compared: sums of virtual times differ in the last ones by where they began."""


class Checker:
    """Checks the promises on the runs of one world; knows how the neighbour's trace looks when nothing is broken."""

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
        # In a random run this, too, is a finding that can be shrunk and rerun.
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
        """Names each promise that the runs of one step break."""
        broken: list[str] = []
        for number, run in enumerate(runs, start=1):
            place = f"query {number}: " if len(runs) > 1 else ""
            for wrong in broken_promises(run):
                broken.append(f"{place}{wrong}")
        unbroken = self._neighbour(runs[0].plan.seed)
        # Whatever blocks the event loop delays every query.
        is_timed = not any(run.injected.blocked_s for run in runs)
        differs = trace_difference(unbroken, runs[0].neighbour, timed=is_timed)
        if differs:
            broken.append(f"the query beside it changed: {differs}")
        return broken

    def _neighbour(self, seed: int) -> Trace:
        # By seed, since it chooses which of the two queries begins first, and so the times of both.
        if seed not in self._unbroken:
            self._unbroken[seed] = run_plan(self.world, Plan(seed=seed)).neighbour
        return self._unbroken[seed]


def run_experiment(
    open_world: OpenWorld, experiment: Experiment, *, twice: bool = False
) -> tuple[list[list[Run]], list[str]]:
    """Runs an experiment in a world that knows nothing before.

    Args:
        twice: Reruns it in another world and compares the traces.

    Returns:
        The runs by steps, and each promise that one of them breaks.
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
    # A broken experiment is reported as it is: there is no need to compare it.
    if twice and not broken:
        differs = rerun_difference(open_world, experiment, steps)
        if differs:
            broken.append(differs)
    return steps, broken


def rerun_difference(
    open_world: OpenWorld, experiment: Experiment, steps: Sequence[Sequence[Run]]
) -> str:
    """Reruns an experiment; names the place where its traces are not those of `steps`, or returns an empty text."""
    rerun, _ = run_experiment(open_world, experiment)
    for runs, others in zip(steps, rerun, strict=True):
        # A step that failed by itself has no runs to compare.
        for run, other in zip(runs, others, strict=False):
            differs = trace_difference(run.trace, other.trace)
            if differs:
                return f"{SAME_TRACE}: {differs}"
    return ""


@contextmanager
def fresh_world(open_world: OpenWorld) -> Iterator[World]:
    """Opens a world whose traces are gone at its end."""
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(open_world(Path(folder))) as world,
    ):
        yield world


def promise_of(wrong: str) -> str:
    """Cuts a sentence about a broken promise down to the promise, without the place and the particulars."""
    return _PLACE.sub("", wrong, count=1).partition(":")[0]


def trace_difference(first: Trace, second: Trace, *, timed: bool = True) -> str:
    """Names the place where two traces differ, but for ids and the hour; an empty text if they are the same.

    Args:
        timed: Times are compared too, and all that is said; False: only which event followed from which.
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
    """Reduces an event to what is the same in every run."""
    place = (recorded.seq, recorded.cause, round(recorded.at - began, _TIME_DIGITS))
    event = recorded.event
    if isinstance(event, QueryReceived):
        return *place, event.query
    if isinstance(event, RecordingFailed):
        # Its detail may name the query, whose id is another one in every run.
        return place
    return *place, event


Fails = Callable[[Experiment], bool]
"""Runs an experiment; returns True if it fails."""
T = TypeVar("T")
Shrinkable = TypeVar("Shrinkable", Plan, Fault)


def smallest(experiment: Experiment, fails: Fails) -> Experiment:
    """Takes away all that the failure does not need: taking any one thing more away makes the experiment pass."""
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
    """Yields each experiment that is one thing less, the largest things first."""
    steps = experiment.steps
    if len(steps) > 1:
        # The last one first: there the experiment failed.
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
    # Fields come last: one fault less says more about a failure than a plainer one.
    yield from _plainer(plan, ("scenario", "seed"))
    for at, fault in enumerate(plan.faults):
        for less in _plainer(fault, ("for_s", "nth", "times", "when")):
            yield replace(plan, faults=_with(plan.faults, at, less))


def _plainer(value: Shrinkable, fields: tuple[str, ...]) -> Iterator[Shrinkable]:
    """Yields the value with one field as it is by default."""
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
