"""A fork: a trace up to one event, that event changed, and what is asked from there on answered as the mode says."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from antiphon.composition.wiring import Resources
from antiphon.coordinator import receive
from antiphon.history.divergence import kind_of
from antiphon.history.lineage import brought_as
from antiphon.history.overrides import with_reply, with_result, without_passages
from antiphon.history.recorded_ports import recorded_model, recorded_tools
from antiphon.traces import event_of, plain
from antiphon.vocabulary.errors import BadInputError, DecodeError
from antiphon.vocabulary.events import (
    Event,
    QueryClosed,
    QueryReceived,
    ReasoningCompleted,
    Recorded,
    ToolFailed,
    ToolSucceeded,
)
from antiphon.vocabulary.settings import check_settings
from antiphon.vocabulary.values import Value

Mode = Literal["recorded", "remodel", "live"]
"""`recorded`: what is asked for as before is answered from the recording, the rest live; `remodel`: tools so, the model
live; `live`: everything live."""


FORKED = "forked from "
"""What a fork says first, before its parent's id."""


class Change(Value, frozen=True, kw_only=True):
    """One thing that a fork changes.

    Attributes:
        kind: `set` a field of the event, a `setting` of the query, the `reply` of a reasoning call, the result of a
            `tool`, or `drop` a passage wherever it was found.
        name: The field, the setting, the tool call's id or the passage's id; empty for a reply.
        value: JSON, or plain text where that is meant.
    """

    kind: Literal["set", "setting", "reply", "tool", "drop"]
    name: str = ""
    value: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip() + (f" = {self.value[:60]}" if self.value else "")


def by_passage(events: Sequence[Recorded[Event]], changes: Sequence[Change]) -> list[Change]:
    """The changes with the ids of the passages that tools brought, where facts are named (`f1`) or what became of
    several passages that touch."""
    found: list[Change] = []
    for change in changes:
        names = brought_as(events, change.name) if change.kind == "drop" else [change.name]
        found += [replace(change, name=name) for name in names]
    return found


def changed(
    events: Sequence[Recorded[Event]], at: int | None, changes: Sequence[Change], query_id: str, why: str = ""
) -> list[Recorded[Event]]:
    """The events up to the changed one, under a new id, with the changes made.

    Args:
        at: 0 shares nothing but the question, which is then the only event returned.
        why: What else the fork changes, in words.

    Raises:
        BadInputError: There is nothing to change, no such event, a change does not fit its event, or the query is over
            by then.
    """
    if not changes and at is None:
        raise BadInputError("A fork needs an event to fork at (--at) or something to change.")
    for change in changes:
        _place_of(events, change)  # what is not there is refused, wherever the fork begins
    at = _last_of(events, changes) if at is None else at
    if not 0 <= at <= len(events):
        raise BadInputError(f"There is no event {at}: the trace has the events 1 to {len(events)}.")
    parent = events[0].query_id
    prefix = [replace(recorded, query_id=query_id) for recorded in events[: max(at, 1)]]
    if any(isinstance(recorded.event, QueryClosed) for recorded in prefix):
        raise BadInputError(f"The query is over at event {at}: nothing can differ after it, so fork at an earlier one.")
    for change in changes:
        prefix = _applied(prefix, change)
    first = prefix[0].event
    if not isinstance(first, QueryReceived):
        raise BadInputError("The trace does not begin with a question: it cannot be forked.")
    _check_question(first, events[0].event)
    words = "; ".join((*map(str, changes), *([why] if why else [])))
    prefix[0] = replace(prefix[0], event=replace(first, parent=parent, parent_seq=at, change=words))
    return prefix


def _check_question(first: QueryReceived, parent: Event) -> None:
    """Refuses a question and settings that no caller could have sent."""
    check_settings(first.settings)
    if isinstance(parent, QueryReceived) and first.query != parent.query:
        receive(first.query, first.session_id, first.settings)


def recorded_parts(
    parts: Resources, events: Sequence[Recorded[Event]], changes: Sequence[Change], mode: Mode
) -> Resources:
    """The parts with those doors that the mode closes leading to the recording."""
    dropped = frozenset(change.name for change in changes if change.kind == "drop")
    if mode == "live" and not dropped:
        return parts
    tools = recorded_tools(parts.tools, () if mode == "live" else events, dropped, live=mode == "live")
    models = parts.models
    if mode == "recorded":
        models = {name: recorded_model(model, events) for name, model in parts.models.items()}
    return dataclasses.replace(parts, tools=tools, models=models)


def _last_of(events: Sequence[Recorded[Event]], changes: Sequence[Change]) -> int:
    """The event that the changes name, the latest of them; what is dropped is so from where it is met first."""
    places = [(change.kind, place) for change in changes if (place := _place_of(events, change)) is not None]
    dropped = [place for kind, place in places if kind == "drop"]
    named = [place for kind, place in places if kind != "drop"] + ([min(dropped)] if dropped else [])
    if not named:
        raise BadInputError("These changes name no event: say which with --at.")
    return max(named)


def _place_of(events: Sequence[Recorded[Event]], change: Change) -> int | None:
    if change.kind == "setting":
        return 1
    for recorded in events:
        if change.kind == "tool" and _outcome_of(recorded.event, change.name):
            return recorded.seq
        if change.kind == "drop" and _brings(recorded.event, change.name):
            return recorded.seq
    if change.kind in ("tool", "drop"):
        raise BadInputError(f"Nothing in the trace is called {change.name!r}: `antiphon traces lineage` names all.")
    return None


def _applied(prefix: list[Recorded[Event]], change: Change) -> list[Recorded[Event]]:
    """The prefix with one change made: in its last event, or where the change says."""
    if change.kind == "drop":
        places = [at for at, recorded in enumerate(prefix) if _brings(recorded.event, change.name)]
    elif change.kind == "tool":
        places = [(_place_of(prefix, change) or len(prefix)) - 1]
    else:
        places = [0 if change.kind == "setting" else len(prefix) - 1]
    told = list(prefix)
    for place in places:
        told[place] = replace(told[place], event=_changed_event(told[place].event, change))
    return told


def _changed_event(event: Event, change: Change) -> Event:
    match change.kind, event:
        case "set", _:
            return _with(event, change.name.split("."), change.value)
        case "setting", QueryReceived():
            return _with(event, ["settings", *change.name.split(".")], change.value)
        case "reply", ReasoningCompleted():
            return with_reply(event, change.value)
        case "tool", ToolSucceeded() | ToolFailed():
            return with_result(event, change.value)
        case "drop", ToolSucceeded():
            return without_passages(event, frozenset({change.name}))
    raise BadInputError(f"`{change}` does not fit {kind_of(event)}: name another event with --at.")


def _with(event: Event, path: Sequence[str], value: str) -> Event:
    """The event with the field at `path` replaced, checked like any event that is read."""
    whole = plain(event)
    holder: object = whole
    for name in path[:-1]:
        holder = _inside(holder, name, event)
    _put(holder, path[-1], _value(value), event)
    try:
        return event_of(whole)
    except DecodeError as error:
        raise BadInputError(f"`{'.'.join(path)}` of {kind_of(event)} cannot be {value[:80]!r}: {error}") from error


def _inside(holder: object, name: str, event: Event) -> object:
    if isinstance(holder, dict) and name in holder:
        return holder[name]
    if isinstance(holder, list) and name.isdigit() and int(name) < len(holder):
        return holder[int(name)]
    raise BadInputError(f"{kind_of(event)} has no field {name!r} there.")


def _put(holder: object, name: str, value: object, event: Event) -> None:
    _inside(holder, name, event)
    if isinstance(holder, dict):
        holder[name] = value
    elif isinstance(holder, list):
        holder[int(name)] = value


def _value(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _outcome_of(event: Event, call_id: str) -> bool:
    return isinstance(event, ToolSucceeded | ToolFailed) and event.tool_call_id == call_id


def _brings(event: Event, passage_id: str) -> bool:
    return isinstance(event, ToolSucceeded) and any(passage.id == passage_id for passage in event.passages)
