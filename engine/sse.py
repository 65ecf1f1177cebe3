"""Server-sent events to JSON objects: the few lines of the format that the Messages API uses, read cheaply.

The SDK builds a pydantic model for each event, which costs five times as much CPU time as this.
"""

from __future__ import annotations

import msgspec

from antiphon.engine.mending import read_leniently
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Json

MAX_EVENT_BYTES = 8 * 2**20
MAX_STREAM_BYTES = 64 * 2**20

_decode = msgspec.json.Decoder().decode


class SseDecoder:
    """Takes a stream's bytes as they come and gives the events that are complete."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self._received = 0

    def feed(self, chunk: bytes) -> list[Json]:
        """The events that `chunk` completes.

        Raises:
            ModelError: (`malformed`) An event is no JSON object, or the stream is larger than any reply.
        """
        self._received += len(chunk)
        pending = self._pending
        seam = max(len(pending) - 3, 0)
        pending += chunk
        if b"\r" in chunk:
            pending[:] = pending.replace(b"\r\n", b"\n")
            seam = 0
        if pending.find(b"\n\n", seam) < 0:
            self._check_size()
            return []
        *blocks, tail = bytes(pending).split(b"\n\n")
        self._pending = bytearray(tail)
        self._check_size()
        return [event for block in blocks if (event := _event(block)) is not None]

    def end(self) -> list[Json]:
        """The last event, where the stream ended without the empty line after it; what was cut off is no event."""
        try:
            event = _event(bytes(self._pending).replace(b"\r", b"\n"))
        except ModelError:
            return []
        return [] if event is None else [event]

    def _check_size(self) -> None:
        if len(self._pending) > MAX_EVENT_BYTES or self._received > MAX_STREAM_BYTES:
            raise ModelError("malformed", "the reply is larger than any sensible one; it was cut off")


def _event(block: bytes) -> Json | None:
    """The event of one block of lines; None for comments, empty events and OpenAI's end mark."""
    data = b"\n".join(line[5:].strip() for line in block.split(b"\n") if line.startswith(b"data:"))
    if not data or data == b"[DONE]":
        return None
    event = read_object(data)
    if "type" not in event:
        # Some servers send a bare {"error": …}: https://github.com/ggml-org/llama.cpp (tools/server)
        event["type"] = "error" if "error" in event else ""
    return event


def read_object(data: bytes) -> Json:
    """`data` as a JSON object.

    Raises:
        ModelError: (`malformed`) It is none.
    """
    try:
        value = _read(data)
    except (ValueError, RecursionError) as error:
        raise ModelError("malformed", f"the server sent something that is no JSON: {shown(data)}") from error
    if not isinstance(value, dict):
        raise ModelError("malformed", f"the server sent JSON that is no object: {shown(data)}")
    return value


def _read(data: bytes) -> object:
    try:
        return _decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return read_leniently(data)


def shown(data: bytes) -> str:
    """The beginning of `data`, fit for an error message."""
    return repr(data[:120].decode("utf-8", "replace"))
