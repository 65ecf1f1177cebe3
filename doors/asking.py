"""The declarations that all routes for questions share."""

from __future__ import annotations

from typing import Any

from fastapi import Response

from antiphon.api.bodies import JSON, require_json
from antiphon.api.door import at_the_door, needs
from antiphon.api.openapi import EVENTS
from antiphon.api.refusals import FULL, NOT_NOW, UNAVAILABLE, WITH_BODY, WITH_NAME
from antiphon.api.responses import EVENT_STREAM

_REFUSALS: dict[int | str, dict[str, Any]] = {
    **WITH_BODY,
    **WITH_NAME,
    **NOT_NOW,
    **FULL,
    **UNAVAILABLE,
}


def asking(summary: str, *, always_streams: bool = False) -> dict[str, Any]:
    """Returns the options of a route for questions: its scope, its answers, and its refusals."""
    content: dict[str, Any] = {EVENT_STREAM: EVENTS}
    if not always_streams:
        content = {JSON: {"schema": {"type": "object"}}} | content
    answer = {"description": "The answer; a stream as events.", "content": content}
    return {
        "summary": summary,
        "response_class": Response,
        "responses": {200: answer} | _REFUSALS,
        "dependencies": [needs("ask"), at_the_door(require_json)],
    }
