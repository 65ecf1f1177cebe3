"""Server-sent events to JSON objects: the few lines of the format that the Messages API uses, read cheaply.

The SDK builds a pydantic model for each event, which costs five times as much CPU time as this. Text that is not valid
Unicode is made valid here too: JSON can spell half of a surrogate pair, and servers cut characters.
"""

from __future__ import annotations

import json
import re

import msgspec

from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Json

# Bounds against a server that never stops sending; the longest replies have a few hundred kilobytes.
MAX_EVENT_BYTES = 8 * 2**20
MAX_STREAM_BYTES = 64 * 2**20
EXCERPT_BYTES = 120

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_decode = msgspec.json.Decoder().decode


class SseDecoder:
    """Takes a stream's bytes as they come and gives the events that are complete."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self._received = 0

    def feed(self, chunk: bytes) -> list[Json]:
        """Returns the events that `chunk` completes.

        Raises:
            ModelError: (`malformed`) An event is no JSON object, or the stream is larger than any reply.
        """
        self._received += len(chunk)
        pending = self._pending
        # Only the new bytes, and the few before them that may begin the empty line, are searched: a large event
        # that comes in many chunks would otherwise be read from its beginning for each of them.
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
            if event is not None:
                events.append(event)
        return events

    def end(self) -> list[Json]:
        """Returns the last event, where the stream ended without the empty line after it."""
        try:
            event = _event(bytes(self._pending).replace(b"\r", b"\n"))
        except ModelError:
            return []  # It was cut off; the fold notices that the reply is not complete.
        if event is None:
            return []
        return [event]

    def _check_size(self) -> None:
        if len(self._pending) > MAX_EVENT_BYTES or self._received > MAX_STREAM_BYTES:
            raise ModelError(
                "malformed", "the reply is larger than any sensible one; it was cut off"
            )


def _event(block: bytes) -> Json | None:
    """Reads one block of lines; None for comments, empty events and OpenAI's end mark."""
    lines = []
    for line in block.split(b"\n"):
        if line.startswith(b"data:"):
            lines.append(line.removeprefix(b"data:").strip())
    data = b"\n".join(lines)
    if data in (b"", b"[DONE]"):
        return None

    event = read_object(data)
    if "type" not in event:
        event["type"] = ""
        # Some servers send a bare {"error": …}: https://github.com/ggml-org/llama.cpp (tools/server)
        if "error" in event:
            event["type"] = "error"
    return event


def read_object(data: bytes) -> Json:
    """Reads `data` as a JSON object.

    Raises:
        ModelError: (`malformed`) It is none.
    """
    try:
        value = _read(data)
    except (ValueError, RecursionError) as error:
        raise ModelError(
            "malformed", f"the server sent something that is no JSON: {excerpt(data)}"
        ) from error
    if not isinstance(value, dict):
        raise ModelError(
            "malformed", f"the server sent JSON that is no object: {excerpt(data)}"
        )
    return value


def _read(data: bytes) -> object:
    try:
        return _decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        # The strict decoder is several times faster, and hardly any event needs the lenient one.
        return read_leniently(data)


def excerpt(data: bytes) -> str:
    """Returns the beginning of `data`, fit for an error message."""
    return repr(data[:EXCERPT_BYTES].decode("utf-8", "replace"))


def read_leniently(data: bytes) -> object:
    """Reads JSON whose text is not all valid Unicode.

    A delta's own text is left as it is: the next delta may bring the other half of its last character.

    Raises:
        ValueError: It is no JSON.
    """
    value = json.loads(data.decode("utf-8", "replace"), parse_constant=_refuse_constant)
    if not isinstance(value, dict) or not isinstance(value.get("delta"), dict):
        return _with_valid_text(value)

    event: Json = {}
    for name, part in value.items():
        event[name] = _with_valid_text(part)
    delta: Json = {}
    for name, part in value["delta"].items():
        if isinstance(part, str):
            delta[name] = part
        else:
            delta[name] = _with_valid_text(part)
    event["delta"] = delta
    return event


def valid_text(text: str) -> str:
    """Returns `text` with both halves of a surrogate pair joined, and each lone half replaced by U+FFFD."""
    if text.isascii() or not _LONE_SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def is_first_half(character: str) -> bool:
    """Returns True if the other half of the character is still to come."""
    return "\ud800" <= character <= "\udbff"


def _with_valid_text(value: object) -> object:
    if isinstance(value, str):
        return valid_text(value)
    if isinstance(value, list):
        return [_with_valid_text(part) for part in value]
    if isinstance(value, dict):
        return {
            valid_text(str(name)): _with_valid_text(part)
            for name, part in value.items()
        }
    return value


def _refuse_constant(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON")
