"""The background tasks: loading slow parts, checking the model's key, watching the index, deleting old traces."""

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
"""Short enough that a new index is in use about as soon as the command that made it has ended."""
DAY_S = 86_400.0
MB = 1_000_000
SEARCH_WAITS_S = 30.0
"""Seconds that a search without a question waits for the embedder."""
LOADING_AGAIN_S = 2.0
"""Seconds after which a caller may ask again while something is still loading."""
KEY_CHECK_S = 5.0
"""Seconds for a server to accept or refuse the key."""
KEY_AGAIN_S = 60.0
"""Seconds between two checks of a refused key, which its issuer may enable meanwhile."""


class Loading:
    """The parts that load in the background, and the tasks that wait for them.

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
        """True once loading has ended, successfully or not."""
        return self._over.is_set()

    @property
    def done(self) -> bool:
        """True once everything is loaded."""
        return self._over.is_set() and self.problem is None

    def begin(self) -> None:
        """Begins to load, in a thread that neither Ctrl-C nor the end of the loop waits for."""
        if self._over.is_set():
            return
        loop = asyncio.get_running_loop()
        threading.Thread(
            target=self._load, args=(loop,), name="load", daemon=True
        ).start()

    def _load(self, loop: asyncio.AbstractEventLoop) -> None:
        began = time.perf_counter()
        # For any error but a ServiceError, a bug: it ends the thread, which prints it, and nobody must wait for ever.
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
        """Refuses (LoadingError) until everything is loaded, for work that needs all of it."""
        if not self._over.is_set():
            raise LoadingError(
                "The search is still being loaded: ask again in a few seconds.",
                LOADING_AGAIN_S,
            )

    async def wait(self, most_s: float) -> float:
        """Waits for the end of loading; returns the seconds that it took, 0 if it had ended already.

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
    """Checks the key for the model's server, and again at intervals while the server refuses it."""
    await key.check(KEY_CHECK_S)
    while key.finding.state == "refused":
        await clock.sleep(KEY_AGAIN_S)
        await key.check(KEY_CHECK_S)


async def refresh_library(library: CourseIndex) -> None:
    """Switches to each new index that another process makes, until cancelled."""
    while True:
        await asyncio.sleep(REFRESH_EVERY_S)
        # If a new index cannot be opened, the old one stays in use, and the next try follows in a second.
        try:
            if await asyncio.to_thread(library.refresh):
                log.info("index_switched", generation=library.describe().generation)
        except ServiceError as error:
            log.warning("index_not_switched", error=str(error))


async def keep_traces(store: Retention, settings: Settings, clock: Clock) -> None:
    """Deletes traces beyond the limits of age and size, now and at intervals, until cancelled."""
    while True:
        older_than: float | None = None
        most_bytes: int | None = None
        if settings.keep_days is not None:
            older_than = clock.now() - settings.keep_days * DAY_S
        if settings.keep_mb is not None:
            most_bytes = int(settings.keep_mb * MB)
        # A store that cannot be written at the moment must not end the service.
        try:
            if deleted := await store.prune(
                older_than=older_than, most_bytes=most_bytes
            ):
                log.info("traces_pruned", traces=deleted)
        except ServiceError as error:
            log.warning("traces_not_pruned", error=str(error))
        await clock.sleep(settings.keep_every_s)
