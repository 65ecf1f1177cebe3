"""Leaves long texts out of a trace's events, for readers who want to see the whole course of a query at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from antiphon.vocabulary.events import (
    Event,
    ReasoningRequested,
    ReasoningStarted,
    Recorded,
    SummaryRequested,
    SummaryWanted,
    ToolSucceeded,
)
from antiphon.vocabulary.values import StoredText

_NO_TEXT = StoredText("")


def _without_request(event: ReasoningStarted) -> Event:
    request = replace(event.request, system=_NO_TEXT, tools=None, messages=())
    return replace(event, request=request, tool_definitions=None)


def _without_texts(event: ToolSucceeded) -> Event:
    passages = [replace(each, text=_NO_TEXT, starts=(0,)) for each in event.passages]
    return replace(event, output=_NO_TEXT, passages=tuple(passages))


def _without_messages(
    event: ReasoningRequested | SummaryRequested | SummaryWanted,
) -> Event:
    return replace(event, messages=())


_SHORTER: Mapping[type[Event], Callable[[Any], Event]] = {
    ReasoningStarted: _without_request,
    ReasoningRequested: _without_messages,
    SummaryRequested: _without_messages,
    SummaryWanted: _without_messages,
    ToolSucceeded: _without_texts,
}
LEFT_OUT: dict[str, list[str]] = {
    "reasoning_started": ["request", "tool_definitions"],
    "reasoning_requested": ["messages"],
    "summary_requested": ["messages"],
    "summary_wanted": ["messages"],
    "tool_succeeded": ["output", "passages"],
}
"""The shortened fields, by the kind of event (a test holds the two tables together)."""


def brief(recorded: Recorded[Event]) -> Recorded[Event]:
    """Returns the event without its long texts; the very same one if it has none."""
    shorter = _SHORTER.get(type(recorded.event))
    if shorter is None:
        return recorded
    return replace(recorded, event=shorter(recorded.event))
