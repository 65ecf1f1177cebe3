"""Requests that may be sent again without asking twice: the `Idempotency-Key` header.

The id of the query is made from the key and the body, so that the recorded query itself says whether, and for what, a
key was used: also after a restart, and for as long as its trace is kept.
(https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/)
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from typing import Annotated
from weakref import WeakValueDictionary

from fastapi import Header

from antiphon.api.errors import Refusal
from antiphon.service import Antiphon, Outcome, Query

KEY_CHARS = 16
"""Characters of the id that stand for the key; as many stand for the body."""

IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=200,
        description="A name of your choice for this one request. A request that repeats it with "
        "the same body gets the first answer, or waits for it. Such a query goes on if its client disconnects.",
    ),
]


class IdempotentQueries:
    """Begins each query with a key once."""

    def __init__(self) -> None:
        # One a key, for as long as somebody holds it: a query may wait for its place meanwhile.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._awaited: set[asyncio.Future[Outcome]] = set()

    async def begin(
        self,
        service: Antiphon,
        key: str,
        body: bytes,
        start: Callable[[str], Awaitable[Query]],
    ) -> Query:
        """Begins the query under an id of its own, or returns the one that was begun with the key.

        Raises:
            Refusal: 409: the key was used with another body.
        """
        used = _digest(service.principal.own(key).encode())
        query_id = used + _digest(body)
        # Two equal requests at once: the second must find what the first began.
        lock = self._locks.setdefault(used, asyncio.Lock())
        async with lock:
            known = [*service.running(), *await service.store.ids(used, 2)]
            for known_id in known:
                if known_id == query_id:
                    query = await service.begun_before(query_id)
                    query.outlives_caller = True
                    return query
                if known_id.startswith(used):
                    raise Refusal(
                        409,
                        "idempotency_key",
                        "This Idempotency-Key was used with another body: take a new key for a new question.",
                    )
            query = await start(query_id)
        self.await_end(query)
        query.outlives_caller = True
        return query

    def await_end(self, query: Query) -> None:
        """Waits for the end of a query whose client may go away: else what it spent would not be counted."""
        awaited = asyncio.ensure_future(query.outcome())
        self._awaited.add(awaited)
        awaited.add_done_callback(self._forget)

    def _forget(self, awaited: asyncio.Future[Outcome]) -> None:
        self._awaited.discard(awaited)
        # Whoever waits for the answer learns of a failure; here it was only waited for.
        if not awaited.cancelled():
            awaited.exception()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:KEY_CHARS]
