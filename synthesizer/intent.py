"""The layer of intent: the question, its parts, and which of them nothing serves yet."""

from __future__ import annotations

from msgspec.structs import replace

from language.words import terms
from synthesizer.question_parts import Part, parts_of
from vocabulary.events import Event, QueryReceived
from vocabulary.values import Fact, Passage, Value

READ_CHARS = 20_000
"""How much of a passage is looked at; a longer one is no course text."""


class Intent(Value, frozen=True):
    """What is wanted.

    Attributes:
        parts: The parts of the question, in its order.
        served: For each part, the ids of the facts that serve it.
    """

    question: str = ""
    parts: tuple[Part, ...] = ()
    served: tuple[tuple[str, ...], ...] = ()


def fold(intent: Intent, event: Event) -> Intent:
    """The layer after `event`: the question is taken apart when it comes in."""
    if not isinstance(event, QueryReceived):
        return intent
    titles = tuple(title for line in event.courses.text.splitlines() if (title := line.strip()))
    parts = parts_of(event.query, titles)
    return Intent(question=event.query, parts=parts, served=((),) * len(parts))


def serve(intent: Intent, new: tuple[Fact, ...]) -> Intent:
    """The layer with what `new` facts serve."""
    found = [(fact, _terms_of(fact.passage)) for fact in new]
    served = tuple(
        (*ids, *(fact.id for fact, held in found if _serves(part, fact.passage, held)))
        for part, ids in zip(intent.parts, intent.served, strict=True)
    )
    return replace(intent, served=served)


def open_parts(intent: Intent) -> tuple[str, ...]:
    """The parts that no fact serves."""
    return tuple(part.text for part, ids in zip(intent.parts, intent.served, strict=True) if not ids)


def _terms_of(passage: Passage) -> frozenset[str]:
    text = passage.text.text[:READ_CHARS]
    return frozenset(terms(f"{passage.source}\n{passage.course or ''}\n{passage.title or ''}\n{text}"))


def _serves(part: Part, passage: Passage, held: frozenset[str]) -> bool:
    if part.course is not None and passage.course is not None:
        return part.course == passage.course
    if part.lesson is not None and passage.kind == "passage":
        return part.lesson == passage.lesson
    return len(part.terms & held) >= part.needed
