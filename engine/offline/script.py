"""The script of the double: its replies to requests, their speed, and their breaks."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec
import yaml

from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.typed import prepared

Place = Literal["first_byte", "text", "tool_json", "message_stop"]
"""The point of a break: before the first byte, in the middle of the text or of a tool's input, or before the end."""
Breakage = Literal["reset", "end", "stall", "error", "garbage"]
"""The manner of a break: a reset connection, an early end, silence, an `error` event, or data that is not JSON."""


class _Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class Break(_Strict, frozen=True, kw_only=True):
    """The point and manner of a break. `error` is the type in an error event."""

    at: Place
    how: Breakage = "reset"
    error: str = "overloaded_error"


class ScriptedCall(_Strict, frozen=True, kw_only=True):
    """A tool call of a reply; gets an `id` if it has none."""

    name: str
    input: Json = {}
    id: str | None = None


class When(_Strict, frozen=True, kw_only=True):
    """The requests that a reply is for: those with a text in their body, and those that may (or may not) call tools."""

    contains: str | None = None
    tools: bool | None = None


class ScriptedReply(_Strict, frozen=True, kw_only=True):
    """One reply. There are five ways to give its content, from the simplest to the rawest.

    Attributes:
        text: Words; `calls` may follow them.
        content: Whole content blocks, as the API would send them.
        events: Events of a stream, sent unchanged.
        body: The body, sent unchanged under `content_type`.
        error: The type of an API error, sent with `status` and `message`.
        headers: Further response headers, such as `retry-after`.
        first_byte_s: Seconds before anything is sent.
        between_s: Seconds before each delta.
        end_s: Seconds between the last content block and the message's end.
        delta_chars: Characters per delta.
        piece_bytes: Cuts the body into pieces of so many bytes.
        cut_seed: Cuts the body into pieces of random length, from this seed.
        times: The number of requests that get this reply.
    """

    text: str | None = None
    calls: tuple[ScriptedCall, ...] = ()
    content: list[Json] | None = None
    events: list[Json] | None = None
    body: str | None = None
    content_type: str | None = None
    error: str | None = None
    message: str = "scripted"
    status: int = 200
    headers: dict[str, str] = {}
    stop_reason: str | None = None
    usage: Json = {}
    model: str | None = None
    id: str | None = None
    first_byte_s: float = 0.0
    between_s: float = 0.0
    end_s: float = 0.0
    delta_chars: int = 60
    piece_bytes: int | None = None
    cut_seed: int | None = None
    breaks: Break | None = None
    times: int = 1
    when: When | None = None


class Script(_Strict, frozen=True, kw_only=True):
    """Replies in order; each request takes the first remaining one that is meant for it.

    Attributes:
        then: The reply to further requests: the `last` one repeated, an `offline` answer, or a failure (`fail`).
    """

    replies: tuple[ScriptedReply, ...] = ()
    then: Literal["last", "offline", "fail"] = "last"


def read_script(path: Path) -> Script:
    """Reads the script in a YAML or JSON file.

    Raises:
        BadInputError: It cannot be read, or it is not a script.
    """
    try:
        return msgspec.convert(
            yaml.safe_load(path.read_text(encoding="utf-8")), prepared(Script)
        )
    except OSError as error:
        raise BadInputError(
            f"The script {path} cannot be read ({error.strerror}): name another file."
        ) from error
    except (yaml.YAMLError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise BadInputError(
            f"{path} is no script of the double: {error}. See docs/double.md."
        ) from error
