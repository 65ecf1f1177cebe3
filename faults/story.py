"""Several queries of one service, one after another and at once: what the random mode makes, shrinks and writes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import yaml
from msgspec import Meta

from antiphon.faults.plan import LONGEST_S, Plan
from antiphon.faults.reading import bare, plan_of, read_data, refuse_senseless, written
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.values import Value

MOST_QUERIES = 100


class Step(Value, frozen=True, kw_only=True):
    """Queries that are asked at once.

    Attributes:
        at_once: Each with its own faults; a plan without faults is a query that nobody breaks.
        after_s: Seconds that pass before it, in which circuits rest and locks are given back.
    """

    at_once: tuple[Plan, ...]
    after_s: Annotated[float, Meta(ge=0, le=LONGEST_S)] = 0.0


class Story(Value, frozen=True, kw_only=True):
    """Steps that one service goes through: its circuits, tools and store are the same in all of them."""

    steps: tuple[Step, ...]

    @property
    def alone(self) -> Plan | None:
        """The plan, where the story is one query."""
        if len(self.steps) == 1 and len(self.steps[0].at_once) == 1 and not self.steps[0].after_s:
            return self.steps[0].at_once[0]
        return None


def story_of(data: object) -> Story:
    """The story that a decoded JSON or YAML value says; a plan is a story of one query.

    Raises:
        BadInputError: It is none; the message names the field.
    """
    if not isinstance(data, dict) or "steps" not in data:
        return Story(steps=(Step(at_once=(plan_of(data),)),))
    try:
        story = msgspec.convert(data, Story)
    except msgspec.ValidationError as error:
        raise BadInputError(f"This is no story of faults ({error}): see docs/faults.md.") from error
    plans = [plan for step in story.steps for plan in step.at_once]
    if not plans or len(plans) > MOST_QUERIES or any(not step.at_once for step in story.steps):
        raise BadInputError(f"A story has 1 to {MOST_QUERIES} queries, at least one in each step.")
    for plan in plans:
        refuse_senseless(plan)
    return story


def read_story(path: Path) -> Story:
    """The story, or the plan, of a file: YAML or JSON (which is YAML too).

    Raises:
        BadInputError: The file cannot be read, or holds neither.
    """
    return story_of(read_data(path))


def write_story(story: Story) -> str:
    """The story as YAML; as a plan where it is one query."""
    data = written(story.alone) if story.alone else {"steps": [_step(step) for step in story.steps]}
    return yaml.safe_dump(data, sort_keys=False)


def _step(step: Step) -> dict[str, object]:
    return bare(step) | {"at_once": [written(plan) for plan in step.at_once]}
