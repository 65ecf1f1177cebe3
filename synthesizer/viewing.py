"""What a query's memory held at any place of its trace, as plain values to be shown and asked."""

from __future__ import annotations

from collections.abc import Iterable

from antiphon.synthesizer import intent, reasoning
from antiphon.synthesizer.facts import living
from antiphon.synthesizer.memory import Memory, remember, settle
from antiphon.synthesizer.usage import Tried, coverage
from antiphon.vocabulary.events import Event, Recorded, ToolsSettled
from antiphon.vocabulary.values import Value


class FactView(Value, frozen=True, kw_only=True):
    """A fact: where it stands, who found it, and which parts of the question (from 1) it serves."""

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
    """How far the search has reached into a lesson; lesson None is the course as a whole."""

    course: str
    lesson: int | None
    facts: tuple[str, ...]


class StoodView(Value, frozen=True, kw_only=True):
    """After a round: how many facts served each part, and which parts were open."""

    round: int
    served: tuple[int, ...]
    open: tuple[str, ...]


class MemoryView(Value, frozen=True, kw_only=True):
    """The four layers after the event `at`.

    Attributes:
        meant: The question with what it refers to in the conversation.
        beyond: Terms (stems) that calls looked for and the question does not hold, in order.
        said: What the model said around its tool calls, a line a round.
        summary: What a summarising call made of older rounds; empty where there is none.
    """

    at: int
    question: str
    meant: str
    parts: tuple[PartView, ...]
    open: tuple[str, ...]
    history: tuple[StoodView, ...]
    beyond: tuple[str, ...]
    facts: tuple[FactView, ...]
    attempts: tuple[Tried, ...]
    coverage: tuple[CoverageView, ...]
    said: tuple[str, ...]
    summary: str = ""

    def facts_for_part(self, number: int) -> tuple[FactView, ...]:
        """The facts that serve part `number`, from 1."""
        return tuple(fact for fact in self.facts if number in fact.serves)

    def attempts_of(self, tool: str) -> tuple[Tried, ...]:
        """What was tried with one tool."""
        return tuple(tried for tried in self.attempts if tried.tool == tool)


def memory_at(events: Iterable[Recorded[Event]], at: int | None = None) -> MemoryView:
    """The memory after the event `at` (None: after all), folded anew from a trace, recorded or still being written."""
    memory, last = Memory(), 0
    for said in events:
        if at is not None and said.seq > at:
            break
        memory, last = _after(memory, said.event), said.seq
    return view(memory, last)


def _after(memory: Memory, event: Event) -> Memory:
    return settle(memory, event)[0] if isinstance(event, ToolsSettled) else remember(memory, event)


def view(memory: Memory, at: int) -> MemoryView:
    """The memory as it is, to be shown."""
    found = living(memory.facts.known)
    return MemoryView(
        at=at,
        question=memory.intent.question,
        meant=memory.intent.meant,
        parts=tuple(_part(memory, number) for number in range(len(memory.intent.parts))),
        open=intent.open_parts(memory.intent),
        history=tuple(_stood(memory, stood) for stood in memory.intent.history),
        beyond=tuple(dict.fromkeys(term for sought in memory.intent.sought for term in sorted(sought.beyond))),
        facts=tuple(_fact(memory, number) for number, f in enumerate(memory.facts.known) if f in found),
        attempts=(*memory.usage.settled, *memory.usage.open),
        coverage=tuple(
            CoverageView(course=course, lesson=lesson, facts=ids) for (course, lesson), ids in coverage(found).items()
        ),
        said=tuple(line for _, line in reasoning.lines(memory.reasoning)),
        summary=memory.summaries.newest.text if memory.summaries.newest else "",
    )


def _part(memory: Memory, number: int) -> PartView:
    part, ids = memory.intent.parts[number], memory.intent.served[number]
    return PartView(
        number=number + 1,
        kind=part.kind,
        text=part.text,
        open=not ids,
        facts=ids,
        calls=tuple(sought.tool_call_id for sought in memory.intent.sought if number in sought.serves),
    )


def _stood(memory: Memory, stood: intent.Stood) -> StoodView:
    waiting = zip(memory.intent.parts, stood.served, strict=True)
    return StoodView(round=stood.round, served=stood.served, open=tuple(p.text for p, count in waiting if not count))


def _fact(memory: Memory, number: int) -> FactView:
    fact = memory.facts.known[number]
    passage = fact.passage
    return FactView(
        id=fact.id,
        source=passage.source,
        kind=passage.kind,
        round=fact.round,
        tool_call_id=fact.tool_call_id,
        score=passage.score,
        sentences=tuple(passage.sentence(at) for at in range(len(passage.starts))),
        serves=tuple(at for at, ids in enumerate(memory.intent.served, start=1) if fact.id in ids),
        merged=fact.merged,
        like=fact.like,
    )
