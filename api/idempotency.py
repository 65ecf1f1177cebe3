"""Requests that may be sent again without asking twice: the `Idempotency-Key` header.

The id of the query is made from the key and the body. So the trace itself shows that a key was used, and for which
body, even after a restart, as long as it is kept.
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
"""Characters of the id that come from the key; as many come from the body."""

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
        # One lock for each key, as long as somebody holds it: its query may have to wait for a place.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._awaited: set[asyncio.Future[Outcome]] = set()

    async def begin(
        self,
        service: Antiphon,
        key: str,
        body: bytes,
        start: Callable[[str], Awaitable[Query]],
    ) -> Query:
        """Begins the query under an id of its own, or returns the one that began with the same key.

        Raises:
            Refusal: 409: the key was used with another body.
        """
        # The key is made the tenant's own, because two tenants may choose the same one.
        used = _digest(service.principal.own(key).encode())
        query_id = used + _digest(body)
        # Of two equal requests at the same time the second must find the query that the first began.
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
        """Waits for the end of a query whose client may go away, so that its spending is counted in any case."""
        awaited = asyncio.ensure_future(query.outcome())
        self._awaited.add(awaited)
        awaited.add_done_callback(self._forget)

    def _forget(self, awaited: asyncio.Future[Outcome]) -> None:
        self._awaited.discard(awaited)
        # Retrieved, so that asyncio does not report it as lost: callers who wait for the answer get the failure.
        if not awaited.cancelled():
            awaited.exception()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:KEY_CHARS]
