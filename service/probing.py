"""Tries from time to time the two things that every question needs: storing an event, and searching the index."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import count

import structlog

from antiphon.composition import CourseIndex
from antiphon.vocabulary.errors import KnowledgeError
from antiphon.vocabulary.health import SelfChecking

log = structlog.get_logger(__name__)

LOOK_S = 1.0
"""Seconds that a request for the readiness waits for a try; the next request sees a later result."""
STUCK_S = 10.0
"""Seconds after which an unfinished search counts as a problem; on a busy machine one takes a second or two."""


class Probe:
    """The state of store and search in the last few seconds, from real work or else from a try.

    Args:
        library: The index to search; None: this process does not search.
    """

    def __init__(self, store: object, library: CourseIndex | None) -> None:
        self._store = store if isinstance(store, SelfChecking) else None
        self._library = library
        self._turns = count()
        self._looking: asyncio.Task[None] | None = None
        self._looking_since = 0.0
        self._losses: Sequence[str] = ()

    async def look(self, *, searches: bool) -> None:
        """Tries what no query did in the last few seconds, and waits a moment for the result.

        Args:
            searches: True if everything that a search needs is loaded.
        """
        if self._looking is None or self._looking.done():
            self._looking_since = asyncio.get_running_loop().time()
            self._looking = asyncio.create_task(self._look(searches), name="probe")
        # `wait` leaves the try running after the timeout; a later request sees its result.
        await asyncio.wait([self._looking], timeout=LOOK_S)

    async def close(self) -> None:
        """Cancels a running try."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    def problems(self, *, in_full: bool) -> Sequence[str]:
        """Returns the reasons why storing or searching fails, a sentence each.

        Args:
            in_full: Name files of this machine.
        """
        problems: list[str] = [*self._write_problems()]
        failed = (
            self._library.last_search.problem if self._library is not None else None
        )
        if failed is not None and in_full:
            problems.append(f"Searching fails: {failed}.")
        elif failed is not None:
            problems.append("Searching fails: the service's log says why.")
        if self._is_stuck():
            problems.append(
                f"A search, or storing something, has taken more than {STUCK_S:g} s: see what holds up the disk."
            )
        return problems

    async def store_problems(self) -> Sequence[str]:
        """Reads the whole store, and returns its problems, a sentence each; slow."""
        if self._store is None:
            return ()
        problems = [*self._write_problems(), *self._store.losses]
        damage = await self._store.damage()
        if damage is not None:
            problems.append(damage)
        return problems

    def losses(self) -> Sequence[str]:
        """Returns the store's losses as of the last look, a sentence each."""
        return self._losses

    def _write_problems(self) -> Sequence[str]:
        if self._store is None or self._store.write_problem is None:
            return ()
        return (f"Questions cannot be stored: {self._store.write_problem}.",)

    def _is_stuck(self) -> bool:
        if self._looking is None or self._looking.done():
            return False
        return self._looking.get_loop().time() - self._looking_since > STUCK_S

    async def _look(self, searches: bool) -> None:
        if self._store is not None:
            self._losses = self._store.losses
            await self._store.check_writable()
        if searches and self._library is not None:
            await self._search(self._library)

    async def _search(self, library: CourseIndex) -> None:
        words = self._words(library)
        if not words or library.last_search.is_recent:
            return
        try:
            await asyncio.to_thread(library.search, words, None, None, 1)
        except KnowledgeError as error:
            log.warning("search_fails", error=str(error))

    def _words(self, library: CourseIndex) -> str:
        """Returns a title to search for, a different one each time, because SQLite caches what it read a moment ago."""
        titles: list[str] = []
        for course in library.courses():
            titles += [course.title, *[lesson.title for lesson in course.lessons]]
        if not titles:
            return ""
        return titles[next(self._turns) % len(titles)]
