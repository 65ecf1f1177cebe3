"""Failures in words for users, without the errors' own text, which may reveal internals."""

from __future__ import annotations

from antiphon.vocabulary.events import FailureKind, ToolFailureKind

TOOL_FAILURES: dict[ToolFailureKind, str] = {
    "unknown_tool": "there is no such tool",
    "invalid_arguments": "it was called in a way that it does not understand",
    "timeout": "it took too long",
    "error": "it failed",
    "not_found": "what it was asked for does not exist",
    "abandoned": "it was given up",
    "interrupted": "the service stopped while it ran, and it may not be run twice",
}

MODEL_FAILURES: dict[FailureKind, str] = {
    "rate_limit": "too many requests were made",
    "overloaded": "the provider was overloaded",
    "timeout": "it took too long",
    "silence": "it fell silent",
    "connection": "the provider could not be reached",
    "truncated_stream": "the reply broke off",
    "stream_error": "the provider reported an error in mid-reply",
    "malformed": "the reply could not be read",
    "authentication": "the provider did not accept the key",
    "invalid_request": "the provider did not accept the request",
    "not_found": "the provider does not know the model",
    "wrong_address": "there is no Messages API at the configured address",
    "server_error": "the provider had an error",
    "illegal_request": "the request was not a legal one",
    "context_window": "what it was shown did not fit its context",
    "abandoned": "it was given up",
    "out_of_tokens": "it used up its tokens in thinking",
}

LINE_CHARS = 200


def one_line(text: str) -> str:
    """Returns text from elsewhere fit for one of our sentences: on one line, cut, without its full stop."""
    # Cut before it is split too, so that a text of any length costs little.
    line = " ".join(text[: 2 * LINE_CHARS].split()).rstrip(".")
    if len(line) <= LINE_CHARS:
        return line
    return line[: LINE_CHARS - 1] + "…"
