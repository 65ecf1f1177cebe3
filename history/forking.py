"""Begins a fork: a trace up to one event with a change made there, and the ports that answer what follows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from antiphon.composition import Resources
from antiphon.coordinator import receive
from antiphon.history.changes import Change, change_event
from antiphon.history.lineage import found_passages
from antiphon.history.recorded_ports import recorded_model, recorded_tools
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import Event, QueryClosed, QueryReceived, Recorded, ToolFailed, ToolSucceeded
from antiphon.vocabulary.settings import check_settings

Mode = Literal["recorded", "remodel", "live"]
"""`recorded`: what is asked for as before is answered from the recording, the rest live; `remodel`: tools so, the model
live; `live`: everything live."""

Trace = Sequence[Recorded[Event]]

FORKED = "forked from "
"""The beginning of `QueryResumed.why` in a fork, before its parent's id."""


def by_passage(events: Trace, changes: Sequence[Change]) -> list[Change]:
    """Returns the changes with each dropped fact (`f1`) as the passages, by id, that tools brought for it."""
    found: list[Change] = []
    for change in changes:
        if change.kind != "drop":
            found.append(change)
            continue
        for passage_id in found_passages(events, change.name):
            found.append(replace(change, name=passage_id))
    return found


def forked_prefix(
    events: Trace,
    at: int | None,
    changes: Sequence[Change],
    query_id: str,
    why: str = "",
    catalog: Catalog = BUILT_IN,
) -> list[Recorded[Event]]:
    """Returns the events up to the changed one, under a new id, with the changes made.

    Args:
        at: The last event that is shared; None: the last one that the changes name. 0 shares nothing but the question,
            which is then the only event returned.
        why: What else the fork changes, in words.
        catalog: The events that there are.

    Raises:
        BadInputError: There is nothing to change, no such event, a change does not fit its event, or the query is over
            by then.
    """
    last = _last_shared(events, at, changes)
    # The question is always there: without it there would be no query to fork.
    prefix = [replace(recorded, query_id=query_id) for recorded in events[: max(last, 1)]]
    if any(isinstance(recorded.event, QueryClosed) for recorded in prefix):
        raise BadInputError(
            f"The query is over at event {last}: nothing can differ after it, so fork at an earlier one."
        )
    for change in changes:
        for place in _places_of(prefix, change):
            prefix[place] = replace(prefix[place], event=change_event(prefix[place].event, change, catalog))
    words = [str(change) for change in changes]
    if why:
        words.append(why)
    first = _checked_question(prefix[0].event, events[0].event)
    first = replace(first, parent=events[0].query_id, parent_seq=last, change="; ".join(words))
    return [replace(prefix[0], event=first), *prefix[1:]]


def recorded_resources(resources: Resources, events: Trace, changes: Sequence[Change], mode: Mode) -> Resources:
    """Returns the resources with those ports that the mode closes answering from the recording."""
    dropped = frozenset(change.name for change in changes if change.kind == "drop")
    # A passage that is dropped may be found again by another call, recorded or live: every tool leaves it out.
    if mode == "live":
        if not dropped:
            return resources
        return dataclasses.replace(resources, tools=recorded_tools(resources.tools, (), dropped, live=True))
    tools = recorded_tools(resources.tools, events, dropped)
    if mode == "remodel":
        return dataclasses.replace(resources, tools=tools)
    models = {name: recorded_model(model, events) for name, model in resources.models.items()}
    return dataclasses.replace(resources, tools=tools, models=models)


def _last_shared(events: Trace, at: int | None, changes: Sequence[Change]) -> int:
    if not changes and at is None:
        raise BadInputError("A fork needs an event to fork at (--at) or something to change.")
    # Also where `at` is given: a change that names nothing in the trace is refused, wherever the fork begins.
    named = [_first_place(events, change) for change in changes]
    if at is None:
        return _last_named(changes, named)
    if not 0 <= at <= len(events):
        raise BadInputError(f"There is no event {at}: the trace has the events 1 to {len(events)}.")
    return at


def _last_named(changes: Sequence[Change], named: Sequence[int | None]) -> int:
    """Returns the last event that the changes name; passages that are dropped are so from the first of them on."""
    others: list[int] = []
    dropped: list[int] = []
    for change, seq in zip(changes, named, strict=True):
        if seq is None:
            continue
        if change.kind == "drop":
            dropped.append(seq)
        else:
            others.append(seq)
    if dropped:
        others.append(min(dropped))
    if not others:
        raise BadInputError("These changes name no event: say which with --at.")
    return max(others)


def _first_place(events: Trace, change: Change) -> int | None:
    """Returns the first event that a change names by itself; None for one that fits any event."""
    if change.kind == "setting":
        return 1
    if change.kind not in ("tool", "drop"):
        return None
    for recorded in events:
        if _is_named_by(change, recorded.event):
            return recorded.seq
    raise BadInputError(f"Nothing in the trace is called {change.name!r}: `antiphon traces lineage` names all.")


def _places_of(prefix: Trace, change: Change) -> list[int]:
    """Returns the indexes of the events to change: those that the change names, or else the last."""
    if change.kind == "setting":
        return [0]
    if change.kind == "drop":
        return [place for place, recorded in enumerate(prefix) if _is_named_by(change, recorded.event)]
    if change.kind == "tool":
        return [(_first_place(prefix, change) or len(prefix)) - 1]
    return [len(prefix) - 1]


def _is_named_by(change: Change, event: Event) -> bool:
    """Returns True if an event is the outcome of the tool call, or brought the passage, that a change names."""
    match event:
        case ToolSucceeded() if change.kind == "drop":
            return any(passage.id == change.name for passage in event.passages)
        case ToolSucceeded() | ToolFailed() if change.kind == "tool":
            return event.tool_call_id == change.name
    return False


def _checked_question(first: Event, parent: Event) -> QueryReceived:
    """Refuses a question and settings that no caller could have sent."""
    if not isinstance(first, QueryReceived):
        raise BadInputError("The trace does not begin with a question: it cannot be forked.")
    check_settings(first.settings)
    # An unchanged question was accepted once, maybe by a service that takes longer ones.
    if isinstance(parent, QueryReceived) and first.query != parent.query:
        receive(first.query, first.session_id, first.settings)
    return first
