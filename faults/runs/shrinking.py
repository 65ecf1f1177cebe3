"""Makes a failing experiment smaller as long as it fails: fewer steps, queries and faults, then plainer fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from antiphon.faults.plan import Experiment, Fault, Plan, Step

Fails = Callable[[Experiment], bool]
"""Runs an experiment; returns True if it fails."""
T = TypeVar("T")
Shrinkable = TypeVar("Shrinkable", Plan, Fault)


def smallest(experiment: Experiment, fails: Fails) -> Experiment:
    """Takes away all that the failing does not need: taking any one thing more away makes the experiment pass."""
    smaller: Experiment | None = experiment
    while smaller is not None:
        experiment = smaller
        smaller = next(filter(fails, smaller_than(experiment)), None)
    return experiment


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
    yield from _plainer(plan, ("scenario", "seed"))
    for at, fault in enumerate(plan.faults):
        for less in _plainer(fault, ("for_s", "nth", "times", "when")):
            yield replace(plan, faults=_with(plan.faults, at, less))


def _plainer(value: Shrinkable, fields: tuple[str, ...]) -> Iterator[Shrinkable]:
    """Yields the value with one field as it is by default."""
    defaults = {field.name: field.default for field in msgspec.structs.fields(value)}
    for name in fields:
        if getattr(value, name) != defaults[name]:
            yield replace(value, **{name: defaults[name]})


def _without_one(items: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    for at in range(len(items)):
        yield items[:at] + items[at + 1 :]


def _with(items: tuple[T, ...], at: int, item: T) -> tuple[T, ...]:
    return (*items[:at], item, *items[at + 1 :])
