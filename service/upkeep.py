"""The tasks beside queries: loading what takes seconds, checking the model's key, watching the index, deletions."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence

import structlog

from antiphon.composition import CourseIndex, Settings
from antiphon.composition.model_key import ModelKey
from antiphon.composition.resources import LoadedLater
from antiphon.service.memory import keep_loaded
from antiphon.vocabulary.errors import LoadingError, ServiceError
from antiphon.vocabulary.ports import Clock, Retention

log = structlog.get_logger(__name__)

REFRESH_EVERY_S = 1.0
"""A new index is used about as soon as the command that made it has ended."""
DAY_S = 86_400.0
MB = 1_000_000
SEARCH_WAITS_S = 30.0
"""Seconds that a search without a question waits for the embedder."""
LOADING_AGAIN_S = 2.0
"""Seconds after which a caller who was told that something is being loaded may ask again."""
KEY_CHECK_S = 5.0
"""Seconds for a server to say if it accepts the key."""
KEY_AGAIN_S = 60.0
"""Seconds between two looks at a key that is refused: it may be mended if it was issued."""


class Loading:
    """What is loaded behind the service, and those who wait for it.

    Attributes:
        problem: Why a part could not be loaded, in a sentence.
    """

    def __init__(self, parts: Sequence[LoadedLater]) -> None:
        self._parts = parts
        self._over = asyncio.Event()
        self.problem: str | None = None
        if not parts:
            self._over.set()

    @property
    def over(self) -> bool:
        """True once it is loaded, or could not be."""
        return self._over.is_set()

    @property
    def done(self) -> bool:
        """True if nothing is to be waited for."""
        return self._over.is_set() and self.problem is None

    def begin(self) -> None:
        """Begins to load, on a thread that neither Ctrl-C nor the end of the loop waits for."""
        if self._over.is_set():
            return
        loop = asyncio.get_running_loop()
        threading.Thread(
            target=self._load, args=(loop,), name="load", daemon=True
        ).start()

    def _load(self, loop: asyncio.AbstractEventLoop) -> None:
        began = time.perf_counter()
        # Of an error that is no ServiceError, a bug: it ends the thread, which prints it, and nobody may wait for ever.
        problem: str | None = "A part of the service could not be loaded: see its log."
        try:
            for part in self._parts:
                part.load()
            problem = None
            log.info("loaded", seconds=round(time.perf_counter() - began, 1))
        except ServiceError as error:
            problem = str(error)
            log.error("not_loaded", error=problem)
        finally:
            keep_loaded()
            # The service may have closed meanwhile.
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._end, problem)

    def _end(self, problem: str | None) -> None:
        self.problem = problem
        self._over.set()

    def check(self) -> None:
        """Refuses (LoadingError) what needs all to be loaded, until it is."""
        if not self._over.is_set():
            raise LoadingError(
                "The search is still being loaded: ask again in a few seconds.",
                LOADING_AGAIN_S,
            )

    async def wait(self, most_s: float) -> float:
        """Waits until it is loaded; returns how many seconds that took, 0 if there was nothing.

        Raises:
            LoadingError: It took longer than `most_s`.
        """
        if self._over.is_set():
            return 0.0
        began = time.monotonic()
        try:
            await asyncio.wait_for(self._over.wait(), most_s)
        except TimeoutError:
            self.check()
        return time.monotonic() - began


async def check_model_key(key: ModelKey, clock: Clock) -> None:
    """Checks the key for the model's server, and again at intervals as long as it is refused."""
    await key.check(KEY_CHECK_S)
    while key.finding.state == "refused":
        await clock.sleep(KEY_AGAIN_S)
        await key.check(KEY_CHECK_S)


async def refresh_library(library: CourseIndex) -> None:
    """Switches to a new index when another process has made one, until it is cancelled."""
    while True:
        await asyncio.sleep(REFRESH_EVERY_S)
        # An index that cannot be opened leaves the old one in use, and is tried once more in a second.
        try:
            if await asyncio.to_thread(library.refresh):
                log.info("index_switched", generation=library.describe().generation)
        except ServiceError as error:
            log.warning("index_not_switched", error=str(error))


async def keep_traces(store: Retention, settings: Settings, clock: Clock) -> None:
    """Deletes traces that are too old or too much, now and at intervals, until it is cancelled."""
    while True:
        older_than: float | None = None
        most_bytes: int | None = None
        if settings.keep_days is not None:
            older_than = clock.now() - settings.keep_days * DAY_S
        if settings.keep_mb is not None:
            most_bytes = int(settings.keep_mb * MB)
        # A store that cannot be written now must not end the service.
        try:
            if deleted := await store.prune(
                older_than=older_than, most_bytes=most_bytes
            ):
                log.info("traces_pruned", traces=deleted)
        except ServiceError as error:
            log.warning("traces_not_pruned", error=str(error))
        await clock.sleep(settings.keep_every_s)
