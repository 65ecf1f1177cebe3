"""Ports to who calls: who a caller is, what they see, and what they may spend."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from antiphon.composition.allowance import Allowance, Need
from antiphon.composition.query import Query
from antiphon.composition.resources import ServiceResources
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.ports import TraceStore
from antiphon.vocabulary.values import Value


class DocumentFolder(NamedTuple):
    """A data folder with documents and their index.

    Attributes:
        refresh: Turns to a new index of it.
    """

    path: Path
    refresh: Callable[[], object]


@dataclass(frozen=True)
class View:
    """What a caller sees of the service.

    Attributes:
        resources: What their queries use.
        store: Holds their traces.
        documents: Where the documents are that they add.
        folder_of: Returns the folder of a course's documents.
        stored_as: Returns the id under which a trace of theirs is stored that comes from a file.
    """

    resources: ServiceResources
    store: TraceStore
    documents: DocumentFolder
    folder_of: Callable[[str], Path]
    stored_as: Callable[[str], str]


class Metering(Protocol):
    """Counts what callers' queries use, and keeps them within what is left of their shares."""

    def counts(self, caller: Principal) -> bool:
        """Returns False for a caller of whom nothing is counted."""

    def let_in(
        self, caller: Principal, query_id: str, need: Need
    ) -> AbstractAsyncContextManager[Allowance]:
        """Counts a query in before it begins, and out again if it does not begin after all.

        Raises:
            QuotaError: The caller's share is used up.
            ConfigurationError: Its cost is limited, and what its model costs is not known.
        """

    def watch(self, caller: Principal, query: Query) -> None:
        """Counts what a query used that was let in, once it is over."""

    def watch_resumed(self, caller: Principal, query: Query) -> None:
        """Does the same for a query that a process let in which is gone."""

    async def counted_all(self, caller: Principal, query_id: str) -> bool:
        """Returns False for a query that a process let in which is gone: nothing that it used is counted yet."""

    def opened(self, caller: Principal, query_id: str) -> bool:
        """Returns True for a query under way that the caller sees."""

    async def close(self) -> None:
        """Waits until every query that is over is counted."""


class OpenStreams(Protocol):
    """Counts the event streams that callers hold open."""

    def enter(self, caller: Principal) -> None:
        """Counts one more. Raises QuotaError if the caller has as many as may be."""

    def leave(self, caller: Principal) -> None:
        """Counts one less."""


class Callers(Protocol):
    """The callers of a service."""

    @property
    def without_key(self) -> Principal:
        """Who everybody is who is asked for no key."""

    @property
    def metering(self) -> Metering: ...

    @property
    def streams(self) -> OpenStreams: ...

    def principal_of(self, key: str | None, *, from_here: bool = True) -> Principal:
        """Returns who a caller is by the key that they sent; None: they sent none.

        Args:
            from_here: The request was sent to this machine by its own name, and no proxy says that it passed it on.

        Raises:
            UnauthorizedError: A key is required, and this is none that counts.
        """

    def public_principal(self, *, from_here: bool = True) -> Principal:
        """Returns who a caller is to what asks nobody for a key."""

    def view_of(self, caller: Principal) -> View:
        """Returns what a caller sees."""

    def folders(self) -> Iterable[DocumentFolder]:
        """Returns every folder of documents that there is."""

    async def opener_of(self, query_id: str) -> Principal:
        """Returns who goes on with a query that a process left behind: whoever began it, with the rights of today."""

    async def usage(self, caller: Principal) -> Value:
        """Returns what a caller has used today, as the API shows it."""

    async def count_others(self, query_of: Callable[[Principal, str], Query]) -> None:
        """Counts what queries use that were let in by a process which may be gone, until it is cancelled.

        Args:
            query_of: Returns a query as a caller sees it.
        """

    def close(self) -> None: ...
