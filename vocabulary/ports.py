"""Ports: one small protocol for each part of the outside world that components use."""

from __future__ import annotations

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Sequence,
)
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from antiphon.vocabulary.events import Event, Live, Recorded
from antiphon.vocabulary.feedback import Annotations, Feedback
from antiphon.vocabulary.question_sets import QuestionSets
from antiphon.vocabulary.trends import TracePeriod
from antiphon.vocabulary.values import Exchange, Passage, Request, Value

Json = dict[str, Any]
"""A JSON object."""


class Publish(Protocol):
    """Publishes an event into the session's mailbox; its cause is the event being handled."""

    def __call__(self, event: Event, /) -> None: ...


class EmitLive(Protocol):
    """Sends live followers something unrecorded, such as a piece of a reply's text."""

    def __call__(self, live: Live, /) -> None: ...


class Spawn(Protocol):
    """Starts work that the session owns: it counts as running until it ends, and ends with the session.

    `background` work (a timer) does not count: a session with nothing else running is stalled.
    """

    def __call__(
        self, work: Coroutine[Any, Any, None], /, *, background: bool = False
    ) -> Callable[[], object]:
        """Starts it; the result cancels it."""


# Each handler takes the one kind of event that its subscription names, which a type cannot express for a mixed list.
Handler = Callable[[Recorded[Any]], None]
"""Handles one event. It returns at once, and hands anything that takes time to `Spawn`."""


class Subscription(NamedTuple):
    """One component's handler of one kind of event.

    Attributes:
        name: `Class.on_event`: the name under which a failure of the handler is recorded, and by which faults are
            injected.
        repeat: Called instead when a query resumes that was interrupted between this request and its outcome; None: the
            handler itself.
    """

    kind: type[Event]
    handler: Handler
    name: str
    repeat: Handler | None = None

    @property
    def component(self) -> str:
        """The class that the handler belongs to."""
        return self.name.partition(".")[0]


def on(
    kind: type[Event], handler: Handler, repeat: Handler | None = None
) -> Subscription:
    """Subscribes a method or function under its own name."""
    # A partial or an object with `__call__` has no name of its own.
    name = str(getattr(handler, "__qualname__", type(handler).__name__))
    return Subscription(kind, handler, name, repeat)


Stored = Callable[[], Awaitable[None]]


async def at_once() -> None:
    """Returns at once: for sessions that store nothing, or whose owner stores."""


Past = Callable[[], Sequence[Recorded[Event]]]


def no_past() -> Sequence[Recorded[Event]]:
    """Returns the events of a query that has none yet."""
    return ()


@dataclass(frozen=True, slots=True)
class Ports:
    """One query's session as its components see it.

    Attributes:
        followed: Returns True while somebody reads the query live.
        stored: Waits until everything published so far is stored, for a component that acts in the middle of its work.
        past: Returns the events of the query so far, including those about to be stored.
    """

    publish: Publish
    emit_live: EmitLive
    spawn: Spawn
    followed: Callable[[], bool] = lambda: True
    stored: Stored = at_once
    past: Past = no_past


class Clock(Protocol):
    """A clock; tests and replays have their own."""

    def now(self) -> float:
        """Seconds since the epoch, never running backwards."""

    async def sleep(self, seconds: float) -> None: ...


class Model(Protocol):
    """A server that speaks the Messages API."""

    @property
    def name(self) -> str | None:
        """The label of its answers; None: the model that the request names."""

    def stream(self, request: Request, timeout_s: float) -> AsyncIterator[Json]:
        """Sends the request and yields the stream's events as JSON objects.

        Args:
            timeout_s: Seconds that the caller means to wait; the caller enforces that limit.

        Raises:
            ModelError: The call failed, at any point.
        """


class ToolOutput(Value, frozen=True, kw_only=True):
    """The result of a tool: text, and the evidence in it, best first."""

    text: str
    passages: tuple[Passage, ...] = ()


class KnownLesson(Protocol):
    """One lesson of a course's outline."""

    @property
    def number(self) -> int: ...
    @property
    def title(self) -> str: ...


class KnownCourse(Protocol):
    """One course of the catalogue, and its outline."""

    @property
    def title(self) -> str: ...
    @property
    def instructor(self) -> str | None: ...
    @property
    def lessons(self) -> Sequence[KnownLesson]: ...
    @property
    def language(self) -> str | None:
        """The ISO 639-1 code of its language; None if unknown."""


Courses = Callable[[], Sequence[KnownCourse]]
"""Returns all courses of the catalogue by title; the same object until they change."""


class Embedder(Protocol):
    """Turns texts into vectors of unit length."""

    @property
    def name(self) -> str:
        """The model and backend; an index belongs to one of them."""

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Returns one unit-length vector per text. Blocks; call it from a thread."""

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` by the model's own tokenizer, special tokens left out."""

    @property
    def max_tokens(self) -> int:
        """The most tokens of a text that is not truncated, special tokens left out."""


class TraceSummary(Value, frozen=True, kw_only=True):
    """One line of a trace listing.

    Attributes:
        status: A `Status`, or `open` while no `QueryClosed` is stored.
        reasoner: Who answered: a model's name, `offline`, or `none`.
        parent: The trace that this one is a fork of.
        answer: The first words of the answer.
        rounds: Rounds of tool calls that were run.
        input_tokens: All that was read by the calls that the answer took, cached or not, summarising calls included.
        output_tokens: What they wrote.
        cost_usd: What they cost; None if a model's price is unknown.
    """

    query_id: str
    session_id: str
    query: str
    status: str
    started_at: float
    duration_ms: float | None
    events: int
    confidence: str | None = None
    reasoner: str | None = None
    parent: str | None = None
    answer: str | None = None
    rounds: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    feedback: Feedback | None = None


class ConversationSummary(Value, frozen=True, kw_only=True):
    """One line of a list of conversations.

    Attributes:
        title: What somebody named it, or the beginning of its first question.
        exchanges: Questions that were answered since it was cleared.
        started_at: When the first question was asked, in seconds since the epoch.
        last_at: When the last one was.
        last_query_id: The last question's trace.
    """

    session_id: str
    title: str
    exchanges: int
    started_at: float
    last_at: float
    last_query_id: str


class AnsweredQuestion(Value, frozen=True, kw_only=True):
    """A question of a conversation, its answer, and its trace."""

    query_id: str
    question: str
    answer: str


class PlacedQuestion(Value, frozen=True, kw_only=True):
    """A question at its place in a conversation.

    Attributes:
        follows: The query that it was asked after; None at the beginning.
        versions: All that were asked after that one, in the order in which they were asked: itself among them.
    """

    query_id: str
    follows: str | None
    versions: tuple[str, ...]


class TraceFilter(Value, frozen=True, kw_only=True):
    """Conditions on the traces of a listing; None is no condition, and all others must hold.

    Attributes:
        since: Started at or after it, in seconds since the epoch.
        until: Started before it.
        indicator: The kind of a doubt that the answer carries.
        course: A course of which passages were found.
        tool: A tool that was called.
        text: Words of the question or of the answer, all of which must be there.
        parent: The trace that they are forks of.
        feedback: A rating, or `any`, or `none`.
    """

    since: float | None = None
    until: float | None = None
    status: str | None = None
    confidence: str | None = None
    session_id: str | None = None
    indicator: str | None = None
    course: str | None = None
    tool: str | None = None
    text: str | None = None
    parent: str | None = None
    feedback: str | None = None


class EventLog(Protocol):
    """Append-only logs of events, one per query."""

    async def append(
        self, query_id: str, expected_seq: int, events: Sequence[Recorded[Event]]
    ) -> None:
        """Stores events whose first `seq` is `expected_seq + 1`, all or none.

        Raises:
            SequenceError: The log's last `seq` is not `expected_seq`.
            TraceError: The store cannot be written.
        """

    async def read(self, query_id: str, after: int = 0) -> Sequence[Recorded[Event]]:
        """Returns the events with `seq` > `after`, in order.

        Raises:
            NotFoundError: No such trace.
            DecodeError: An event is of an unknown kind, version or shape.
        """


class Conversations(Protocol):
    """Earlier exchanges of the conversation that a question belongs to."""

    async def exchanges(
        self, session_id: str, limit: int, follows: str | None = None
    ) -> Sequence[Exchange]:
        """Returns the conversation's last answered exchanges since it was cleared, oldest first.

        Args:
            follows: Only those on the way to this query, and itself; "" for none; None: the last one that was asked.

        Raises:
            NotFoundError: No such conversation, or no such query in it.
        """

    async def open_conversation(self, session_id: str) -> None:
        """Registers the conversation."""

    async def clear_conversation(self, session_id: str) -> None:
        """Forgets the exchanges so far (their traces stay).

        Raises:
            NotFoundError: No such conversation.
        """


class TraceListing(Protocol):
    """The stored traces."""

    async def list(
        self,
        limit: int = 50,
        before: float | None = None,
        *,
        after_id: str | None = None,
        where: TraceFilter | None = None,
        among: Sequence[str] | None = None,
    ) -> Sequence[TraceSummary]:
        """Returns one line per trace, newest first.

        Args:
            before: Only those started before it, in seconds since the epoch.
            after_id: Only those that come after this trace in the list: the last of one page leads to the next.
            among: Only these traces.
        """

    async def ids(self, beginning: str, limit: int) -> Sequence[str]:
        """Returns the ids of traces with this beginning, in order; `beginning` itself comes first if it is one."""


class TraceTrends(Protocol):
    """Sums of the stored traces over time."""

    async def trends(
        self, where: TraceFilter, utc_offset_s: int = 0
    ) -> Sequence[TracePeriod]:
        """Returns sums of the traces over time, in at most 60 periods without a gap, the oldest first.

        Args:
            utc_offset_s: How far the caller's clock is ahead of UTC: days begin at the caller's midnight.
        """


class ConversationListing(Protocol):
    """The stored conversations."""

    async def conversations(
        self,
        limit: int,
        after_id: str | None = None,
        text: str | None = None,
        session_id: str | None = None,
    ) -> Sequence[ConversationSummary]:
        """Returns one line per conversation in which something was asked since it was cleared, the last asked first.

        Args:
            after_id: Only those that come after the one whose last question has this trace.
            text: Words of one of its questions, or of its title, all of which must be there; a word may be unfinished.
            session_id: Only this one.
        """

    async def path(
        self, session_id: str, through: str | None = None
    ) -> Sequence[PlacedQuestion]:
        """Returns the questions of a conversation that follow one another, oldest first; each may have other versions.

        Args:
            through: A query that the path leads through, on to the last one asked after it; None: to the last of all.

        Raises:
            NotFoundError: No such conversation, or no such query in it.
        """

    async def answered(
        self, session_id: str, query_ids: Sequence[str]
    ) -> Sequence[AnsweredQuestion]:
        """Returns the traces among these that were answered since the conversation was cleared, oldest first.

        Raises:
            NotFoundError: No such conversation.
        """


class TraceArchive(Protocol):
    """Traces as they were written, and traces that were recorded elsewhere."""

    async def forms(self, query_id: str) -> Sequence[Json]:
        """Returns each event with the fields that it had when it was written."""

    async def lines(self, query_id: str) -> Sequence[bytes]:
        """Returns each event as a line of JSON, exactly as stored, even if this program cannot read it.

        Raises:
            NotFoundError: No such trace.
        """

    async def add(self, events: Sequence[Recorded[Event]]) -> None:
        """Stores a complete trace that was recorded elsewhere, all or nothing; no process resumes it by itself.

        Raises:
            SequenceError: There is a trace of that id.
            TraceError: The store cannot be written.
        """

    async def is_imported(self, query_id: str) -> bool:
        """Returns True for a trace that was recorded elsewhere and has not been continued here.

        Raises:
            NotFoundError: No such trace.
        """


class Ownership(Protocol):
    """Ownership of open queries: at most one process works on each."""

    async def unfinished(self) -> Sequence[str]:
        """Returns the open queries that no living process works on, oldest first."""

    async def take_over(self, query_id: str) -> Sequence[Recorded[Event]]:
        """Makes this process the owner of an open query, and returns what its trace then holds.

        Raises:
            NotFoundError: No such trace.
            TraceStateError: It is over, or another process works on it.
        """


class Retention(Protocol):
    """Deletion of traces."""

    async def delete(self, query_ids: Sequence[str]) -> int:
        """Deletes traces, and the texts that no other trace uses; returns the number of traces."""

    async def delete_conversation(self, session_id: str) -> int:
        """Deletes a conversation and its traces; returns the number of traces.

        Raises:
            NotFoundError: No such conversation.
        """

    async def prune(
        self, *, older_than: float | None = None, most_bytes: int | None = None
    ) -> int:
        """Deletes the oldest finished traces: those started before a time, and more until the store is small enough."""


class QueryStore(EventLog, Conversations, Protocol):
    """The store as one query uses it, so that faults can be injected for that query alone."""


class TraceStore(
    QueryStore,
    TraceListing,
    TraceTrends,
    ConversationListing,
    TraceArchive,
    Ownership,
    Retention,
    Protocol,
):
    """Everything that the service needs from its store; each component depends only on the part that it uses."""

    @property
    def annotations(self) -> Annotations:
        """What people say of its answers and conversations."""

    @property
    def question_sets(self) -> QuestionSets:
        """Saved sets of questions."""

    async def close(self) -> None: ...


class WholeTraceStore(TraceStore, Protocol):
    """A store that sees everybody's traces. A label says whose a trace is."""

    def seen_by(self, label: str) -> TraceStore:
        """Returns the store as a label's owner sees it: it holds only what has the label, and labels what it writes."""

    async def label_of(self, query_id: str) -> str | None:
        """Returns the label of a trace; None if there is no such trace."""
