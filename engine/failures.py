"""Every way in which a call of the Messages API fails, as one `ModelError`; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

import anthropic
import httpx2

from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.events import FailureKind
from antiphon.vocabulary.ports import Json

MAX_DETAIL = 400
"""Characters of a server's message that go into an event."""
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
}


_TOO_LONG = re.compile(
    r"prompt is too long|context (?:window|length|size)|too many tokens|exceeds? .{0,40}context",
    re.I,
)
"""Words of servers for a request that does not fit the model's context; the Messages API sends them with a 400."""


def from_status(error: anthropic.APIStatusError) -> ModelError:
    """Reads the failure behind a status code."""
    headers = error.response.headers
    sentence = _sentence(error)
    kind = _BY_STATUS.get(error.status_code) or _kind_of_class(error.status_code)
    kind = _with_context_window(kind, sentence)
    # The Messages API decides itself if another attempt makes sense; its word goes before our table.
    should_retry = headers.get("x-should-retry")
    retryable = kind in _RETRYABLE
    if should_retry in ("true", "false"):
        retryable = should_retry == "true"
    return ModelError(
        kind,
        f"the server answered {error.status_code}: {sentence}",
        retryable=retryable,
        retry_after_s=retry_after(headers),
        request_id=headers.get("request-id"),
    )


def from_connection(
    error: Exception, *, streaming: bool, request_id: str | None = None
) -> ModelError:
    """Reads the failure behind a lost connection or a time limit, before the reply began or in the middle of it."""
    late = isinstance(
        error, (httpx2.TimeoutException, anthropic.APITimeoutError, TimeoutError)
    )
    if late and streaming:
        return ModelError(
            "silence",
            "the server fell silent in mid-reply",
            retryable=True,
            request_id=request_id,
        )
    if late:
        return ModelError(
            "timeout", "the server did not begin to answer in time", retryable=True
        )
    where = "broke off in mid-reply" if streaming else "failed"
    cause: BaseException = error
    if isinstance(error, anthropic.APIConnectionError) and error.__cause__:
        cause = error.__cause__  # The SDK's own sentence is only "Connection error."
    return ModelError(
        "connection",
        f"the connection to the server {where}: {type(cause).__name__} {cause}"[
            :MAX_DETAIL
        ].rstrip(),
        retryable=True,
        request_id=request_id,
    )


def from_error_event(event: Json, request_id: str | None = None) -> ModelError:
    """Reads the failure behind an `error` event, which may come in mid-stream under HTTP 200."""
    error = event.get("error")
    error_type = "error"
    sentence = str(error)
    if isinstance(error, dict):
        error_type = str(error.get("type"))
        sentence = str(error.get("message"))
    kind = _with_context_window(_BY_TYPE.get(error_type, "stream_error"), sentence)
    return ModelError(
        kind,
        f"the server broke off with {error_type[:60]}: {sentence[:MAX_DETAIL]}",
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
    """Returns `context_window` where a refusal says that the request is too long: a smaller one may pass."""
    if kind in ("invalid_request", "stream_error", "server_error") and _TOO_LONG.search(
        sentence
    ):
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


def _sentence(error: anthropic.APIStatusError) -> str:
    """Returns the message of the error's body, in whichever shape: proxies answer with pages of their own."""
    inner = error.body
    if isinstance(inner, dict):
        inner = inner.get("error", inner)
    if isinstance(inner, dict):
        return f"{inner.get('type', 'error')}: {inner.get('message', '')}"[:MAX_DETAIL]
    page = " ".join(str(inner).split())
    return f"a page that is no JSON: {page[:120]!r}" if page else "an empty page"
