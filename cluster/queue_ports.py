"""The queue of queries, and what processes tell one another of those that are worked on, as the service sees them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from antiphon.vocabulary.values import Value

NOT_RECORDED = "nothing is answered that cannot be recorded"
"""Is in each sentence that says why nothing is answered now, which may be otherwise in a moment."""
MOST_WHY = 300
"""Characters of a reason that one process gives another."""


class Message(Value, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """The base of what processes tell one another: they may be of two versions, and a newer one may say more."""


class QueuedQuery(Message, frozen=True, kw_only=True):
    """A query that waits for a worker; everything else that is known of it is in its trace.

    Attributes:
        key_id: The public part of the key by which it was asked; empty without one.
    """

    query_id: str
    tenant: str
    key_id: str = ""


class QueueState(Value, frozen=True, kw_only=True):
    """The queue at one moment.

    Attributes:
        waiting: Queries that no worker has claimed yet.
        claimed: Those that workers have.
        oldest_s: Seconds that the one which waits longest has waited.
        lanes: Those that wait, by lane.
    """

    waiting: int = 0
    claimed: int = 0
    oldest_s: float = 0.0
    lanes: tuple[int, ...] = ()


class DeadQuery(Message, frozen=True, kw_only=True):
    """A query that was given up, because whoever worked on it ended without an end of it, too often.

    Attributes:
        at: When, in seconds since the epoch.
    """

    query_id: str
    tenant: str
    deliveries: int
    at: float


class Claim(Protocol):
    """A query that this process works on for as long as it says so in time."""

    @property
    def query(self) -> QueuedQuery: ...

    @property
    def deliveries(self) -> int:
        """How often the query has been claimed, this time included."""

    @property
    def lasts_s(self) -> float:
        """Seconds after which the claim is another's, unless it is kept meanwhile."""

    async def keep(self) -> None:
        """Says that it is being worked on. Raises TraceError if that did not get through."""

    async def done(self) -> None:
        """Takes the query out of the queue: it is over, and its trace is stored to the end."""

    async def give_back(self, delay_s: float = 0.0) -> None:
        """Leaves it to another worker, at once or after some seconds."""

    async def pass_on(self, delay_s: float) -> None:
        """Does the same after some seconds, however often: it is not one that ends workers."""


class DeadClaim(Protocol):
    """A query that is to be given up."""

    @property
    def query(self) -> QueuedQuery: ...

    @property
    def deliveries(self) -> int: ...

    async def bury(self) -> None:
        """Takes it out of the queue, and into the list of dead queries; its trace must be ended before."""


class QueryQueue(Protocol):
    """The queries that wait for workers. Each method raises BusyError if the queue cannot be reached."""

    @property
    def trouble(self) -> str | None:
        """The reason why nothing can be stored or queued now, in a sentence; None: it can, as far as `watch` finds."""

    async def watch(self) -> None:
        """Looks again and again whether the servers answer and have room, until it is cancelled."""

    async def submit(self, query: QueuedQuery) -> None:
        """Puts a query in; one that waits, or is claimed, already stays as it is.

        Raises:
            QueueFullError: The queue holds as many as it may.
        """

    async def claim(self, wait_s: float) -> Claim | None:
        """Returns a query to work on, lanes in turn; None if none came for so many seconds."""

    async def holds(self, query: QueuedQuery) -> bool:
        """Returns True for a query that waits or is claimed."""

    async def remove(self, query: QueuedQuery) -> None:
        """Takes out a query that is over."""

    async def state(self) -> QueueState: ...

    def lane_of(self, tenant: str) -> int:
        """Returns the lane of a tenant's queries, as `QueueState.lanes` counts them."""

    async def next_dead(self) -> DeadClaim | None:
        """Returns a query that was claimed too often, and that nobody works on any more."""

    async def dead(self, limit: int = 100) -> Sequence[DeadQuery]:
        """Returns the queries that were given up in the last days, the newest first."""

    async def count_dead(self) -> int:
        """Returns how many they are."""


class ClaimCounts(Protocol):
    """Counts what a process does with queries of the queue."""

    def claimed(self, deliveries: int) -> None:
        """Counts a claim, and for how many claims of the query that makes."""

    def let_go(self) -> None:
        """Counts the end of a claim, however it ended."""

    def lost(self) -> None:
        """Counts a claim that became another's while the query was worked on."""

    def given_up(self) -> None:
        """Counts a query that was ended because it was claimed too often."""


class WorkerReport(Message, frozen=True, kw_only=True):
    """What a worker tells of itself every second.

    Attributes:
        places: Queries that it works on at once.
        mean_s: How long its last ones took; None before any has ended.
    """

    name: str
    places: int
    mean_s: float | None = None


class Wish(Message, frozen=True, kw_only=True):
    """What the process that works on a query is asked for: to show its text as it is written, or to end."""

    query_id: str
    wants: Literal["text", "end"]
    why: str = ""


class Signals(Protocol):
    """What processes tell one another at once, and nobody stores."""

    async def wish(self, wish: Wish) -> bool:
        """Asks whoever works on a query for something; returns False if nobody says that it is heard."""

    async def tell(self, wish: Wish) -> None:
        """Does the same without waiting for an answer."""

    async def hear_wishes(self, hear: Callable[[Wish], bool]) -> None:
        """Calls `hear` with each wish from now on; it returns True if the query runs here."""

    async def report(self, report: WorkerReport) -> None:
        """Tells of a worker."""

    async def hear_reports(self, hear: Callable[[WorkerReport], None]) -> None:
        """Calls `hear` with each report from now on."""
