"""Ports to the queue of queries, and to the signals that processes send each other about queries under way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from antiphon.vocabulary.values import Value

NOT_RECORDED = "nothing is answered that cannot be recorded"
"""Part of every sentence that explains why the service answers nothing now, though it may in a moment."""
MOST_WHY = 300
"""The most characters of a reason that one process gives another."""


class Message(Value, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """The base of messages between processes; unknown fields are allowed, because the sender may be a newer version."""


class QueuedQuery(Message, frozen=True, kw_only=True):
    """A query that waits for a worker; everything else about it is in its trace.

    Attributes:
        key_id: The public part of the key with which the caller asked; empty without one.
    """

    query_id: str
    tenant: str
    key_id: str = ""


class QueueState(Value, frozen=True, kw_only=True):
    """The queue at one moment.

    Attributes:
        waiting: Queries that no worker has claimed yet.
        claimed: Queries that workers have claimed.
        oldest_s: Seconds for which the oldest unclaimed query has waited.
        lanes: The number of waiting queries in each lane.
    """

    waiting: int = 0
    claimed: int = 0
    oldest_s: float = 0.0
    lanes: tuple[int, ...] = ()


class DeadQuery(Message, frozen=True, kw_only=True):
    """A query that was given up, because too many of its workers ended before it did.

    Attributes:
        at: The time, in seconds since the epoch.
    """

    query_id: str
    tenant: str
    deliveries: int
    at: float


class Claim(Protocol):
    """A query on which this process works, as long as it renews the claim in time."""

    @property
    def query(self) -> QueuedQuery: ...

    @property
    def deliveries(self) -> int:
        """How often the query has been claimed, including this time."""

    @property
    def lasts_s(self) -> float:
        """Seconds after which another worker may take the query, unless `keep` renews the claim."""

    async def keep(self) -> None:
        """Renews the claim. Raises BusyError if that did not get through."""

    async def done(self) -> None:
        """Takes the query out of the queue: it is over, and its trace is stored to the end."""

    async def give_back(self, delay_s: float = 0.0) -> None:
        """Leaves the query to another worker, at once or after some seconds."""

    async def pass_on(self, delay_s: float) -> None:
        """Does the same after some seconds, any number of times, because the query is not what ends workers."""


class DeadClaim(Protocol):
    """A query to give up."""

    @property
    def query(self) -> QueuedQuery: ...

    @property
    def deliveries(self) -> int: ...

    async def bury(self) -> None:
        """Moves the query from the queue to the list of dead queries; its trace must have been ended before."""


class QueryQueue(Protocol):
    """The queries that wait for workers. Each method raises BusyError if the queue cannot be reached."""

    @property
    def trouble(self) -> str | None:
        """The reason why nothing can be stored or queued now, in a sentence; None as long as `watch` finds none."""

    async def watch(self) -> None:
        """Checks again and again that the servers answer and have room, until it is cancelled."""

    async def submit(self, query: QueuedQuery) -> None:
        """Puts a query in; one that is there already, waiting or claimed, stays as it is.

        Raises:
            QueueFullError: The queue holds as many queries as it may.
        """

    async def claim(self, wait_s: float) -> Claim | None:
        """Returns a query to work on, taking the lanes in turn; None if none came for so many seconds."""

    async def holds(self, query: QueuedQuery) -> bool:
        """Returns True for a query that waits or is claimed."""

    async def remove(self, query: QueuedQuery) -> None:
        """Takes out a query that is over."""

    async def state(self) -> QueueState: ...

    def lane_of(self, tenant: str) -> int:
        """Returns the lane of a tenant's queries, as `QueueState.lanes` counts them."""

    async def next_dead(self) -> DeadClaim | None:
        """Returns a query that was claimed too often and on which no worker works any more."""

    async def dead(self, limit: int = 100) -> Sequence[DeadQuery]:
        """Returns the queries that were given up in the last days, the newest first."""

    async def count_dead(self) -> int:
        """Returns the number of queries in that list."""


class ClaimCounts(Protocol):
    """Counts the claims of a process."""

    def claimed(self, deliveries: int) -> None:
        """Counts a claim, with the number of times that its query has been claimed."""

    def let_go(self) -> None:
        """Counts the end of a claim, of any kind."""

    def lost(self) -> None:
        """Counts a claim that another worker took over while this one worked on the query."""

    def given_up(self) -> None:
        """Counts a query that was ended because it was claimed too often."""


class WorkerReport(Message, frozen=True, kw_only=True):
    """A worker's report on itself, sent every second.

    Attributes:
        places: The most queries that it works on at once.
        mean_s: The mean duration of its last queries, in seconds; None before any has ended.
    """

    name: str
    places: int
    mean_s: float | None = None


class Wish(Message, frozen=True, kw_only=True):
    """A request to the process that works on a query: to send its text as it is written, or to end it."""

    query_id: str
    wants: Literal["text", "end"]
    why: str = ""


class Signals(Protocol):
    """Messages that processes send each other directly, without storing them."""

    async def wish(self, wish: Wish) -> bool:
        """Sends a wish to the process that works on a query; returns False if none confirms it."""

    async def tell(self, wish: Wish) -> None:
        """Does the same without waiting for an answer."""

    async def hear_wishes(self, hear: Callable[[Wish], bool]) -> None:
        """Calls `hear` with each wish from now on; it returns True if the query runs here."""

    async def report(self, report: WorkerReport) -> None:
        """Sends a worker's report."""

    async def hear_reports(self, hear: Callable[[WorkerReport], None]) -> None:
        """Calls `hear` with each report from now on."""
