"""Compares a query's recorded tools with today's."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from antiphon.history.forking import FORK_VERSION
from antiphon.history.verifying import Finding
from antiphon.vocabulary.events import (
    Event,
    QueryClosed,
    QueryReceived,
    QueryResumed,
    ReasoningStarted,
    Recorded,
)
from antiphon.vocabulary.typed import prepared
from antiphon.vocabulary.values import StoredText

OTHERS = "today's tools: they are others ({changes}), and the requests were built with the recorded ones"
"""Reported for a trace whose tools have changed since; its replay uses the recorded ones."""


class ToolCheck:
    """Checks that the requests offered the tools that the query began with, and reports differences from today's.

    Args:
        now: The definitions of today's tools; None if they are not known here.
    """

    hears = (QueryReceived, QueryResumed, ReasoningStarted, QueryClosed)
    compares: tuple[type[Event], ...] = ()

    def __init__(self, now: StoredText | None) -> None:
        self._now = now
        self._key: str | None = None
        self._compared = now is None

    def hear(self, recorded: Recorded[Event]) -> Finding | None:
        match recorded.event:
            case QueryReceived() as first:
                self._key = _key_of(first)
                # Another program's tools are never compared with ours.
                self._compared = self._compared or first.imported is not None
            case QueryResumed():
                # Another process may go on, with other tools than the process that received the question.
                self._key = None
            case ReasoningStarted() as started:
                recorded_tools = started.tool_definitions or started.request.tools
                if recorded_tools is not None:
                    return self._compare(recorded_tools)
            case QueryClosed():
                return self._compare_key()
        return None

    def _compare(self, recorded: StoredText) -> Finding | None:
        if self._key is not None and recorded.key != self._key:
            return Finding(None, "its tools are not those that the query began with")
        if self._compared or self._now is None:
            return None
        self._compared = True
        if recorded == self._now:
            return None
        changes = "; ".join(changes_of(recorded, self._now))
        return Finding(None, OTHERS.format(changes=changes), "settings")

    def _compare_key(self) -> Finding | None:
        """Compares only the hash, if no request in the trace contains the tools."""
        if self._compared or self._now is None or self._key in (None, self._now.key):
            return None
        return Finding(
            None, OTHERS.format(changes="no request shows which"), "settings"
        )


def _key_of(first: QueryReceived) -> str | None:
    """Returns the hash of the tools that a query began with; for a fork that shares only the question, its own."""
    versions = dict(first.versions)
    if first.parent is not None and first.parent_seq == 0:
        return versions.get(f"{FORK_VERSION}tools", versions.get("tools"))
    return versions.get("tools")


def changes_of(recorded: StoredText, now: StoredText) -> list[str]:
    """Returns the changes in the definitions of tools, a phrase each, in the order of the tools."""
    before, after = _by_name(recorded), _by_name(now)
    changes = _gone_and_new("tool", before, after)
    for name in sorted(before.keys() & after.keys()):
        for change in _changes_of_one(before[name], after[name]):
            changes.append(f"{name}: {change}")
    return changes or ["their order or form"]


def _by_name(definitions: StoredText) -> dict[str, _Definition]:
    try:
        found = msgspec.json.decode(definitions.text, type=prepared(list[_Definition]))
    except (msgspec.MsgspecError, RecursionError):
        return {}  # a trace from a file may contain anything
    return {definition.name: definition for definition in found}


class _Schema(msgspec.Struct, frozen=True):
    properties: dict[str, object] = {}
    required: list[str] = []


class _Definition(msgspec.Struct, frozen=True):
    name: str
    description: str = ""
    input_schema: _Schema = _Schema()


def _gone_and_new(
    what: str, before: Mapping[str, object], after: Mapping[str, object]
) -> list[str]:
    gone = [
        f"the {what} `{name}` is gone" for name in sorted(before.keys() - after.keys())
    ]
    new = [
        f"the {what} `{name}` is new" for name in sorted(after.keys() - before.keys())
    ]
    return gone + new


def _changes_of_one(before: _Definition, after: _Definition) -> list[str]:
    old, new = before.input_schema.properties, after.input_schema.properties
    changes = _gone_and_new("parameter", old, new)
    for name in sorted(old.keys() & new.keys()):
        if old[name] != new[name]:
            changes.append(f"the parameter `{name}` has another schema")
    if set(before.input_schema.required) != set(after.input_schema.required):
        changes.append("other parameters are required")
    if before.description != after.description:
        changes.append("it is described otherwise")
    return changes
