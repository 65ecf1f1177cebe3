"""The layer of intent: the question, its parts, and which of them nothing serves yet."""

from __future__ import annotations

from msgspec.structs import replace

from synthesizer.blocks import SourceBlock
from synthesizer.question_parts import Part, label_terms, parts_of
from vocabulary.events import Event, QueryReceived
from vocabulary.values import Passage, Value


class Intent(Value, frozen=True, kw_only=True):
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


def serve(intent: Intent, new: tuple[SourceBlock, ...]) -> Intent:
    """The layer with what the facts of the `new` blocks serve."""
    found = [(block.fact, _terms_of(block)) for block in new]
    served = tuple(
        (*ids, *(fact.id for fact, held in found if _serves(part, fact.passage, held)))
        for part, ids in zip(intent.parts, intent.served, strict=True)
    )
    return replace(intent, served=served)


def open_parts(intent: Intent) -> tuple[str, ...]:
    """The parts that no fact serves."""
    return tuple(part.text for part, ids in zip(intent.parts, intent.served, strict=True) if not ids)


def _terms_of(block: SourceBlock) -> frozenset[str]:
    passage = block.fact.passage
    return frozenset().union(*block.terms, *(label_terms(label) for label in _labels(passage) if label))


def _labels(passage: Passage) -> tuple[str | None, ...]:
    return passage.source, passage.course, passage.title


def _serves(part: Part, passage: Passage, held: frozenset[str]) -> bool:
    if part.course is not None and passage.course is not None:
        return part.course == passage.course
    if part.lesson is not None and passage.kind == "passage":
        return part.lesson == passage.lesson
    return len(part.terms & held) >= part.needed
