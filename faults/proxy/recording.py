"""Writes exchanges with a model's server as JSON lines, reads them, and replays them without the server."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import httpx2
import msgspec

from antiphon.engine import read_object
from antiphon.faults.proxy.forms import form_of
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.typed import prepared
from antiphon.vocabulary.values import Value


class Exchange(Value, frozen=True, kw_only=True):
    """One request to a model, and the client's response. Without headers, because they contain keys.

    Attributes:
        response: The whole reply, even of a stream; None if the client did not get it whole.
        status: The HTTP status; 0 if the connection broke before it.
        started: The time, in seconds since 1970.
        fault: The faults that fired, in the form of `--fault` of `antiphon faults run`.
    """

    request: Json
    response: Json | None = None
    status: int = 0
    started: float = 0.0
    seconds: float = 0.0
    fault: str | None = None


def turns(request: Json) -> int:
    """Returns the number of messages in a request's conversation."""
    sent = request.get("messages", request.get("input"))
    return len(sent) if isinstance(sent, list) else 1


def whole(request: Json) -> Json:
    """Returns the request in the form of a client that wants no stream."""
    streaming = ("stream", "stream_options")
    return {name: value for name, value in request.items() if name not in streaming}


def _replayed(
    exchanges: Sequence[Exchange], request: httpx2.Request
) -> httpx2.Response:
    """Returns the recorded reply to the same request, or else to one as far into a conversation.

    This needs no state, so a client may repeat a request or send several at once.
    """
    asked = read_object(request.content)
    form = form_of(request.url.path)
    fitting = [
        exchange
        for exchange in exchanges
        if form is not None and form.field in (exchange.response or {})
    ]
    if not fitting:
        why = f"The recording holds no reply for {request.url.path}."
        return httpx2.Response(404, json={"error": {"message": why}})

    # The same request comes first; otherwise the nearest length of conversation decides.
    def distance(exchange: Exchange) -> tuple[bool, int]:
        recorded = exchange.request
        return whole(recorded) != whole(asked), abs(turns(recorded) - turns(asked))

    return httpx2.Response(200, json=min(fitting, key=distance).response)


def read_recording(path: Path) -> httpx2.AsyncBaseTransport:
    """Returns a server that repeats recorded replies; leaves out those that a fault broke and the server's refusals.

    Raises:
        BadInputError: It cannot be read, or contains no reply that can be replayed.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise BadInputError(
            f"{path} cannot be read ({error.strerror}): name another recording."
        ) from error
    found: list[Exchange] = []
    for number, line in enumerate(lines, start=1):
        try:
            exchange = msgspec.json.decode(line, type=prepared(Exchange))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise BadInputError(
                f"{path} is no recording: line {number} is no exchange ({error})."
            ) from error
        if exchange.status == 200 and not exchange.fault:
            found.append(exchange)
    if not found:
        raise BadInputError(
            f"{path} holds no reply that can be played: record some with --upstream and --record."
        )
    return httpx2.MockTransport(partial(_replayed, found))
