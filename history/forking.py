"""Prepares a fork: the shared beginning of a trace with the changes made, and the ports for what follows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from antiphon.composition import Resources
from antiphon.coordinator import receive
from antiphon.history.changes import Change, change_event
from antiphon.history.origins import found_passages
from antiphon.history.recorded_ports import recorded_model, recorded_tools
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import (
    Event,
    QueryClosed,
    QueryReceived,
    Reasoner,
    Recorded,
    ToolFailed,
    ToolSucceeded,
)
from antiphon.vocabulary.ports import Model
from antiphon.vocabulary.settings import check_settings

Mode = Literal["recorded", "remodel", "live"]
"""`recorded`: requests that were recorded are answered from the recording, the others live; `remodel`: so for tools,
the model live; `live`: everything live."""

Trace = Sequence[Recorded[Event]]

FORKED = "forked from "
"""The beginning of `QueryResumed.why` in a fork, before its parent's id."""


def by_passage(events: Trace, changes: Sequence[Change]) -> list[Change]:
    """Returns the changes, with one for each passage that tools brought in the place of a dropped fact (`f1`)."""
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
        why: Words for whatever else the fork changes.
        catalog: The events that there are.

    Raises:
        BadInputError: There is nothing to change, no such event, a change does not fit its event, or the query is over
            by then.
    """
    last = _last_shared(events, at, changes)
    # The question is always there: without it there would be no query to fork.
    prefix: list[Recorded[Event]] = []
    for recorded in events[: max(last, 1)]:
        if isinstance(recorded.event, QueryClosed):
            raise BadInputError(
                f"The query is over at event {last}: nothing can differ after it, so fork at an earlier one."
            )
        prefix.append(replace(recorded, query_id=query_id))
    # One after the other, since several changes may be of the same event.
    for change in changes:
        for place in _places_of(prefix, change):
            prefix[place] = replace(
                prefix[place], event=change_event(prefix[place].event, change, catalog)
            )
    words = [str(change) for change in changes]
    if why:
        words.append(why)
    first = _checked_question(prefix[0].event, events[0].event)
    first = replace(
        first, parent=events[0].query_id, parent_seq=last, change="; ".join(words)
    )
    return [replace(prefix[0], event=first), *prefix[1:]]


def recorded_resources(
    resources: Resources,
    events: Trace,
    changes: Sequence[Change],
    mode: Mode,
    *,
    effects: bool = True,
) -> Resources:
    """Returns the resources with those ports that the mode closes answering from the recording.

    Args:
        effects: A live fork may run tools that change something outside.
    """
    dropped = frozenset(change.name for change in changes if change.kind == "drop")
    # A passage that is dropped may be found again by another call, recorded or live: every tool leaves it out.
    if mode == "live":
        if effects and not dropped:
            return resources
        return dataclasses.replace(
            resources, tools=recorded_tools(resources.tools, (), dropped, live=effects)
        )
    tools = recorded_tools(resources.tools, events, dropped)
    if mode == "remodel":
        return dataclasses.replace(resources, tools=tools)
    models: dict[Reasoner, Model] = {}
    for name, model in resources.models.items():
        models[name] = recorded_model(model, events)
    return dataclasses.replace(resources, tools=tools, models=models)


def _last_shared(events: Trace, at: int | None, changes: Sequence[Change]) -> int:
    if not changes and at is None:
        raise BadInputError(
            "A fork needs an event to fork at (--at) or something to change."
        )
    # Computed even where `at` is given: a change that names nothing in the trace is refused in any case.
    named = [_first_place(events, change) for change in changes]
    if at is None:
        return _last_named(changes, named)
    if not 0 <= at <= len(events):
        raise BadInputError(
            f"There is no event {at}: the trace has the events 1 to {len(events)}."
        )
    return at


def _last_named(changes: Sequence[Change], named: Sequence[int | None]) -> int:
    """Returns the last event that the changes name; of the passages that are dropped only the first counts."""
    found: list[int] = []
    dropped: list[int] = []
    for change, seq in zip(changes, named, strict=True):
        if seq is not None and change.kind == "drop":
            dropped.append(seq)
        elif seq is not None:
            found.append(seq)
    # What follows the first of the dropped passages was decided with it in view, so none of that is shared.
    found += sorted(dropped)[:1]
    if not found:
        raise BadInputError("These changes name no event: say which with --at.")
    return max(found)


def _first_place(events: Trace, change: Change) -> int | None:
    """Returns the first event that a change names by itself; None for one that fits any event."""
    if change.kind == "setting":
        return 1
    if change.kind not in ("tool", "drop"):
        return None
    for recorded in events:
        if _is_named_by(change, recorded.event):
            return recorded.seq
    raise BadInputError(
        f"Nothing in the trace is called {change.name!r}: `antiphon traces lineage` names all."
    )


def _places_of(prefix: Trace, change: Change) -> list[int]:
    """Returns the indexes of the events to change: those that the change names, or else the last."""
    if change.kind != "drop":
        seq = _first_place(prefix, change)
        if seq is None:
            seq = len(prefix)
        return [seq - 1]
    # A passage may have been found several times; a fork in which one of them is left would still show it.
    places: list[int] = []
    for place, recorded in enumerate(prefix):
        if _is_named_by(change, recorded.event):
            places.append(place)
    return places


def _is_named_by(change: Change, event: Event) -> bool:
    """Returns True if an event is the outcome of the tool call, or brought the passage, that a change names."""
    match event:
        case ToolSucceeded() if change.kind == "drop":
            return change.name in [passage.id for passage in event.passages]
        case ToolSucceeded() | ToolFailed() if change.kind == "tool":
            return event.tool_call_id == change.name
    return False


def _checked_question(first: Event, parent: Event) -> QueryReceived:
    """Checks a question and its settings as if a caller had sent them."""
    if not isinstance(first, QueryReceived):
        raise BadInputError(
            "The trace does not begin with a question: it cannot be forked."
        )
    check_settings(first.settings)
    # An unchanged question was accepted once, maybe by a service that takes longer ones.
    if isinstance(parent, QueryReceived) and first.query != parent.query:
        receive(first.query, first.session_id, first.settings)
    return first
