"""Finds which other course treats what a lesson is about, by the words that their passages share; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from antiphon.engine.offline.task import Source, Task
from antiphon.language.evidence import LEAST_WEIGHT, Weigh
from antiphon.language.words import terms

UNRANKED = 1_000
"""The rank of a passage that only a search of its own course found."""
TITLE_TIMES = 3
"""A word of the lesson's title counts as much as this many in its text."""


class Elsewhere(NamedTuple):
    """A lesson of another course on the same topic.

    Attributes:
        passage: The best that was found in it.
        rank: Its place in a search of all courses, from 0.
        likeness: By the words that it shares with the lesson, 0 to 1.
    """

    course: str
    lesson: int | None
    passage: Source
    rank: int
    likeness: float

    @property
    def order(self) -> tuple[int, float]:
        """Sorts the best first: by meaning and words, as the search does, then by words alone."""
        return self.rank, -self.likeness


def elsewhere(
    title: str, course: str, lesson: int | None, task: Task, weigh: Weigh | None
) -> list[Elsewhere]:
    """Returns the lessons of other courses that were found, each course's best alone, most alike first.

    Args:
        title: The lesson's.
        course: Its course.
    """
    own = [
        each
        for each in task.passages
        if each.course == course and lesson in (None, each.lesson)
    ]
    asked = _weights([*terms(title) * TITLE_TIMES, *_terms_of(own)], weigh)
    ranks = _ranks(task)
    found: dict[str, Elsewhere] = {}
    for source in task.passages:
        if source.course == course:
            continue
        likeness = _likeness(asked, _weights(_terms_of([source]), weigh))
        rank = ranks.get(source, UNRANKED)
        place = Elsewhere(source.course, source.lesson, source, rank, likeness)
        best = found.get(source.course)
        if best is None or place.order < best.order:
            found[source.course] = place
    return sorted(found.values(), key=lambda each: each.order)


def _ranks(task: Task) -> dict[Source, int]:
    """Returns the best place of each passage in the searches of all courses, from 0."""
    ranks: dict[Source, int] = {}
    for attempt in task.attempts:
        if attempt.arguments.get("course_name") is not None:
            continue
        for rank, source in enumerate(task.numbered(attempt.facts)):
            ranks[source] = min(rank, ranks.get(source, rank))
    return ranks


def nothing_elsewhere(course: str, task: Task) -> str:
    """Returns that nothing was found, as far as other courses were searched."""
    searched = {attempt.arguments.get("course_name") for attempt in task.attempts}
    others = {each.title for each in task.catalogue.courses} - {course}
    if others and others <= searched:
        return "Nothing on that topic was found in any other course."
    named = sorted(str(title) for title in searched & others)
    if named:
        return f"Nothing on that topic was found in {', '.join(named)}."
    return "No other course was searched for that topic."


def _terms_of(sources: Sequence[Source]) -> list[str]:
    found: list[str] = []
    for source in sources:
        found += terms(f"{source.title} {''.join(source.blocks)}")
    return found


def _weights(held: Sequence[str], weigh: Weigh | None) -> dict[str, float]:
    """Weighs each term by how telling it is, and by how often it stands there."""
    counts: dict[str, int] = {}
    for term in held:
        counts[term] = counts.get(term, 0) + 1
    weights: dict[str, float] = {}
    for term, count in counts.items():
        weight = 1.0
        if weigh is not None:
            weight = max(weigh(term), LEAST_WEIGHT)
        weights[term] = weight * sqrt(count)
    return weights


def _likeness(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Returns the cosine of two weighted sets of terms."""
    shared = sum(weight * other.get(term, 0.0) for term, weight in one.items())
    lengths = sqrt(_square(one)) * sqrt(_square(other))
    if not lengths:
        return 0.0
    return shared / lengths


def _square(weights: Mapping[str, float]) -> float:
    return sum(weight * weight for weight in weights.values())
