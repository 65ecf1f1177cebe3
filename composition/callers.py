"""Ports for callers: their identity, what they see, and what they may spend."""

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
        refresh: Changes to a new index of the documents.
    """

    path: Path
    refresh: Callable[[], object]


@dataclass(frozen=True)
class View:
    """The part of the service that a caller sees.

    Attributes:
        resources: The resources that their queries use.
        store: Holds their traces.
        documents: The folder for documents that they add.
        folder_of: Returns the folder of a course's documents.
        stored_as: Returns the id under which the store keeps a trace that they import from a file.
    """

    resources: ServiceResources
    store: TraceStore
    documents: DocumentFolder
    folder_of: Callable[[str], Path]
    stored_as: Callable[[str], str]


class Metering(Protocol):
    """Counts what callers' queries use, and keeps them within the rest of their shares."""

    def counts(self, caller: Principal) -> bool:
        """Returns False for a caller whose use is not counted."""

    def let_in(
        self, caller: Principal, query_id: str, need: Need
    ) -> AbstractAsyncContextManager[Allowance]:
        """Reserves a query's share before it begins, and gives it back if it does not begin after all.

        Raises:
            QuotaError: The caller's share is used up.
            ConfigurationError: The caller's cost is limited, and the price of the model is not known.
        """

    def watch(self, caller: Principal, query: Query) -> None:
        """Counts what a query that was let in has used, once it is over."""

    def watch_resumed(self, caller: Principal, query: Query) -> None:
        """Does the same for a query of a process that is gone."""

    async def counted_all(self, caller: Principal, query_id: str) -> bool:
        """Returns False for a query that is not settled because its process is gone: its use is still to be counted."""

    def opened(self, caller: Principal, query_id: str) -> bool:
        """Returns True if the caller may see a query under way."""

    async def close(self) -> None:
        """Waits until every query that is over is counted."""


class OpenStreams(Protocol):
    """Counts the event streams that callers hold open."""

    def enter(self, caller: Principal) -> None:
        """Counts one more open stream. Raises QuotaError if the caller has as many as they may have."""

    def leave(self, caller: Principal) -> None:
        """Counts one open stream less."""


class Callers(Protocol):
    """The callers of a service."""

    @property
    def without_key(self) -> Principal:
        """The principal of callers from whom the service asks no key."""

    @property
    def metering(self) -> Metering: ...

    @property
    def streams(self) -> OpenStreams: ...

    def principal_of(self, key: str | None, *, from_here: bool = True) -> Principal:
        """Returns the caller to whom a key belongs; None: the request came without one.

        Args:
            from_here: The request names this machine by its own name, and no proxy says that it passed it on.

        Raises:
            UnauthorizedError: The service lets nobody in with this key, or without one.
        """

    def public_principal(self, *, from_here: bool = True) -> Principal:
        """Returns the caller for endpoints that ask for no key."""

    def view_of(self, caller: Principal) -> View:
        """Returns the part of the service that a caller sees."""

    def folders(self) -> Iterable[DocumentFolder]:
        """Returns all folders of documents."""

    async def opener_of(self, query_id: str) -> Principal:
        """Returns the caller for whom to resume an interrupted query: the one who began it, with today's rights."""

    async def usage(self, caller: Principal) -> Value:
        """Returns a caller's usage today, as the API shows it."""

    async def count_others(self, query_of: Callable[[Principal, str], Query]) -> None:
        """Counts the use of queries whose process may be gone, until it is cancelled.

        Args:
            query_of: Returns a query as a caller sees it.
        """

    def close(self) -> None: ...
