"""The neutral value of all forms: model calls as Messages API exchanges, and the tool runs beside them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from antiphon.history.foreign.messages import Conversation, listed, tools_of
from antiphon.traces import MOST_AT
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import FailureKind
from antiphon.vocabulary.ports import Json

MOST_SHOWN = 200_000
"""Messages in all requests of a file together: each round repeats all before it, so a small file may expand greatly."""
TOO_MUCH = f"its requests show more than {MOST_SHOWN:,} messages together, which is the most: split it"
_STOPS = {
    "stop": "end_turn", "tool_calls": "tool_use", "tool_call": "tool_use", "function_call": "tool_use",
    "length": "max_tokens", "content_filter": "refusal",
}  # fmt: skip
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""The least number for a time in nanoseconds, microseconds and milliseconds, each with its units per second."""
_FAILURES: dict[int, FailureKind] = {
    400: "invalid_request", 401: "authentication", 403: "authentication", 404: "not_found", 408: "timeout",
    413: "context_window", 429: "rate_limit", 503: "overloaded", 529: "overloaded",
}  # fmt: skip


@dataclass(frozen=True)
class ModelCall:
    """One request to a model, and its outcome.

    Attributes:
        request: In the form of the Messages API: `model`, `messages`, `system`, `tools`.
        response: The message; None if the call failed, which `failure` and `detail` describe.
        cost_usd: The cost, if it was recorded.
    """

    request: Json
    response: Json | None
    failure: FailureKind = "connection"
    detail: str = ""
    began_at: float | None = None
    ended_at: float | None = None
    cost_usd: float | None = None

    @property
    def called(self) -> list[str]:
        """The ids of the tool calls in its reply."""
        content = self.response["content"] if self.response else ()
        return [block["id"] for block in content if block["type"] == "tool_use"]


@dataclass(frozen=True)
class ToolRun:
    """One run of a tool, from a span; without an id, its name identifies it."""

    call_id: str
    name: str
    output: str
    failed: bool = False
    began_at: float | None = None
    ended_at: float | None = None


@dataclass
class ForeignTrace:
    """One recording of another program.

    Attributes:
        id: The id in the file; empty if there is none.
        missing: The parts that it lacks, a phrase each.
    """

    id: str
    form: str
    agent: str = ""
    calls: list[ModelCall] = field(default_factory=list)
    runs: list[ToolRun] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


Read = Callable[[], ForeignTrace]
"""Reads one trace of a file; raises BadInputError if it cannot be used."""


def request_of(
    said: Conversation, model: object, tools: object, max_tokens: object = None
) -> Json:
    """Returns a Messages API request with the conversation so far.

    Raises:
        BadInputError: The conversation is empty, or the requests have grown too large together.
    """
    if said.shown > MOST_SHOWN:
        raise BadInputError(TOO_MUCH)
    request: Json = {
        "model": str(model or "unknown"),
        "messages": said.messages,
        "max_tokens": whole(max_tokens),
    }
    if not request["messages"]:
        raise BadInputError(
            "it does not say what its model was asked: let the contents of messages be recorded too"
        )
    if said.system:
        request["system"] = list(said.system)
    if offered := tools_of(tools):
        request["tools"] = offered
    return request


def replied(
    said: Conversation, given: object, model: str, stop: object, usage: Json
) -> Json:
    """Returns a reply as a Messages API message, and adds it to the conversation.

    Args:
        given: The reply's messages, of any shape.
    """
    content: list[Json] = []
    for each in listed(given):
        message = each if isinstance(each, dict) else {"content": each}
        stop = stop or message.get("finish_reason") or message.get("stop_reason")
        content += said.add({**message, "role": "assistant"})
    if isinstance(stop, list):
        stop = next(iter(stop), None)
    return {
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": _STOPS.get(str(stop), stop),
        "usage": usage,
    }


def seconds(value: Any) -> float | None:
    """Returns a time in seconds since the epoch; None if the value is not a time."""
    found = 0.0
    # Either an ISO date or a number (also as text) in any unit.
    with suppress(TypeError, ValueError, OverflowError):
        found = datetime.fromisoformat(value).timestamp()
    with suppress(TypeError, ValueError, OverflowError):
        found = float(value)
    for least, second in _UNITS:
        if found >= least:
            found /= second
            break
    # Also excludes NaN, which is in no range.
    return found if 0 < found <= MOST_AT else None


def whole(value: object) -> int:
    """Returns a count; 0 if the value cannot be one."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value < 2**53 else 0


def counted(
    prompt: object, completion: object, cached: object, stored: object = 0
) -> Json:
    """Returns the usage of a reply from a count of all its input, which includes cached tokens."""
    read, wrote = whole(cached), whole(stored)
    return {
        "input_tokens": max(0, whole(prompt) - read - wrote),
        "output_tokens": whole(completion),
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": wrote,
    }


def failure_of(status: object) -> FailureKind:
    """Returns the kind of failure for an HTTP status, or for a span's substitute of one."""
    text = str(status)
    if "timeout" in text.lower():
        return "timeout"
    code = int(text) if text.isdecimal() and len(text) == 3 else 0
    return _FAILURES.get(code, "server_error" if code >= 500 else "connection")
