"""The queries whose callers wait for them now, so that a service that stops can end them in order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, cast

from fastapi import Depends, FastAPI, Request

from antiphon.api.facade import Asked


class UnderWay:
    """The queries that callers of this app wait for."""

    def __init__(self) -> None:
        self._asked: set[Asked] = set()

    @contextmanager
    def waiting(self, asked: Asked, why: str) -> Iterator[None]:
        """Counts `asked` while its caller waits; whoever stops waiting before the end cancels it, because of `why`."""
        self._asked.add(asked)
        try:
            yield
        finally:
            self._asked.discard(asked)
            asked.cancel(why)  # changes nothing where the query is over

    def cancel(self, why: str) -> None:
        """Cancels all of them; their callers are told so as an answer."""
        for asked in list(self._asked):
            asked.cancel(why)


def cancel_queries(app: FastAPI, why: str) -> None:
    """Cancels the queries whose callers wait for them."""
    _of(app).cancel(why)


def _of(app: FastAPI) -> UnderWay:
    return cast(UnderWay, app.state.under_way)


def _of_request(request: Request) -> UnderWay:
    return _of(request.app)


Waited = Annotated[UnderWay, Depends(_of_request)]
"""The queries under way, as a route asks for them."""
