"""Makes a failing story smaller as long as it fails: without each step, query and fault, then plainer in each field."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from antiphon.faults.plan import Fault, Plan
from antiphon.faults.story import Step, Story

Fails = Callable[[Story], bool]
T = TypeVar("T")
Shaped = TypeVar("Shaped", Plan, Fault)


def smallest(story: Story, fails: Fails) -> Story:
    """The story without anything that its failing does not need: taking any one thing more away makes it hold.

    Args:
        fails: Plays a story; whether it fails.
    """
    while (smaller := next(filter(fails, smaller_than(story)), None)) is not None:
        story = smaller
    return story


def smaller_than(story: Story) -> Iterator[Story]:
    """Each story that is one thing less, the largest things first."""
    steps = story.steps
    if len(steps) > 1:
        yield from (Story(steps=(step,)) for step in reversed(steps))
        yield from (Story(steps=fewer) for fewer in _without_one(steps))
    for at, step in enumerate(steps):
        yield from (Story(steps=(*steps[:at], less, *steps[at + 1 :])) for less in _smaller_steps(step))


def _smaller_steps(step: Step) -> Iterator[Step]:
    plans = step.at_once
    if len(plans) > 1:
        yield from (replace(step, at_once=(plan,)) for plan in plans)
        yield from (replace(step, at_once=fewer) for fewer in _without_one(plans))
    if step.after_s:
        yield replace(step, after_s=0.0)
    for at, plan in enumerate(plans):
        yield from (replace(step, at_once=(*plans[:at], less, *plans[at + 1 :])) for less in _smaller_plans(plan))


def _smaller_plans(plan: Plan) -> Iterator[Plan]:
    if len(plan.faults) > 1:
        yield replace(plan, faults=())
        yield from (replace(plan, faults=(fault,)) for fault in plan.faults)
    yield from (replace(plan, faults=fewer) for fewer in _without_one(plan.faults))
    yield from _plainer(plan, ("scenario", "seed"))
    for at, fault in enumerate(plan.faults):
        for less in _plainer(fault, ("for_s", "nth", "times", "when")):
            yield replace(plan, faults=(*plan.faults[:at], less, *plan.faults[at + 1 :]))


def _plainer(value: Shaped, fields: tuple[str, ...]) -> Iterator[Shaped]:
    """The value with one field as it is by default."""
    defaults = {field.name: field.default for field in msgspec.structs.fields(value)}
    yield from (replace(value, **{name: defaults[name]}) for name in fields if getattr(value, name) != defaults[name])


def _without_one(items: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    return (items[:at] + items[at + 1 :] for at in range(len(items)))
