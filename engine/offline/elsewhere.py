"""Finds which other course treats what a lesson is about, by the words that their passages share; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from antiphon.engine.offline.task import Source, Task
from antiphon.language.certainty import Certainty
from antiphon.language.evidence import (
    LEAST_WEIGHT,
    Weigh,
    question_shares,
    telling_words,
)
from antiphon.language.words import terms, words

TITLE_TIMES = 3
"""A word of the lesson's title counts as much as this many in its text."""
TITLE_WEIGHT = 0.3
"""For a lesson whose title holds all words of the other one's; a share of them counts for as much of it."""
RANK_WEIGHT = 0.05
"""For being found first by a search of all courses, half of it for the fourth."""
_HALVED_AFTER = 3
_UNRANKED = 1_000
"""The rank of a passage that only a search of its own course found."""
_CLOSE = 0.6
"""A further course is worth naming where its score is this share of the best one's."""
_HIGH = 0.3
_MEDIUM = 0.2
"""Of 23 lessons of nine spoken courses, all best places of 0.3 were right, of 0.2 nine in ten, of less one in two."""
_SHARED_WORDS = 8


class Elsewhere(NamedTuple):
    """A lesson of another course on the same topic.

    Attributes:
        passage: The best that was found in it.
        topic: The lesson's title, with the words that it shares with it where it does not hold all of the title.
        score: How much it shares, above all by rare words.
    """

    passage: Source
    topic: str
    score: float

    @property
    def certainty(self) -> Certainty:
        """How sure it is that the topic is the same."""
        if self.score >= _HIGH:
            return "high"
        if self.score >= _MEDIUM:
            return "medium"
        return "low"


def elsewhere(
    title: str, course: str, lesson: int | None, task: Task, weigh: Weigh | None
) -> list[Elsewhere]:
    """Returns the lessons of other courses that come closest, each course's best alone, the best first.

    Args:
        title: The lesson's.
        course: Its course.
    """
    own = [
        each for each in task.passages if (each.course, each.lesson) == (course, lesson)
    ]
    wanted = _Wanted(title, own, weigh)
    ranks = _ranks(task)
    best: dict[str, Elsewhere] = {}
    for source in _of_other_courses(course, task):
        place = wanted.found_in(source, ranks.get(source, _UNRANKED))
        known = best.get(source.course, place)
        if place.score >= known.score:
            best[source.course] = place
    places = sorted(best.values(), key=lambda place: -place.score)
    return [
        place
        for place in places
        if place.score >= _CLOSE * places[0].score or wanted.is_named_in(place.passage)
    ]


def _of_other_courses(course: str, task: Task) -> list[Source]:
    """Returns what was found in other courses; a result that somebody replaced in a fork is of no course."""
    titles = {each.title for each in task.catalogue.courses}
    found: list[Source] = []
    for source in task.passages:
        if source.course != course and (not titles or source.course in titles):
            found.append(source)
    return found


def subject_of(title: str, asked: str) -> str:
    """Returns the words of a lesson's title that the question has as well, where it has a few; else all of the title.

    "The tracing that lesson 6 is about" is one of the two things in "Tracing and Testing Agents".
    """
    named = frozenset(terms(asked))
    shared = [word for word in telling_words(title) if named & frozenset(terms(word))]
    return " ".join(shared) or title


class _Wanted:
    """What a lesson is about: its title, and its words by how telling they are."""

    def __init__(self, title: str, own: Sequence[Source], weigh: Weigh | None) -> None:
        self._title = title
        self._weigh = weigh
        self._named = question_shares(title, weigh)
        self._words = _weights([*terms(title) * TITLE_TIMES, *_terms_of(own)], weigh)

    def found_in(self, source: Source, rank: int) -> Elsewhere:
        """Returns how much of it a passage of another course holds."""
        held = _weights(_terms_of([source]), self._weigh)
        score = _likeness(self._words, held)
        score += TITLE_WEIGHT * self._named.share(frozenset(terms(source.title)))
        score += RANK_WEIGHT / (1 + rank / _HALVED_AFTER)
        topic = self._title
        if not held.keys() >= self._named.of_term.keys():
            topic = f"{topic} {self._shared_words(held, source)}"
        return Elsewhere(source, topic, score)

    def is_named_in(self, source: Source) -> bool:
        """Returns True where a passage has all of a title of several words in it, as it stands."""
        named = words(self._title)
        text = f" {' '.join(words(''.join(source.blocks)))} "
        return len(terms(self._title)) > 1 and f" {' '.join(named)} " in text

    def _shared_words(self, held: Mapping[str, float], source: Source) -> str:
        """Returns the words of a passage that say most of what it shares with the lesson."""
        shared: dict[str, str] = {}
        for word in words("".join(source.blocks)):
            for term in terms(word):
                if term in self._words:
                    shared.setdefault(term, word)
        telling = sorted(shared, key=lambda term: -self._words[term] * held[term])
        return " ".join([shared[term] for term in telling[:_SHARED_WORDS]])


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
