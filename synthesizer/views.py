"""Views of a query's memory and its briefings at any event of its trace, as plain values for pages and programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from antiphon.synthesizer import intent, reasoning
from antiphon.synthesizer.facts import living
from antiphon.synthesizer.intent import Intent, RoundCounts
from antiphon.synthesizer.memory import Memory, remember, settle
from antiphon.synthesizer.usage import ToolAttempt, coverage
from antiphon.vocabulary.events import (
    BriefingPrepared,
    ContextSynthesized,
    Event,
    QueryReceived,
    Recorded,
    ToolsSettled,
)
from antiphon.vocabulary.values import (
    Change,
    Dropped,
    Exchange,
    Fact,
    ShownSource,
    Value,
)


class FactView(Value, frozen=True, kw_only=True):
    """A fact: its source, the call that found it, and the parts of the question (from 1) that it serves."""

    id: str
    source: str
    kind: str
    round: int
    tool_call_id: str
    score: float
    sentences: tuple[str, ...]
    serves: tuple[int, ...]
    merged: tuple[str, ...] = ()
    like: str | None = None


class PartView(Value, frozen=True, kw_only=True):
    """A part of the question, the facts that serve it and the calls that brought them."""

    number: int
    kind: str
    text: str
    open: bool
    facts: tuple[str, ...]
    calls: tuple[str, ...]


class CoverageView(Value, frozen=True, kw_only=True):
    """The facts that the search has reached in a lesson; lesson None is the course as a whole."""

    course: str
    lesson: int | None
    facts: tuple[str, ...]


class RoundView(Value, frozen=True, kw_only=True):
    """The state after a round: the number of facts that serve each part, and the parts that are open."""

    round: int
    served: tuple[int, ...]
    open: tuple[str, ...]


class MemoryView(Value, frozen=True, kw_only=True):
    """The four layers after the event `at`.

    Attributes:
        meant: The question with what it refers to in the conversation.
        beyond: Terms (stems) that calls looked for and the question does not contain, in order.
        said: The model's words before its tool calls, one line per round.
        summary: A summarising call's words on older rounds; empty if there are none.
    """

    at: int
    question: str
    meant: str
    parts: tuple[PartView, ...]
    open: tuple[str, ...]
    history: tuple[RoundView, ...]
    beyond: tuple[str, ...]
    facts: tuple[FactView, ...]
    attempts: tuple[ToolAttempt, ...]
    coverage: tuple[CoverageView, ...]
    said: tuple[str, ...]
    summary: str = ""

    def facts_for_part(self, number: int) -> tuple[FactView, ...]:
        """Returns the facts that serve part `number`, from 1."""
        return tuple([fact for fact in self.facts if number in fact.serves])

    def attempts_of(self, tool: str) -> tuple[ToolAttempt, ...]:
        """Returns what was tried with one tool."""
        return tuple([attempt for attempt in self.attempts if attempt.tool == tool])


class ShownText(Value, frozen=True, kw_only=True):
    """A fact as a briefing shows it: the sentences that stayed, each with its number."""

    fact: str
    source: str
    sentences: tuple[tuple[int, str], ...]


class BriefingView(Value, frozen=True, kw_only=True):
    """One briefing.

    Attributes:
        seq: Its event.
        conversation: The earlier exchanges that it shows with the question, oldest first.
        shown: What its sources say, in their order.
        came: Estimated tokens that it adds to the previous briefing.
        went: Estimated tokens of the previous briefing that it leaves out.
        summary: The summarising call whose text is in its notes; empty if there is none.
    """

    seq: int
    call_id: str
    round: int
    tokens: int
    came: int
    went: int
    sources: tuple[ShownSource, ...]
    changes: tuple[Change, ...]
    dropped: tuple[Dropped, ...]
    summary: str = ""
    conversation: tuple[Exchange, ...] = ()
    shown: tuple[ShownText, ...] = ()


def memory_at(events: Iterable[Recorded[Event]], at: int | None = None) -> MemoryView:
    """Folds a trace, complete or still being written, up to the event `at` (None: all of it)."""
    memory = Memory()
    last = 0
    for recorded in events:
        if at is not None and recorded.seq > at:
            break
        # Only `settle` closes a round; the trace holds the event that it returns already.
        if isinstance(recorded.event, ToolsSettled):
            memory, _ = settle(memory, recorded.event)
        else:
            memory = remember(memory, recorded.event)
        last = recorded.seq
    return _memory_view(memory, last)


def briefings_of(events: Iterable[Recorded[Event]]) -> tuple[BriefingView, ...]:
    """Returns every briefing of a trace, in order, with its changes since the one before and their reasons."""
    views: list[BriefingView] = []
    facts: dict[str, Fact] = {}
    conversation: tuple[Exchange, ...] = ()
    for recorded in events:
        match recorded.event:
            case QueryReceived(history=history):
                conversation = history
            case ContextSynthesized(facts=found):
                facts.update({fact.id: fact for fact in found})
            case BriefingPrepared() as briefing:
                view = _briefing_view(recorded.seq, briefing)
                shown = _shown_texts(briefing.sources, facts)
                views.append(replace(view, conversation=conversation, shown=shown))
    return tuple(views)


def _shown_texts(
    sources: Iterable[ShownSource], facts: Mapping[str, Fact]
) -> tuple[ShownText, ...]:
    shown: list[ShownText] = []
    for source in sources:
        fact = facts.get(source.fact_id)
        if fact is None:
            continue
        sentences: list[tuple[int, str]] = []
        for number in source.sentences:
            if not 0 <= number < len(fact.passage.starts):
                continue  # a trace from a file may claim anything
            sentences.append((number, fact.passage.sentence(number)))
        shown.append(
            ShownText(
                fact=fact.id, source=fact.passage.source, sentences=tuple(sentences)
            )
        )
    return tuple(shown)


def _memory_view(memory: Memory, at: int) -> MemoryView:
    wanted = memory.intent
    found = living(memory.facts.known)
    beyond: dict[str, None] = {}
    for sought in wanted.sought:
        beyond.update(dict.fromkeys(sorted(sought.terms - wanted.asked)))
    reached = [
        CoverageView(course=course, lesson=lesson, facts=fact_ids)
        for (course, lesson), fact_ids in coverage(found).items()
    ]
    # Calls of the current round come last, because they were requested last.
    attempts = [settled.attempt for settled in memory.usage.settled]
    attempts += memory.usage.open
    summary = memory.reasoning.summary
    summary_text = "" if summary is None else summary.text
    return MemoryView(
        at=at,
        question=wanted.question,
        meant=wanted.meant,
        parts=_part_views(wanted),
        open=intent.open_parts(wanted),
        history=tuple([_round_view(wanted, counts) for counts in wanted.history]),
        beyond=tuple(beyond),
        facts=tuple([_fact_view(wanted, fact) for fact in found]),
        attempts=tuple(attempts),
        coverage=tuple(reached),
        said=tuple([line.text for line in reasoning.lines(memory.reasoning)]),
        summary=summary_text,
    )


def _part_views(wanted: Intent) -> tuple[PartView, ...]:
    views: list[PartView] = []
    for at, (part, fact_ids) in enumerate(
        zip(wanted.parts, wanted.served, strict=True)
    ):
        calls = [each.tool_call_id for each in wanted.sought if at in each.serves]
        view = PartView(
            number=at + 1,
            kind=part.kind,
            text=part.text,
            open=not fact_ids,
            facts=fact_ids,
            calls=tuple(calls),
        )
        views.append(view)
    return tuple(views)


def _round_view(wanted: Intent, counts: RoundCounts) -> RoundView:
    pairs = zip(wanted.parts, counts.served, strict=True)
    unserved = [part.text for part, count in pairs if not count]
    return RoundView(round=counts.round, served=counts.served, open=tuple(unserved))


def _fact_view(wanted: Intent, fact: Fact) -> FactView:
    passage = fact.passage
    sentences = tuple(map(passage.sentence, range(len(passage.starts))))
    serves = [at for at, ids in enumerate(wanted.served, start=1) if fact.id in ids]
    return FactView(
        id=fact.id,
        source=passage.source,
        kind=passage.kind,
        round=fact.round,
        tool_call_id=fact.tool_call_id,
        score=passage.score,
        sentences=sentences,
        serves=tuple(serves),
        merged=fact.merged,
        like=fact.like,
    )


def _briefing_view(seq: int, event: BriefingPrepared) -> BriefingView:
    came = 0
    went = 0
    for change in event.changes:
        if change.change in ("came", "returned"):
            came += change.tokens
        else:
            went += change.tokens
    return BriefingView(
        seq=seq,
        call_id=event.call_id,
        round=event.round,
        tokens=event.tokens,
        came=came,
        went=went,
        sources=event.sources,
        changes=event.changes,
        dropped=event.dropped,
        summary=event.summary,
    )
