"""Reads server-sent events as JSON objects, cheaply: only the part of the format that the Messages API uses.

The SDK builds a pydantic model for each event, which costs five times as much CPU time as this.
"""

from __future__ import annotations

from antiphon.engine.wire_json import read_object
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Json

# Guards against a server that never stops sending; the longest replies have a few hundred kilobytes.
MAX_EVENT_BYTES = 8 * 2**20
MAX_STREAM_BYTES = 64 * 2**20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class SseDecoder:
    """Takes a stream's bytes as they come, and returns the events that are complete."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self._received = 0

    def feed(self, chunk: bytes) -> list[Json]:
        """Returns the events that `chunk` completes.

        Raises:
            ModelError: (`malformed`) An event is not a JSON object, or the stream is larger than any reply.
        """
        self._received += len(chunk)
        pending = self._pending
        # Searches only the new bytes, and the few before them that may begin the empty line: otherwise each chunk of a
        # large event would be searched from the event's beginning.
        search_from = max(len(pending) - 3, 0)
        pending += chunk
        if b"\r" in chunk:
            pending[:] = pending.replace(b"\r\n", b"\n")
            search_from = 0
        if pending.find(b"\n\n", search_from) < 0:
            self._check_size()
            return []

        *blocks, tail = bytes(pending).split(b"\n\n")
        self._pending = bytearray(tail)
        self._check_size()
        events = []
        for block in blocks:
            event = _event(block)
            if event is None:
                continue
            events.append(event)
            # Garbage after a complete reply must not cost the reply.
            if event["type"] == "message_stop":
                break
        return events

    def end(self) -> list[Json]:
        """Returns the last event if the stream ended without the empty line after it."""
        try:
            event = _event(bytes(self._pending).replace(b"\r", b"\n"))
        except ModelError:
            return []  # The event was cut off; the fold notices that the reply is not complete.
        if event is None:
            return []
        return [event]

    def _check_size(self) -> None:
        if len(self._pending) > MAX_EVENT_BYTES or self._received > MAX_STREAM_BYTES:
            raise ModelError(
                "malformed", "the reply is larger than any sensible one; it was cut off"
            )


def _event(block: bytes) -> Json | None:
    """Reads one block of lines; None for comments and empty events."""
    name, data = _name_and_data(block)
    if not data:
        return None
    # Gateways that translate end a stream as OpenAI does, some without a `message_stop` before.
    if data == b"[DONE]":
        return {"type": "message_stop"}
    if name == "error":
        return _error_event(data)
    event = read_object(data)
    # Some servers send a bare {"error": …}: https://github.com/ggml-org/llama.cpp (tools/server)
    if "type" not in event:
        event["type"] = "error" if event.get("error") else name
    return event


def _name_and_data(block: bytes) -> tuple[str, bytes]:
    name = b""
    lines = []
    for line in block.removeprefix(_BYTE_ORDER_MARK).split(b"\n"):
        field, _, value = line.partition(b":")
        if field == b"data":
            lines.append(value.strip())
        elif field == b"event":
            name = value.strip()
    return name.decode("utf-8", "replace"), b"\n".join(lines)


def _error_event(data: bytes) -> Json:
    """Reads the data under `event: error`: the API's own form, only the error as llama.cpp sends it, or plain words."""
    try:
        event = read_object(data)
    except ModelError:
        return {"type": "error", "error": data.decode("utf-8", "replace")}
    error = event.get("error") or event
    return {"type": "error", "error": error}
