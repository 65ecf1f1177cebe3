"""The store on NATS instead of SQLite's, for runs on virtual time, in which a loop cannot wait for a connection.

It works in a thread, on an event loop of its own. Like SQLite, it blocks its caller until it has answered, so that no
virtual time passes meanwhile and the same plan leads to the same events.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from antiphon.service import (
    Redaction,
    Settings,
    open_trace_store,
    trace_store_of,
)
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.ports import WholeTraceStore

T = TypeVar("T")


class OpenStore(Protocol):
    """Opens the trace store of a folder; the same folder has the same traces."""

    def __call__(
        self, folder: Path, redaction: Redaction, catalog: Catalog, /
    ) -> WholeTraceStore: ...


def open_local(folder: Path, redaction: Redaction, catalog: Catalog) -> WholeTraceStore:
    """Opens the store of one machine."""
    return open_trace_store(folder, redaction=redaction, catalog=catalog)


class OpenShared:
    """Opens stores on a NATS server, each under its own names, which stay there."""

    def __init__(self, url: str) -> None:
        self._url = url

    def __call__(
        self, folder: Path, redaction: Redaction, catalog: Catalog, /
    ) -> WholeTraceStore:
        # From the folder, so that a store that is opened again finds its traces.
        name = hashlib.sha256(str(folder.absolute()).encode()).hexdigest()[:16]
        # Bypasses the constructor, which would read the environment.
        settings = Settings.model_construct(
            data_dir=folder, nats_url=self._url, nats_prefix=f"faults-{name}"
        )
        return cast(WholeTraceStore, _InThread.opened(settings, redaction, catalog))


class _Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs `work` there and blocks the caller until it is done."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class _InThread:
    """A store whose coroutines run in a thread; acts as the store itself."""

    def __init__(
        self, inner: WholeTraceStore, loop: _Loop, leave: AsyncExitStack
    ) -> None:
        self._inner = inner
        self._loop = loop
        self._leave = leave

    @classmethod
    def opened(
        cls, settings: Settings, redaction: Redaction, catalog: Catalog
    ) -> _InThread:
        """Opens the store that the settings name."""
        loop, leave = _Loop(), AsyncExitStack()
        opening = trace_store_of(settings, redaction, catalog)
        return cls(loop.run(leave.enter_async_context(opening)), loop, leave)

    def __getattr__(self, name: str) -> object:
        found = getattr(self._inner, name)
        if inspect.iscoroutinefunction(found):
            return self._held_up(found)
        return found

    def seen_by(self, label: str) -> _InThread:
        seen = cast(WholeTraceStore, self._inner.seen_by(label))
        return _InThread(seen, self._loop, self._leave)

    async def close(self) -> None:
        self._loop.run(self._leave.aclose())
        self._loop.stop()

    def _held_up(
        self, method: Callable[..., Coroutine[Any, Any, T]]
    ) -> Callable[..., Awaitable[T]]:
        async def call(*arguments: object, **named: object) -> T:
            return self._loop.run(method(*arguments, **named))

        return call
