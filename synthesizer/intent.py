"""The layer of intent: the question, the terms that calls looked for beyond it, and which facts serve which part.

It grows as rounds go by: it notes each settled call with the parts that its facts serve, and with the terms that it
looked for beyond the question. It keeps the counts after each round.
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
"""Most characters of one argument that are read for the terms that a call looked for."""


class CallAim(Value, frozen=True, kw_only=True):
    """The words that one tool call looked for.

    Attributes:
        terms: The stems of its arguments' texts.
        serves: The parts (by index, from 0) that its facts serve.
    """

    tool_call_id: str
    round: int
    why: str
    terms: frozenset[str]
    serves: tuple[int, ...] = ()


class RoundCounts(Value, frozen=True, kw_only=True):
    """The number of facts that served each part at the end of a round."""

    round: int
    served: tuple[int, ...]


class Intent(Value, frozen=True, kw_only=True):
    """The question, and the facts that serve its parts.

    Attributes:
        question: The caller's own words.
        meant: The same with the things in the conversation that it refers to.
        parts: The parts of the question, in its order.
        served: For each part, the ids of the facts that serve it.
        sought: The terms that each settled call looked for.
        history: The counts after each round.
        rules: The version of the rules by which the query is decided; from 2 on, lists of texts in arguments count too.
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
    """Returns the layer after `event`: a received question is taken apart into its parts."""
    if not isinstance(event, QueryReceived):
        return intent
    titles = list(filter(None, map(str.strip, event.courses.text.splitlines())))
    # The things that the question refers to are part of its terms; the model still sees the question as written.
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
    """Notes which parts the facts of the `new` blocks serve; facts merged into them no longer serve."""
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
    """Notes the terms that a settled round's `calls` looked for, and how many facts serve each part after it."""
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
    """Returns True if `held` has any of the part's terms: an open part has nothing better."""
    return not part.terms.isdisjoint(held)


def serves(part: Part, passage: Passage, held: frozenset[str]) -> bool:
    """Returns True if a passage (or a sentence of it) that holds these terms is evidence for the part."""
    # Everything in a course or lesson serves a part that names it, no matter in which words.
    if part.course is not None and passage.course is not None:
        return part.course == passage.course
    if part.lesson is not None and passage.kind == "passage":
        return part.lesson == passage.lesson
    return len(part.terms & held) >= part.needed
