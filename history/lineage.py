"""Where each sentence of an answer comes from, down to the bytes of the request, and what each passage led to."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from antiphon.engine import request_bytes
from antiphon.language.sentences import sentence_starts
from antiphon.synthesizer import place_of
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import (
    ContextSynthesized,
    Event,
    ReasoningCompleted,
    ReasoningStarted,
    Recorded,
    ResponseAssembled,
    ToolRequested,
    ToolSucceeded,
)
from antiphon.vocabulary.values import Citation, Fact, Passage, Value


class Origin(Value, frozen=True, kw_only=True):
    """What one citation rests on, step by step backwards; a `seq` of 0 means that the trace does not hold it.

    Attributes:
        passage_id: What `antiphon traces whatif` takes.
        arguments: The tool call's, as the model wrote them.
        asked_by: The reasoning call whose reply asked for the tool.
        request_sha256: Of the exact bytes of that call's request.
    """

    cited_text: str
    source: str
    fact: str
    passage_id: str
    found_seq: int
    tool: str
    tool_call_id: str
    arguments: str
    requested_seq: int
    asked_by: str
    reply_seq: int
    request_seq: int
    request_bytes: int
    request_sha256: str


class Sentence(Value, frozen=True, kw_only=True):
    """One sentence of the answer and all that it rests on; empty where it cites nothing."""

    text: str
    origins: tuple[Origin, ...]


class Contribution(Value, frozen=True, kw_only=True):
    """What a passage contributed: the facts it became, and the sentences that cite them."""

    passage_id: str
    source: str
    fact: str
    sentences: tuple[str, ...]


def lineage(events: Sequence[Recorded[Event]]) -> tuple[Sentence, ...]:
    """Every sentence of the answer with its origins.

    Raises:
        BadInputError: The trace holds no answer.
    """
    response = answer_in(events)
    facts = facts_in(events)
    starts = sentence_starts(response.answer)
    found: list[Sentence] = []
    for start, end in zip(starts, (*starts[1:], len(response.answer)), strict=True):
        cited = [each for each in response.citations if each.start < end and each.end > start]
        origins = tuple(_origin(events, each, facts[each.fact]) for each in cited if each.fact in facts)
        text = response.answer[start:end].strip()
        if text:
            found.append(Sentence(text=text, origins=origins))
    return tuple(found)


def contributions(events: Sequence[Recorded[Event]]) -> tuple[Contribution, ...]:
    """The reverse: what each passage that was found led to, in order of discovery."""
    sentences = lineage(events)
    return tuple(
        Contribution(
            passage_id=fact.passage.id,
            source=fact.passage.source,
            fact=fact.id,
            sentences=tuple(each.text for each in sentences if any(o.fact == fact.id for o in each.origins)),
        )
        for fact in facts_in(events).values()
    )


def answer_in(events: Sequence[Recorded[Event]]) -> ResponseAssembled:
    """The trace's answer.

    Raises:
        BadInputError: There is none.
    """
    for said in reversed(events):
        if isinstance(said.event, ResponseAssembled):
            return said.event
    raise BadInputError("This trace holds no answer: there is nothing to trace back.")


def brought_as(events: Sequence[Recorded[Event]], name: str) -> list[str]:
    """The ids of the passages, as tools brought them, that a fact or its passage is made of.

    Passages of a lesson that touch become one fact. A name of no fact and of no fact's passage comes back as it is.
    """
    facts = facts_in(events)
    fact = facts.get(name) or next((each for each in facts.values() if each.passage.id == name), None)
    if fact is None:
        return [name]
    brought = (said.event.passages for said in events if isinstance(said.event, ToolSucceeded))
    whole = fact.passage
    within = (each.id for passages in brought for each in passages if each.id == whole.id or _within(each, whole))
    return list(dict.fromkeys(within)) or [name]


def _within(passage: Passage, whole: Passage) -> bool:
    """Whether a passage stands within another of the same lesson."""
    if passage.start is None or whole.start is None or place_of(passage) != place_of(whole):
        return False
    return whole.start <= passage.start < whole.start + len(whole.text.text)


def facts_in(events: Sequence[Recorded[Event]]) -> dict[str, Fact]:
    """All facts by id, in order of discovery."""
    rounds = (said.event for said in events if isinstance(said.event, ContextSynthesized))
    return {fact.id: fact for event in rounds for fact in event.facts}


def _origin(events: Sequence[Recorded[Event]], citation: Citation, fact: Fact) -> Origin:
    found = _first(events, lambda e: isinstance(e, ToolSucceeded) and e.tool_call_id == fact.tool_call_id)
    asked = _first(events, lambda e: isinstance(e, ToolRequested) and e.call.id == fact.tool_call_id)
    reply = _first(events, lambda e: isinstance(e, ReasoningCompleted) and _asks(e, fact.tool_call_id))
    call_id = reply.event.call_id if reply and isinstance(reply.event, ReasoningCompleted) else ""
    started = _first(events, lambda e: isinstance(e, ReasoningStarted) and e.call_id == call_id)
    body = request_bytes(started.event.request) if started and isinstance(started.event, ReasoningStarted) else b""
    call = asked.event.call if asked and isinstance(asked.event, ToolRequested) else None
    return Origin(
        cited_text=citation.cited_text,
        source=citation.source,
        fact=fact.id,
        passage_id=fact.passage.id,
        found_seq=_seq(found),
        tool=call.name if call else "",
        tool_call_id=fact.tool_call_id,
        arguments=call.arguments if call else "",
        requested_seq=_seq(asked),
        asked_by=call_id,
        reply_seq=_seq(reply),
        request_seq=_seq(started),
        request_bytes=len(body),
        request_sha256=hashlib.sha256(body).hexdigest() if body else "",
    )


def _first(events: Sequence[Recorded[Event]], wanted: Callable[[Event], bool]) -> Recorded[Event] | None:
    return next((said for said in events if wanted(said.event)), None)


def _asks(reply: ReasoningCompleted, tool_call_id: str) -> bool:
    return any(call.id == tool_call_id for call in reply.tool_calls)


def _seq(said: Recorded[Event] | None) -> int:
    return said.seq if said else 0
