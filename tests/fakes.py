"""Small doubles of the outside world, for tests; each passes the same contract test as the real adapter."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from antiphon.vocabulary.errors import NotFoundError, SequenceError, TraceError
from antiphon.vocabulary.events import (
    Event,
    QueryClosed,
    QueryReceived,
    Recorded,
    ResponseAssembled,
)
from antiphon.vocabulary.feedback import Feedback
from antiphon.vocabulary.performing import Command
from antiphon.vocabulary.ports import (
    AnsweredQuestion,
    ConversationSummary,
    PlacedQuestion,
    TraceFilter,
    TraceSummary,
)
from antiphon.vocabulary.question_sets import QuestionSet
from antiphon.vocabulary.values import Exchange


def command(
    request: Recorded[Any], *past: Recorded[Event], again: bool = False
) -> Command:
    """A request to perform after these events."""
    return Command(request, (*past, request), again)


class FixedClock:
    """A clock whose time moves only when a test advances it; sleepers wake when they are due."""

    def __init__(self, at: float = 1_700_000_000.0) -> None:
        self._now = at
        self._sleepers: list[tuple[float, asyncio.Event]] = []
        self._asleep = asyncio.Event()

    def now(self) -> float:
        return self._now

    async def slept_on(self) -> None:
        """Waits until a task sleeps on this clock, and so has done everything it does before."""
        await self._asleep.wait()

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.Event()
        self._sleepers.append((self._now + seconds, woken))
        self._asleep.set()
        await woken.wait()

    def advance(self, seconds: float) -> None:
        """Moves time on and wakes the sleepers that are due."""
        self._now += seconds
        for due, woken in self._sleepers:
            if due <= self._now:
                woken.set()
        self._sleepers = [
            sleeper for sleeper in self._sleepers if sleeper[0] > self._now
        ]
        if not self._sleepers:
            self._asleep.clear()


class HastyClock:
    """A clock on which every sleep returns at once, but moves the time on."""

    def __init__(self, at: float = 1_700_000_000.0) -> None:
        self._now = at
        self.slept: list[float] = []

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._now += seconds


class SkippingClock:
    """A clock on which a wait returns at once while another waits longer; the longest one takes real time.

    So the pauses between attempts cost nothing, and the limit over all of them still works.
    """

    def __init__(self, at: float = 1_700_000_000.0) -> None:
        self._now = at
        self._due: list[float] = []
        self.slept: list[float] = []
        """The waits that returned at once, in seconds."""

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        due = self._now + seconds
        if any(other > due for other in self._due):
            self.slept.append(seconds)
            self._now = due
            return
        self._due.append(due)
        try:
            await asyncio.sleep(seconds)
        finally:
            self._due.remove(due)


@dataclass
class _Line:
    """One query's line in the listing."""

    summary: TraceSummary
    answer: str | None = None


@dataclass
class _Conversation:
    queries: list[str] = field(default_factory=list)


class MemoryAnnotations:
    """Feedback and titles by id; satisfies `Annotations`."""

    def __init__(self) -> None:
        self._feedback: dict[str, Feedback | None] = {}
        self.titles: dict[str, str] = {}

    async def feedback(self, query_id: str) -> Feedback | None:
        return self._feedback.get(query_id)

    async def set_feedback(
        self, query_id: str, feedback: Feedback | None
    ) -> Feedback | None:
        self._feedback[query_id] = feedback
        return feedback

    async def set_title(self, session_id: str, title: str) -> str:
        self.titles[session_id] = title
        return title


class MemoryQuestionSets:
    """Satisfies `QuestionSets`."""

    def __init__(self) -> None:
        self._sets: dict[str, QuestionSet] = {}

    async def all(self) -> Sequence[QuestionSet]:
        return sorted(self._sets.values(), key=lambda each: (-each.at, each.set_id))

    async def put(self, saved: QuestionSet) -> QuestionSet:
        self._sets[saved.set_id] = saved
        return saved

    async def delete(self, set_id: str) -> None:
        self._sets.pop(set_id, None)


class MemoryTraceStore:
    """A `TraceStore` in memory.

    Args:
        refusals: The errors of the next appends, one each; None lets an append through.
    """

    def __init__(self, refusals: Iterable[TraceError | None] = ()) -> None:
        self.refusals = list(refusals)
        self.appends: list[list[int]] = []
        self._traces: dict[str, list[Recorded[Event]]] = {}
        self._lines: dict[str, _Line] = {}
        self._conversations: dict[str, _Conversation] = {}
        self.annotations = MemoryAnnotations()
        self.question_sets = MemoryQuestionSets()

    def events(self, query_id: str) -> list[Event]:
        """The stored events, without their places."""
        return [recorded.event for recorded in self._traces.get(query_id, [])]

    async def append(
        self, query_id: str, expected_seq: int, events: Sequence[Recorded[Event]]
    ) -> None:
        refusal = self.refusals.pop(0) if self.refusals else None
        if refusal:
            raise refusal
        found_seq = len(self._traces.get(query_id, []))
        if found_seq != expected_seq:
            raise SequenceError(query_id, expected_seq, found_seq)
        self._traces.setdefault(query_id, []).extend(events)
        self.appends.append([recorded.seq for recorded in events])
        for recorded in events:
            self._note(query_id, recorded)

    async def read(self, query_id: str, after: int = 0) -> list[Recorded[Event]]:
        if query_id not in self._traces:
            raise NotFoundError(f"there is no trace {query_id}")
        return [recorded for recorded in self._traces[query_id] if recorded.seq > after]

    async def list(
        self,
        limit: int = 50,
        before: float | None = None,
        *,
        after_id: str | None = None,
        where: TraceFilter | None = None,
        among: Sequence[str] | None = None,
    ) -> Sequence[TraceSummary]:
        """Filters by status and conversation only."""
        summaries = [
            msgspec.structs.replace(line.summary, events=len(self._traces[query_id]))
            for query_id, line in reversed(self._lines.items())
        ]
        newest_first = sorted(
            summaries, key=lambda summary: summary.started_at, reverse=True
        )
        if after_id is not None:
            ids = [summary.query_id for summary in newest_first]
            newest_first = newest_first[ids.index(after_id) + 1 :]
        wanted = where or TraceFilter()
        return [
            summary
            for summary in newest_first
            if (before is None or summary.started_at < before)
            and wanted.status in (None, summary.status)
            and wanted.session_id in (None, summary.session_id)
            and (among is None or summary.query_id in among)
        ][:limit]

    async def ids(self, beginning: str, limit: int) -> Sequence[str]:
        return sorted(
            query_id for query_id in self._lines if query_id.startswith(beginning)
        )[:limit]

    async def exchanges(
        self, session_id: str, limit: int, follows: str | None = None
    ) -> Sequence[Exchange]:
        assert follows is None  # only real stores know the path to a version
        lines = [
            self._lines[query_id] for query_id in self._conversation(session_id).queries
        ]
        answered = [
            Exchange(question=line.summary.query, answer=line.answer)
            for line in lines
            if line.answer is not None
            and line.summary.status in ("answered", "partial")
        ]
        return answered[-limit:]

    async def open_conversation(self, session_id: str) -> None:
        self._conversations.setdefault(session_id, _Conversation())

    async def clear_conversation(self, session_id: str) -> None:
        self._conversation(session_id).queries.clear()

    async def conversations(
        self, limit: int, *, session_id: str
    ) -> Sequence[ConversationSummary]:
        """Lists no conversations, so that callers look in the store itself."""
        return []

    async def path(
        self, session_id: str, through: str | None = None
    ) -> Sequence[PlacedQuestion]:
        """Returns the questions in order; only real stores know versions."""
        path: list[PlacedQuestion] = []
        before: str | None = None
        for query_id in self._conversation(session_id).queries:
            path.append(
                PlacedQuestion(query_id=query_id, follows=before, versions=(query_id,))
            )
            before = query_id
        return path

    async def answered(
        self, session_id: str, query_ids: Sequence[str]
    ) -> Sequence[AnsweredQuestion]:
        lines = [
            self._lines[query_id] for query_id in self._conversation(session_id).queries
        ]
        return [
            AnsweredQuestion(
                query_id=line.summary.query_id,
                question=line.summary.query,
                answer=line.answer,
            )
            for line in lines
            if line.answer is not None
            and line.summary.status in ("answered", "partial")
            and line.summary.query_id in query_ids
        ]

    async def close(self) -> None:
        """Does nothing: there is nothing to close."""

    def _conversation(self, session_id: str) -> _Conversation:
        if session_id not in self._conversations:
            raise NotFoundError(f"there is no conversation {session_id!r}")
        return self._conversations[session_id]

    def _note(self, query_id: str, recorded: Recorded[Event]) -> None:
        match recorded.event:
            case QueryReceived(query=query, session_id=session_id, parent=parent):
                summary = TraceSummary(
                    query_id=query_id,
                    session_id=session_id,
                    query=query,
                    status="open",
                    started_at=recorded.at,
                    duration_ms=None,
                    events=0,
                    parent=parent,
                )
                self._lines[query_id] = _Line(summary)
                conversation = self._conversations.setdefault(
                    session_id, _Conversation()
                )
                if parent is None:  # a fork is not part of the conversation
                    conversation.queries.append(query_id)
            case ResponseAssembled(
                answer=answer, confidence=confidence, reasoner=reasoner
            ):
                self._lines[query_id].answer = answer
                self._amend(query_id, confidence=confidence, reasoner=reasoner)
            case QueryClosed(status=status) if query_id in self._lines:
                duration_ms = (
                    recorded.at - self._lines[query_id].summary.started_at
                ) * 1000
                self._amend(query_id, status=status, duration_ms=duration_ms)

    def _amend(self, query_id: str, **changes: object) -> None:
        line = self._lines[query_id]
        line.summary = msgspec.structs.replace(line.summary, **changes)
