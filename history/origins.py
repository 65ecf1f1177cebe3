"""Traces each sentence of an answer back to the bytes of a request, and each passage forward to the sentences."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise

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
from antiphon.vocabulary.values import Citation, Fact, Passage, Request, ToolCall, Value


class Origin(Value, frozen=True, kw_only=True):
    """The steps that one citation rests on, backwards; a `seq` of 0 means that the trace does not hold the step.

    Attributes:
        passage_id: The name under which `antiphon traces whatif` leaves the passage out.
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
    """One sentence of the answer, and the origins of all that it cites."""

    text: str
    origins: tuple[Origin, ...]


class Contribution(Value, frozen=True, kw_only=True):
    """The fact that a passage became, and the sentences of the answer that cite it."""

    passage_id: str
    source: str
    fact: str
    sentences: tuple[str, ...]


def lineage(events: Sequence[Recorded[Event]]) -> tuple[Sentence, ...]:
    """Returns every sentence of the answer with its origins.

    Raises:
        BadInputError: The trace holds no answer.
    """
    response = answer_in(events)
    facts = facts_in(events)
    steps = _Steps(events)
    found: list[Sentence] = []
    # Citations stand in the answer by their characters, so that a sentence's are those that overlap it.
    for start, end in pairwise(
        (*sentence_starts(response.answer), len(response.answer))
    ):
        text = response.answer[start:end].strip()
        if not text:
            continue
        origins: list[Origin] = []
        for citation in response.citations:
            if citation.start < end and citation.end > start and citation.fact in facts:
                origins.append(steps.origin(citation, facts[citation.fact]))
        found.append(Sentence(text=text, origins=tuple(origins)))
    return tuple(found)


def contributions(events: Sequence[Recorded[Event]]) -> tuple[Contribution, ...]:
    """Returns each passage that was found with the sentences that cite it, in order of discovery."""
    citing: dict[str, list[str]] = {}
    for sentence in lineage(events):
        # A sentence may cite a fact more than once.
        for fact_id in {origin.fact for origin in sentence.origins}:
            citing.setdefault(fact_id, []).append(sentence.text)
    found: list[Contribution] = []
    for fact in facts_in(events).values():
        sentences = tuple(citing.get(fact.id, ()))
        passage = fact.passage
        found.append(
            Contribution(
                passage_id=passage.id,
                source=passage.source,
                fact=fact.id,
                sentences=sentences,
            )
        )
    return tuple(found)


def answer_in(events: Sequence[Recorded[Event]]) -> ResponseAssembled:
    """Returns the trace's answer.

    Raises:
        BadInputError: There is none.
    """
    for recorded in reversed(events):
        if isinstance(recorded.event, ResponseAssembled):
            return recorded.event
    raise BadInputError("This trace holds no answer: there is nothing to trace back.")


def facts_in(events: Sequence[Recorded[Event]]) -> dict[str, Fact]:
    """Returns all facts by id, in order of discovery."""
    facts: dict[str, Fact] = {}
    for recorded in events:
        if isinstance(recorded.event, ContextSynthesized):
            for fact in recorded.event.facts:
                facts[fact.id] = fact
    return facts


def found_passages(events: Sequence[Recorded[Event]], name: str) -> list[str]:
    """Returns the ids of the passages, as tools found them, that a fact or its passage is made of.

    Passages of a lesson that touch become one fact. A name of no fact and of no fact's passage comes back as it is.
    """
    fact = _fact_called(facts_in(events), name)
    if fact is None:
        return [name]
    ids: list[str] = []
    for recorded in events:
        if not isinstance(recorded.event, ToolSucceeded):
            continue
        for passage in recorded.event.passages:
            if passage.id not in ids and _is_part_of(passage, fact.passage):
                ids.append(passage.id)
    return ids or [name]


def _fact_called(facts: dict[str, Fact], name: str) -> Fact | None:
    """Returns the fact with this id, or else the one whose passage has it."""
    if name in facts:
        return facts[name]
    for fact in facts.values():
        if fact.passage.id == name:
            return fact
    return None


def _is_part_of(passage: Passage, whole: Passage) -> bool:
    """Returns True if a passage is the whole, or lies within it in the same lesson."""
    if passage.id == whole.id:
        return True
    # A passage without a place in its lesson is never joined with another.
    if (
        passage.start is None
        or whole.start is None
        or place_of(passage) != place_of(whole)
    ):
        return False
    return whole.start <= passage.start < whole.start + len(whole.text.text)


class _Steps:
    """The first event of each step that leads from a fact back to a request, with its `seq`."""

    def __init__(self, events: Sequence[Recorded[Event]]) -> None:
        self._found: dict[str, int] = {}
        self._requested: dict[str, tuple[int, ToolCall]] = {}
        self._replies: dict[str, tuple[int, str]] = {}
        self._started: dict[str, tuple[int, Request]] = {}
        for recorded in events:
            self._note(recorded.seq, recorded.event)

    def _note(self, seq: int, event: Event) -> None:
        match event:
            case ToolSucceeded():
                self._found.setdefault(event.tool_call_id, seq)
            case ToolRequested():
                self._requested.setdefault(event.call.id, (seq, event.call))
            case ReasoningCompleted():
                for call in event.tool_calls:
                    self._replies.setdefault(call.id, (seq, event.call_id))
            case ReasoningStarted():
                self._started.setdefault(event.call_id, (seq, event.request))

    def origin(self, citation: Citation, fact: Fact) -> Origin:
        """Returns the steps behind one citation of a fact."""
        requested_seq, call = self._requested.get(fact.tool_call_id, (0, None))
        reply_seq, asked_by = self._replies.get(fact.tool_call_id, (0, ""))
        request_seq, request = self._started.get(asked_by, (0, None))
        body = b"" if request is None else request_bytes(request)
        return Origin(
            cited_text=citation.cited_text,
            source=citation.source,
            fact=fact.id,
            passage_id=fact.passage.id,
            found_seq=self._found.get(fact.tool_call_id, 0),
            tool="" if call is None else call.name,
            tool_call_id=fact.tool_call_id,
            arguments="" if call is None else call.arguments,
            requested_seq=requested_seq,
            asked_by=asked_by,
            reply_seq=reply_seq,
            request_seq=request_seq,
            request_bytes=len(body),
            request_sha256=hashlib.sha256(body).hexdigest() if body else "",
        )
