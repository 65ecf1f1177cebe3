"""The layer of intent: what is wanted, what calls looked for beside it, what serves which part, and what is open.

It grows as rounds go by: each settled call is noted with the parts that its facts serve and with the terms that it
looked for and the question does not hold. The counts after each round are kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from antiphon.language.questions import Part, parts_of, understood
from antiphon.language.words import terms
from antiphon.synthesizer.blocks import SourceBlock
from antiphon.synthesizer.usage import ToolAttempt, arguments_of
from antiphon.vocabulary.events import Event, QueryReceived
from antiphon.vocabulary.values import Passage, Value

ARGUMENT_CHARS = 2_000
"""As much of one argument is read for the terms that a call looked for."""


class CallAim(Value, frozen=True, kw_only=True):
    """The words that one tool call looked for.

    Attributes:
        terms: The stems of its arguments' texts.
        serves: Which parts (by their place, from 0) the facts that it brought serve.
    """

    tool_call_id: str
    round: int
    why: str
    terms: frozenset[str]
    serves: tuple[int, ...] = ()


class RoundCounts(Value, frozen=True, kw_only=True):
    """By how many facts each part was served when a round was over."""

    round: int
    served: tuple[int, ...]


class Intent(Value, frozen=True, kw_only=True):
    """The question, and how far it is served.

    Attributes:
        question: As it was asked.
        meant: The same with what it refers to in the conversation.
        parts: The parts of the question, in its order.
        served: For each part, the ids of the facts that serve it.
        sought: What each settled call looked for.
        history: The counts after each round.
        rules: The version of the rules by which the query is decided; from 2 on lists of texts say what is sought too.
    """

    rules: int = 1
    question: str = ""
    meant: str = ""
    asked: frozenset[str] = frozenset()
    parts: tuple[Part, ...] = ()
    served: tuple[tuple[str, ...], ...] = ()
    sought: tuple[CallAim, ...] = ()
    history: tuple[RoundCounts, ...] = ()


def fold(intent: Intent, event: Event) -> Intent:
    """Returns the layer after `event`: the question is taken apart when it comes in."""
    if not isinstance(event, QueryReceived):
        return intent
    titles = list(filter(None, map(str.strip, event.courses.text.splitlines())))
    # What the question refers to is part of what is asked; what is shown to the model stays as it was written.
    meant = understood(event.query, event.history)
    parts = parts_of(meant, titles)
    return Intent(
        rules=event.rules,
        question=event.query,
        meant=meant,
        asked=frozenset(terms(meant)),
        parts=parts,
        served=((),) * len(parts),
    )


def serve(intent: Intent, new: Sequence[SourceBlock]) -> Intent:
    """Notes which parts the facts of the `new` blocks serve; facts that they took in serve no longer."""
    merged: set[str] = set()
    for block in new:
        merged.update(block.fact.merged)
    held = [(block.fact, block.all_terms()) for block in new]
    served: list[tuple[str, ...]] = []
    for part, known in zip(intent.parts, intent.served, strict=True):
        serving = [fact_id for fact_id in known if fact_id not in merged]
        for fact, terms_of_fact in held:
            if serves(part, fact.passage, terms_of_fact):
                serving.append(fact.id)
        served.append(tuple(serving))
    return replace(intent, served=tuple(served))


def note_round(intent: Intent, round_: int, calls: Sequence[ToolAttempt]) -> Intent:
    """Notes what a settled round's `calls` looked for, and how many facts serve each part after it."""
    aims = [_call_aim(intent, attempt) for attempt in calls]
    counts = RoundCounts(round=round_, served=tuple(map(len, intent.served)))
    return replace(
        intent, sought=(*intent.sought, *aims), history=(*intent.history, counts)
    )


def _call_aim(intent: Intent, attempt: ToolAttempt) -> CallAim:
    wanted: set[str] = set()
    for value in arguments_of(attempt.arguments).values():
        values = value if isinstance(value, list) and intent.rules > 1 else [value]
        for text in values:
            if isinstance(text, str):
                wanted.update(terms(text[:ARGUMENT_CHARS]))
    brought = frozenset(attempt.facts)
    parts = [at for at, ids in enumerate(intent.served) if not brought.isdisjoint(ids)]
    return CallAim(
        tool_call_id=attempt.id,
        round=attempt.round,
        why=attempt.why,
        terms=frozenset(wanted),
        serves=tuple(parts),
    )


def open_parts(intent: Intent) -> tuple[str, ...]:
    """Returns the texts of the parts that no fact serves."""
    return tuple([part.text for part in still_open(intent)])


def still_open(intent: Intent) -> list[Part]:
    """Returns the parts that no fact serves."""
    pairs = zip(intent.parts, intent.served, strict=True)
    return [part for part, fact_ids in pairs if not fact_ids]


def touches(part: Part, held: frozenset[str]) -> bool:
    """Returns True for anything that holds some of what the part asks for: an open part has nothing better."""
    return not part.terms.isdisjoint(held)


def serves(part: Part, passage: Passage, held: frozenset[str]) -> bool:
    """Returns True if what a passage (or a sentence of it) holds is evidence for the part."""
    # A course or lesson that was asked for by name is served by what is in it, whatever its words.
    if part.course is not None and passage.course is not None:
        return part.course == passage.course
    if part.lesson is not None and passage.kind == "passage":
        return part.lesson == passage.lesson
    return len(part.terms & held) >= part.needed
