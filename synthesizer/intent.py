"""The layer of intent: what is asked for, what calls looked for beside it, what serves which part, and what is open.

It grows as rounds go by: each settled call is noted with the parts that its facts serve and with the terms that it
looked for and the question does not hold. How things stood after each round is kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from antiphon.language.words import terms
from antiphon.synthesizer.blocks import SourceBlock
from antiphon.synthesizer.follow_up import understood
from antiphon.synthesizer.question_parts import Part, parts_of
from antiphon.synthesizer.usage import Tried, arguments_of
from antiphon.vocabulary.events import Event, QueryReceived
from antiphon.vocabulary.values import Passage, Value


class Sought(Value, frozen=True, kw_only=True):
    """What one tool call looked for.

    Attributes:
        terms: The stems of its arguments' texts.
        beyond: Those of them that the question does not hold: what an earlier round brought up.
        serves: Which parts (by their place, from 0) the facts that it brought serve.
    """

    tool_call_id: str
    round: int
    why: str
    terms: frozenset[str]
    beyond: frozenset[str]
    serves: tuple[int, ...] = ()


class Stood(Value, frozen=True, kw_only=True):
    """How things stood when a round was over: which parts were served by how many facts."""

    round: int
    served: tuple[int, ...]


class Intent(Value, frozen=True, kw_only=True):
    """What is wanted.

    Attributes:
        question: As it was asked.
        meant: The same with what it refers to in the conversation.
        parts: The parts of the question, in its order.
        served: For each part, the ids of the facts that serve it.
        sought: What each settled call looked for.
        history: How things stood after each round.
    """

    question: str = ""
    meant: str = ""
    asked: frozenset[str] = frozenset()
    parts: tuple[Part, ...] = ()
    served: tuple[tuple[str, ...], ...] = ()
    sought: tuple[Sought, ...] = ()
    history: tuple[Stood, ...] = ()


def fold(intent: Intent, event: Event) -> Intent:
    """The layer after `event`: the question is taken apart when it comes in."""
    if not isinstance(event, QueryReceived):
        return intent
    titles = tuple(title for line in event.courses.text.splitlines() if (title := line.strip()))
    meant = understood(event.query, event.history)
    parts = parts_of(meant, titles)
    return Intent(
        question=event.query, meant=meant, asked=frozenset(terms(meant)), parts=parts, served=((),) * len(parts)
    )


def serve(intent: Intent, new: tuple[SourceBlock, ...]) -> Intent:
    """The layer with what the facts of the `new` blocks serve; facts that they took in serve no longer."""
    found = [(block.fact, held_by(block)) for block in new]
    gone = frozenset(old for fact, _ in found for old in fact.merged)
    served = tuple(
        (*(id_ for id_ in ids if id_ not in gone), *(f.id for f, held in found if serves(part, f.passage, held)))
        for part, ids in zip(intent.parts, intent.served, strict=True)
    )
    return replace(intent, served=served)


def note_round(intent: Intent, round_: int, calls: Sequence[Tried]) -> Intent:
    """The layer with what a settled round's `calls` looked for, and how things stand after it."""
    sought = tuple(_sought(intent, tried) for tried in calls)
    stood = Stood(round=round_, served=tuple(len(ids) for ids in intent.served))
    return replace(intent, sought=(*intent.sought, *sought), history=(*intent.history, stood))


def open_parts(intent: Intent) -> tuple[str, ...]:
    """The parts that no fact serves."""
    return tuple(part.text for part in still_open(intent))


def still_open(intent: Intent) -> tuple[Part, ...]:
    """The parts that no fact serves, whole."""
    return tuple(part for part, ids in zip(intent.parts, intent.served, strict=True) if not ids)


def touches(part: Part, held: frozenset[str]) -> bool:
    """Whether something holds any of what the part asks for: for an open part, that is all there is."""
    return bool(part.terms & held)


def held_by(block: SourceBlock) -> frozenset[str]:
    """All stems of a block: its sentences' and its labels'."""
    return frozenset().union(*block.terms, block.labels)


def serves(part: Part, passage: Passage, held: frozenset[str]) -> bool:
    """Whether what a passage (or a sentence of it) holds is evidence for the part."""
    if part.course is not None and passage.course is not None:
        return part.course == passage.course
    if part.lesson is not None and passage.kind == "passage":
        return part.lesson == passage.lesson
    return len(part.terms & held) >= part.needed


def _sought(intent: Intent, tried: Tried) -> Sought:
    given = [value for value in arguments_of(tried.arguments).values() if isinstance(value, str)]
    wanted = frozenset(term for text in given for term in terms(text[:2_000]))
    brought = frozenset(tried.facts)
    return Sought(
        tool_call_id=tried.id,
        round=tried.round,
        why=tried.why,
        terms=wanted,
        beyond=wanted - intent.asked,
        serves=tuple(at for at, ids in enumerate(intent.served) if brought.intersection(ids)),
    )
