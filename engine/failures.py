"""Every way in which a call of the Messages API fails, as one `ModelError`; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

import msgspec

from antiphon.engine.connection_failures import PROXY_REMEDY
from antiphon.engine.wire_json import as_object
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.events import FailureKind
from antiphon.vocabulary.ports import Json

PROXY_REFUSED = 407
MOST_MS = 86_400 * 1000
"""A number from there on (a day in milliseconds) is taken for no wait at all."""

_RETRYABLE: frozenset[str] = frozenset(
    {
        "rate_limit",
        "overloaded",
        "timeout",
        "silence",
        "connection",
        "truncated_stream",
        "stream_error",
        "server_error",
    }
)
_BY_STATUS: dict[int, FailureKind] = {
    401: "authentication",
    402: "authentication",
    403: "authentication",
    404: "not_found",
    405: "wrong_address",
    PROXY_REFUSED: "connection",
    408: "timeout",
    409: "server_error",
    413: "context_window",
    429: "rate_limit",
    504: "timeout",
    529: "overloaded",
}
_BY_TYPE: dict[str, FailureKind] = {
    "rate_limit_error": "rate_limit",
    "overloaded_error": "overloaded",
    "timeout_error": "timeout",
    "invalid_request_error": "invalid_request",
    "authentication_error": "authentication",
    "permission_error": "authentication",
    "not_found_error": "not_found",
    # llama.cpp's own (https://github.com/ggml-org/llama.cpp, tools/server)
    "unavailable_error": "overloaded",
    "not_supported_error": "invalid_request",
    "exceed_context_size_error": "context_window",
}


_TOO_LONG = re.compile(
    r"prompt is too long|context (?:window|length|size)|too many tokens|exceeds? .{0,40}context|too large to process",
    re.I,
)
"""Words of servers for a request that does not fit the model's context; the Messages API sends them with a 400."""
_MAY_BE_TOO_LONG = ("invalid_request", "stream_error", "server_error")
_NO_SUCH_PATH = re.compile(
    r"\b(?:path|route|url|endpoint|page|file|resource)\b|^not found\W*$", re.I
)
"""Words of servers for a path that they do not know."""
_ADDRESS_REMEDY = "ANTHROPIC_BASE_URL is the part before /v1/messages"


def from_status(
    status: int, headers: Mapping[str, str], body: bytes, path: str
) -> ModelError:
    """Reads the failure behind a status code.

    Args:
        path: The path that was asked for, to be named if nothing is there.
    """
    error = _error_in(body)
    sentence = _sentence(error, body)
    kind = _BY_STATUS.get(status) or _kind_of_class(status)
    if kind == "not_found" and not _is_about_model(error):
        kind = "wrong_address"
    kind = _with_context_window(kind, sentence)
    found = f"the server answered {status}"
    if kind == "wrong_address":
        found += f", there is no Messages API at {path} ({_ADDRESS_REMEDY})"
    if status == PROXY_REFUSED:
        found += f" ({PROXY_REMEDY})"
    return ModelError(
        kind,
        f"{found}: {sentence}",
        retryable=_should_retry(
            headers, kind in _RETRYABLE and status != PROXY_REFUSED
        ),
        retry_after_s=retry_after(headers),
        request_id=headers.get("request-id"),
        # What is between us and the API may give up, and say so in words of its own, while the API still writes.
        unbilled=kind != "timeout" and (status < 500 or error is not None),
    )


def _should_retry(headers: Mapping[str, str], by_table: bool) -> bool:
    """Returns True if another attempt may help: the Messages API decides itself, and its word goes before our table."""
    word = headers.get("x-should-retry")
    if word in ("true", "false"):
        return word == "true"
    return by_table


def from_error_event(event: Json, request_id: str | None = None) -> ModelError:
    """Reads the failure behind an `error` event, which may come in mid-stream under HTTP 200."""
    error = event.get("error")
    error_type = "error"
    sentence = str(error)
    kind: FailureKind = "stream_error"
    if isinstance(error, dict):
        error_type = str(error.get("type") or "error")
        sentence = _message_of(error)
        kind = _kind_of_error(error)
    kind = _with_context_window(kind, sentence)
    return ModelError(
        kind,
        f"the server broke off with {error_type[:60]}: {sentence}",
        retryable=kind in _RETRYABLE,
        request_id=request_id,
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Returns the seconds that the server asks to wait, by `retry-after-ms` or `retry-after` (seconds or a date)."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _number(headers.get(name))
        if seconds is not None:
            return seconds * unit
    try:
        # Measured from the server's own clock, so that ours need be neither right nor read.
        until = parsedate_to_datetime(headers.get("retry-after", ""))
        return max(
            (until - parsedate_to_datetime(headers.get("date", ""))).total_seconds(),
            0.0,
        )
    except (ValueError, TypeError):
        return None


def _with_context_window(kind: FailureKind, sentence: str) -> FailureKind:
    """Returns `context_window` if a refusal says that the request is too long: a smaller one may pass."""
    if kind in _MAY_BE_TOO_LONG and _TOO_LONG.search(sentence):
        return "context_window"
    return kind


def _number(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < MOST_MS else None


def _kind_of_class(status: int) -> FailureKind:
    if status >= 500:
        return "server_error"
    return "invalid_request" if status >= 400 else "malformed"


def _kind_of_error(error: Json) -> FailureKind:
    """Returns the kind by the error's type, or by the status that some servers repeat as its code."""
    kind = _BY_TYPE.get(str(error.get("type")))
    if kind is not None:
        return kind
    code = error.get("code")
    # The 500 of a stream that broke off is what `stream_error` says.
    if type(code) is int and 400 <= code < 500:
        return _BY_STATUS.get(code, "invalid_request")
    return "stream_error"


def _error_in(body: bytes) -> Json | None:
    """Returns the error of a body that is JSON, in whichever shape; None for pages, such as proxies answer with."""
    whole = as_object(body.decode("utf-8", "replace"))
    if whole is None:
        return None
    error = whole.get("error")
    if isinstance(error, dict):
        return error
    return whole


def _sentence(error: Json | None, body: bytes) -> str:
    if error is not None:
        return f"{error.get('type', 'error')}: {_message_of(error)}"
    page = " ".join(body.decode("utf-8", "replace").split())
    if not page:
        return "an empty page"
    return f"a page that is no JSON, perhaps of a proxy: {page!r}"


def _message_of(error: Json) -> str:
    """Returns an error's message; if it has none, all of it, for something in it may say what is wrong."""
    for field in ("message", "detail", "error"):
        message = error.get(field)
        if isinstance(message, str) and message:
            return message
    return msgspec.json.encode(error).decode()


def _is_about_model(error: Json | None) -> bool:
    """Returns True if a 404 is about the model that was named, and not about the path."""
    if error is None:
        return False
    message = _message_of(error)
    if "model" in message.lower():
        return True
    return error.get("type") == "not_found_error" and not _NO_SUCH_PATH.search(message)
