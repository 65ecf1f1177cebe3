"""Exchanges with a model's server, as JSON lines: written, read, and played back without the server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import httpx2
import msgspec

from antiphon.engine import read_object
from antiphon.faults.proxy.forms import form_of
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.typed import prepared
from antiphon.vocabulary.values import Value

MOST_BYTES = 256 * 2**20
_STREAMING = ("stream", "stream_options")


class Exchange(Value, frozen=True, kw_only=True):
    """One request to a model, and what the client was sent. No headers: they hold keys.

    Attributes:
        response: The reply, also of a stream; None if the client got none that is whole.
        status: 0 if the connection broke before there was any.
        started: In seconds since 1970.
        fault: The faults that fired, as `--fault` of `antiphon faults run` takes them.
    """

    request: Json
    response: Json | None = None
    status: int = 0
    started: float = 0.0
    seconds: float = 0.0
    fault: str | None = None


def history(request: Json) -> list[object]:
    """Returns the conversation that a request sends, a turn each."""
    turns = request.get("messages", request.get("input"))
    return turns if isinstance(turns, list) else [turns]


class Recording(httpx2.AsyncBaseTransport):
    """A server that replies as one was recorded to reply.

    It replies to a request by the same request; to one that was not recorded by one that was made as far into a
    conversation. So it needs no memory: a client may repeat a request, or ask several things at once.
    """

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        self._exchanges = exchanges

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Replies in one piece."""
        asked = read_object(await request.aread())
        form = form_of(request.url.path)
        fitting = [
            exchange
            for exchange in self._exchanges
            if form is not None and form.field in (exchange.response or {})
        ]
        if not fitting:
            why = f"The recording holds no reply for {request.url.path}."
            return httpx2.Response(404, json={"error": {"message": why}})

        def distance(exchange: Exchange) -> tuple[bool, int]:
            recorded = exchange.request
            turns = abs(len(history(recorded)) - len(history(asked)))
            return whole(recorded) != whole(asked), turns

        return httpx2.Response(200, json=min(fitting, key=distance).response)


def whole(request: Json) -> Json:
    """Returns the request as it is made by a client that wants no stream."""
    return {name: value for name, value in request.items() if name not in _STREAMING}


def read_recording(path: Path) -> Recording:
    """Reads a file of exchanges; those that a fault broke or a server refused are left out.

    Raises:
        BadInputError: It cannot be read, or holds no reply that can be played.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BadInputError(
                f"{path} has more than {MOST_BYTES >> 20} MB: play a part of it."
            )
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise BadInputError(
            f"{path} cannot be read ({error.strerror}): name another recording."
        ) from error
    found: list[Exchange] = []
    for number, line in enumerate(lines, start=1):
        try:
            exchange = msgspec.json.decode(line, type=prepared(Exchange))
            if exchange.status == 200 and not exchange.fault:
                found.append(exchange)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise BadInputError(
                f"{path} is no recording: line {number} is no exchange ({error})."
            ) from error
    if not found:
        raise BadInputError(
            f"{path} holds no reply that can be played: record some with --upstream and --record."
        )
    return Recording(found)
