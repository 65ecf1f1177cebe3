"""Traces each sentence of an answer back to the bytes of a request, and each passage forward to the sentences."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from antiphon.engine import request_bytes
from antiphon.language.sentences import sentence_starts
from antiphon.synthesizer import place_of
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import (
    AnswerRequested,
    BriefingPrepared,
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


class CallStep(Value, frozen=True, kw_only=True):
    """One reasoning call: its request, the facts from earlier calls in it, and its reply.

    A `seq` of 0 means that the trace does not hold the step.

    Attributes:
        shown: The facts in its request.
        request_sha256: Of the exact bytes of the request.
    """

    call_id: str
    reply_seq: int
    request_seq: int
    request_bytes: int
    request_sha256: str
    shown: tuple[str, ...]


class Origin(Value, frozen=True, kw_only=True):
    """The steps that one citation rests on, backwards; a `seq` of 0 means that the trace does not hold the step.

    Attributes:
        passage_id: The name under which `antiphon traces whatif` leaves the passage out.
        course: The course whose text it is; None for the words of a tool of your own.
        offset: The offset of the cited text in its lesson's text, in characters; None if that is not known.
        arguments: The tool call's, as the model wrote them.
        asked_by: The reasoning call whose reply asked for the tool.
        request_sha256: Of the exact bytes of that call's request.
        earlier: The calls before that one, the nearest first, back to the one that saw only the question: what they
            found was in the request whose reply asked for the tool.
    """

    cited_text: str
    source: str
    fact: str
    passage_id: str
    course: str | None
    lesson: int | None
    offset: int | None
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
    earlier: tuple[CallStep, ...]


class Sentence(Value, frozen=True, kw_only=True):
    """One sentence of the answer, and the origins of all that it cites.

    Attributes:
        written_by: The call whose reply contains the sentence; None if no model wrote the answer.
    """

    text: str
    written_by: CallStep | None
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
        BadInputError: The trace has no answer.
    """
    response = answer_in(events)
    facts = facts_in(events)
    steps = _Steps(events)
    found: list[Sentence] = []
    # Citations are ranges of characters, so a sentence's citations are those that overlap it.
    for start, end in pairwise(
        (*sentence_starts(response.answer), len(response.answer))
    ):
        text = response.answer[start:end].strip()
        if not text:
            continue
        origins = [
            steps.origin(citation, facts[citation.fact])
            for citation in response.citations
            if citation.start < end and citation.end > start and citation.fact in facts
        ]
        found.append(
            Sentence(
                text=text, written_by=steps.writer_of(text), origins=tuple(origins)
            )
        )
    return tuple(found)


def contributions(events: Sequence[Recorded[Event]]) -> tuple[Contribution, ...]:
    """Returns each found passage with the sentences that cite it, in order of discovery."""
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
    """Returns the ids of the passages, as tools returned them, from which a fact or its passage was made.

    Adjacent passages of a lesson become one fact. Returns the name itself if it belongs to no fact or fact's passage.
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
    """Returns True if a passage is the whole, or is within it in the same lesson."""
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


def _bytes_of(request: Request) -> bytes:
    try:
        return request_bytes(request)
    except (msgspec.DecodeError, RecursionError):
        # A file from elsewhere may contain blocks that are not JSON, and so were never sent.
        return b""


class _Steps:
    """The first event of each step that leads from a fact back to a request, with its `seq`."""

    def __init__(self, events: Sequence[Recorded[Event]]) -> None:
        self._found: dict[str, int] = {}
        self._requested: dict[str, tuple[int, ToolCall]] = {}
        self._asked_by: dict[str, str] = {}
        self._replies: dict[str, int] = {}
        self._started: dict[str, tuple[int, Request]] = {}
        self._shown: dict[str, tuple[str, ...]] = {}
        self._texts: dict[str, str] = {}
        self._steps: dict[str, CallStep] = {}
        self._writer: str | None = None
        for recorded in events:
            self._note(recorded.seq, recorded.event)

    def _note(self, seq: int, event: Event) -> None:
        match event:
            case ToolSucceeded():
                self._found.setdefault(event.tool_call_id, seq)
            case ToolRequested():
                self._requested.setdefault(event.call.id, (seq, event.call))
            case ReasoningCompleted():
                self._replies.setdefault(event.call_id, seq)
                self._texts.setdefault(event.call_id, event.text.text)
                for call in event.tool_calls:
                    self._asked_by.setdefault(call.id, event.call_id)
            case ReasoningStarted():
                self._started.setdefault(event.call_id, (seq, event.request))
            case BriefingPrepared():
                self._shown.setdefault(event.call_id, event.facts)
            case AnswerRequested(mode="reply"):
                self._writer = event.call_id

    def writer_of(self, sentence: str) -> CallStep | None:
        """Returns the call whose reply contains a sentence; None if no model wrote it."""
        if not self._writer or sentence not in self._texts.get(self._writer, ""):
            return None
        return self._step(self._writer)

    def origin(self, citation: Citation, fact: Fact) -> Origin:
        """Returns the steps behind one citation of a fact."""
        requested_seq, call = self._requested.get(fact.tool_call_id, (0, None))
        asked_by = self._step(self._asked_by.get(fact.tool_call_id, ""))
        return Origin(
            cited_text=citation.cited_text,
            source=citation.source,
            fact=fact.id,
            passage_id=fact.passage.id,
            course=fact.passage.course,
            lesson=fact.passage.lesson,
            offset=offset_in_lesson(fact.passage, citation.cited_text),
            found_seq=self._found.get(fact.tool_call_id, 0),
            tool="" if call is None else call.name,
            tool_call_id=fact.tool_call_id,
            arguments="" if call is None else call.arguments,
            requested_seq=requested_seq,
            asked_by=asked_by.call_id,
            reply_seq=asked_by.reply_seq,
            request_seq=asked_by.request_seq,
            request_bytes=asked_by.request_bytes,
            request_sha256=asked_by.request_sha256,
            earlier=self._before(asked_by),
        )

    def _step(self, call_id: str) -> CallStep:
        # Cached, because many citations share a call, and its request may be long.
        if call_id not in self._steps:
            self._steps[call_id] = self._new_step(call_id)
        return self._steps[call_id]

    def _new_step(self, call_id: str) -> CallStep:
        request_seq, request = self._started.get(call_id, (0, None))
        body = b"" if request is None else _bytes_of(request)
        sha256 = hashlib.sha256(body).hexdigest() if body else ""
        return CallStep(
            call_id=call_id,
            reply_seq=self._replies.get(call_id, 0),
            request_seq=request_seq,
            request_bytes=len(body),
            request_sha256=sha256,
            shown=self._shown.get(call_id, ()),
        )

    def _before(self, step: CallStep) -> tuple[CallStep, ...]:
        """Returns the calls answered before this one, nearest first."""
        earlier = [
            self._step(call_id)
            for call_id, seq in self._replies.items()
            if seq < step.reply_seq
        ]
        return tuple(reversed(earlier))


def offset_in_lesson(passage: Passage, cited_text: str) -> int | None:
    """Returns the offset of a cited text in its lesson's text, in characters; None if it is not known."""
    if passage.start is None:
        return None
    place = passage.text.text.find(cited_text)
    if place < 0:
        return None
    return passage.start + place
