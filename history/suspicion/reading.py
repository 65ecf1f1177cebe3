"""Reads a trace for the finders of suspects: its question, searches, findings, briefing and answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from antiphon.language.evidence import (
    TermShares,
    is_light,
    names_in,
    question_shares,
    rarity_among,
    telling_words,
)
from antiphon.language.questions import understood
from antiphon.language.words import sentence_terms, stem, terms
from antiphon.vocabulary.events import (
    AnswerRequested,
    BriefingPrepared,
    ContextSynthesized,
    Event,
    QueryReceived,
    ReasoningCompleted,
    Recorded,
    ResponseAssembled,
    ToolRequested,
    ToolSucceeded,
)
from antiphon.vocabulary.values import Exchange, Fact, Passage, ShownSource, ToolCall

READ_CHARS = 2_000
QUOTED_CHARS = 160
MOST_SENTENCES = 400
"""Most sentences of a trace to look at, because a trace from elsewhere may have any number."""
_WHY = "why"
"""The argument with a model's reason for a tool call, which is not part of its search."""

E = TypeVar("E", bound=Event)


class Finding(NamedTuple):
    """A suspect before it is weighed against the others.

    Attributes:
        kind: The name of its row in the table in ranking.py.
        text: A plain sentence, which may quote text from outside.
        event_seq: The event that explains it.
        share: The strength of the sign, from 0 to 1.
    """

    kind: str
    text: str
    event_seq: int
    share: float = 1.0


class Placed(NamedTuple, Generic[E]):
    """An event of a known kind, with its place in the trace."""

    seq: int
    event: E


class Search(NamedTuple):
    """A tool call and its result."""

    requested: Placed[ToolRequested]
    found: Placed[ToolSucceeded]

    @property
    def sought(self) -> str:
        """The words that the call searched for."""
        return sought_by(self.requested.event.call)

    @property
    def is_of_courses(self) -> bool:
        """True for a search in the courses; a user's own tool returns text instead of passages of a course."""
        passages = self.found.event.passages
        return not passages or any(passage.kind == "passage" for passage in passages)

    @property
    def terms(self) -> frozenset[str]:
        """The terms of its whole result, including labels."""
        held: frozenset[str] = frozenset()
        for passage in self.found.event.passages:
            held |= passage_terms(passage)
        return held


class SentenceFound(NamedTuple):
    """A sentence of a fact."""

    fact: Fact
    text: str

    @property
    def terms(self) -> frozenset[str]:
        return sentence_terms(self.text)


class Reading:
    """A trace, sorted by what its events are about."""

    def __init__(self, events: Sequence[Recorded[Event]]) -> None:
        self.events = events

    def of(self, kind: type[E]) -> list[Placed[E]]:
        """Returns the events of one kind, in order."""
        return [
            Placed(recorded.seq, recorded.event)
            for recorded in self.events
            if isinstance(recorded.event, kind)
        ]

    @cached_property
    def question(self) -> str:
        """The original question; empty if the trace lacks it."""
        for placed in self.of(QueryReceived):
            return placed.event.query
        return ""

    @cached_property
    def history(self) -> tuple[Exchange, ...]:
        """The exchanges before it, oldest first."""
        for placed in self.of(QueryReceived):
            return placed.event.history
        return ()

    @cached_property
    def response(self) -> ResponseAssembled | None:
        for placed in reversed(self.of(ResponseAssembled)):
            return placed.event
        return None

    @cached_property
    def reply(self) -> Placed[ReasoningCompleted] | None:
        """The reply that became the answer; the last one if none did."""
        replies = self.of(ReasoningCompleted)
        # From the end, because a lost answer is requested again.
        for asked in reversed(self.of(AnswerRequested)):
            for reply in replies:
                if reply.event.call_id == asked.event.call_id:
                    return reply
        return replies[-1] if replies else None

    @cached_property
    def briefing(self) -> Placed[BriefingPrepared] | None:
        """The briefing of the answering call; the last briefing if that call is not known."""
        briefings = self.of(BriefingPrepared)
        for briefing in briefings:
            if self.reply and briefing.event.call_id == self.reply.event.call_id:
                return briefing
        return briefings[-1] if briefings else None

    @cached_property
    def facts(self) -> dict[str, Fact]:
        """All facts by id, in order of discovery."""
        found: dict[str, Fact] = {}
        for placed in self.of(ContextSynthesized):
            for fact in placed.event.facts:
                found[fact.id] = fact
        return found

    @cached_property
    def searches(self) -> list[Search]:
        """The tool calls with a result, which may be that nothing was found."""
        requested: dict[str, Placed[ToolRequested]] = {}
        for call in self.of(ToolRequested):
            requested.setdefault(call.event.call.id, call)
        found: list[Search] = []
        for result in self.of(ToolSucceeded):
            asked = requested.get(result.event.tool_call_id)
            if asked is not None:
                found.append(Search(asked, result))
        return found

    @cached_property
    def asked(self) -> TermShares:
        """The terms of the question and of the earlier ones it refers to, weighted by rarity in the findings."""
        rows = [sentence.terms for sentence in self.sentences]
        meant = understood(self.question, self.history)
        rarity = rarity_among(frozenset(terms(meant)), rows)
        if not rarity:
            return question_shares(meant)
        return question_shares(meant, rarity.__getitem__)

    @cached_property
    def telling_terms(self) -> frozenset[str]:
        """The terms of the question without those of its mere phrasing."""
        return frozenset([term for term in self.asked.of_term if not is_light(term)])

    @cached_property
    def named_terms(self) -> frozenset[str]:
        """The terms of the names in the question."""
        return frozenset[str]().union(*names_in(self.question))

    @property
    def is_answered(self) -> bool:
        """True if the answer cites something and does not have low confidence."""
        if self.response is None:
            return False
        return bool(self.response.citations) and self.response.confidence != "low"

    @cached_property
    def sentences(self) -> list[SentenceFound]:
        """The sentences of all facts, up to the limit."""
        found: list[SentenceFound] = []
        for fact in self.facts.values():
            found += sentences_of(fact, range(len(fact.passage.starts)))
        return found[:MOST_SENTENCES]

    @cached_property
    def shown(self) -> list[SentenceFound]:
        """The sentences in the briefing of the answering call."""
        if self.briefing is None:
            return []
        return self._sentences_in(self.briefing.event.sources)

    def found_seq(self, sentence: SentenceFound) -> int:
        """Returns the first event with a sentence in its result; 0 if the trace lacks it."""
        text = sentence.text.strip()
        for search in self.searches:
            for passage in search.found.event.passages:
                if text in passage.text.text:
                    return search.found.seq
        return 0

    def words_for(self, missing: frozenset[str]) -> str:
        """Returns the question's own words for some of its terms, quoted and separated by commas."""
        meant = understood(self.question, self.history)
        words = [word for word in telling_words(meant) if stem(word) in missing]
        return ", ".join([f"“{word}”" for word in words[:4]])

    def _sentences_in(self, sources: Iterable[ShownSource]) -> list[SentenceFound]:
        found: list[SentenceFound] = []
        for source in sources:
            if source.fact_id in self.facts:
                found += sentences_of(self.facts[source.fact_id], source.sentences)
        return found[:MOST_SENTENCES]


def sentences_of(fact: Fact, numbers: Iterable[int]) -> list[SentenceFound]:
    """Returns some sentences of a fact; ignores numbers that it does not have."""
    passage = fact.passage
    # A trace from a file may contain any number.
    return [
        SentenceFound(fact, passage.sentence(number))
        for number in numbers
        if 0 <= number < len(passage.starts)
    ]


def passage_terms(passage: Passage) -> frozenset[str]:
    """Returns the terms of a passage and of its headings."""
    text = f"{passage.source} {passage.title or ''} {passage.text.text}"
    return sentence_terms(text)


def sought_by(call: ToolCall) -> str:
    """Returns the texts among the arguments of a call, except its reason."""
    texts: list[str] = []
    for name, value in arguments_of(call).items():
        if name == _WHY:
            continue
        values = value if isinstance(value, list) else [value]
        texts += [each[:READ_CHARS] for each in values if isinstance(each, str)]
    return " ".join(texts)


def arguments_of(call: ToolCall) -> Mapping[str, object]:
    """Returns the arguments of a call by name; empty if they cannot be read."""
    try:
        arguments = json.loads(call.arguments)
    # A model may write anything, even nested too deep to read.
    except (ValueError, RecursionError):
        return {}
    return arguments if isinstance(arguments, dict) else {}


def quoted(text: str) -> str:
    """Returns text from outside as a quotation within a sentence, on one line and cut."""
    line = " ".join(text[: 2 * READ_CHARS].split())
    if len(line) > QUOTED_CHARS:
        line = line[: QUOTED_CHARS - 1].rstrip() + "…"
    return f"“{line}”"
