"""Prepares a fork: the shared beginning of a trace with the changes made, and the ports for what follows."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Literal, NamedTuple

from msgspec.structs import replace

from antiphon.coordinator import receive
from antiphon.history.changes import Change, change_event
from antiphon.history.origins import facts_in, found_passages
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import (
    Event,
    QueryClosed,
    QueryReceived,
    Recorded,
    ToolFailed,
    ToolSucceeded,
)
from antiphon.vocabulary.settings import check_settings
from antiphon.vocabulary.values import Fact

Mode = Literal["recorded", "remodel", "live"]
"""`recorded`: every call is answered as it was recorded, and if there is no such recording the query stops; nothing
is live. `remodel`: the model is live, and tools if nothing is recorded. `live`: everything is live."""

Trace = Sequence[Recorded[Event]]
Versions = tuple[tuple[str, str], ...]

FORKED = "forked from "
"""The beginning of `QueryResumed.why` in a fork, before its parent's id."""
FORK_VERSION = "fork."
"""Before the name of a version that only the fork's own part has."""


class PreparedFork(NamedTuple):
    """A fork that is ready to begin.

    Attributes:
        events: The trace that it is a fork of.
        prefix: Its own events, up to the last that it shares, at the times of its parent.
        shared: How many events it shares; 0 if that is no more than the question.
    """

    events: Trace
    changes: Sequence[Change]
    prefix: list[Recorded[Event]]
    shared: int


def by_passage(events: Trace, changes: Sequence[Change]) -> list[Change]:
    """Returns the changes with the facts (`f1`) and the tool calls that they name looked up.

    A dropped fact becomes a change for each passage that tools brought of it; one to be shown is named with its text.

    Raises:
        BadInputError: There is no such fact or tool call.
    """
    found: list[Change] = []
    for change in changes:
        if change.kind == "tool":
            found.append(replace(change, name=_tool_call_named(events, change.name)))
            continue
        if change.kind == "show":
            found.append(replace(change, fact=_fact_called(events, change.name)))
            continue
        if change.kind != "drop":
            found.append(change)
            continue
        for passage_id in found_passages(events, change.name):
            found.append(replace(change, name=passage_id))
    return found


def _tool_call_named(events: Trace, name: str) -> str:
    """Returns the id of the tool call that a name stands for: the id itself, or the number of an event about it."""
    if not name.isdecimal():
        return name
    for recorded in events:
        if recorded.event.about.kind != "tool_call":
            continue
        call_id = str(recorded.event.subject())
        # Some servers count their calls.
        if name in (call_id, str(recorded.seq)):
            return call_id
    raise BadInputError(
        f"No event {name} of the trace is about a tool call: `antiphon traces show` has the numbers."
    )


def _fact_called(events: Trace, fact_id: str) -> Fact:
    fact = facts_in(events).get(fact_id)
    if fact is None:
        raise BadInputError(
            f"No fact of the trace is called {fact_id!r}: its briefings name them all."
        )
    return fact


def forked_prefix(
    events: Trace,
    at: int | None,
    changes: Sequence[Change],
    query_id: str,
    faults: tuple[str, ...] = (),
    catalog: Catalog = BUILT_IN,
) -> list[Recorded[Event]]:
    """Returns the events up to the changed one, under a new id, with the changes made.

    Args:
        at: The last event that is shared; None: the last one that the changes name. 0 shares nothing but the question,
            which is then the only event returned.
        faults: The faults that are injected into it, in words.
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
    words = [str(change) for change in changes] + list(faults)
    first = _checked_question(prefix[0].event, events[0].event)
    first = replace(
        first,
        parent=events[0].query_id,
        parent_seq=last,
        change="; ".join(words),
        faults=(*first.faults, *faults),
    )
    return [replace(prefix[0], event=first), *prefix[1:]]


def placed_in_time(prefix: Trace, now: float) -> tuple[list[Recorded[Event]], float]:
    """Returns the shared events at times that end now, and by how many seconds they were moved.

    A fork is a query of today: by the times of its parent it would be listed, and deleted, as one of long ago.
    """
    # Whole seconds leave every difference of two times as it was to the last bit, and rules compute with those.
    shift_s = max(0.0, float(floor(now - prefix[-1].at)))
    moved = [replace(recorded, at=recorded.at + shift_s) for recorded in prefix]
    return moved, shift_s


def with_todays(recorded: Versions, now: Versions) -> Versions:
    """Returns the versions of a fork: its parent's for what it shares, `fork.NAME` if its own part has others."""
    known = dict(recorded)
    others: list[tuple[str, str]] = []
    for name, version in now:
        if known.get(name) != version:
            others.append((f"{FORK_VERSION}{name}", version))
    kept = [each for each in recorded if not each[0].startswith(FORK_VERSION)]
    return (*kept, *others)


def _last_shared(events: Trace, at: int | None, changes: Sequence[Change]) -> int:
    if not changes and at is None:
        raise BadInputError(
            "A fork needs an event to fork at (--at) or something to change."
        )
    # Computed even if `at` is given: a change that names nothing in the trace is refused in any case.
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
        f"Nothing in the trace is called {change.name!r}: `antiphon traces lineage` names all, and a tool call may be "
        "named by the number of one of its events (`antiphon traces show`)."
    )


def _places_of(prefix: Trace, change: Change) -> list[int]:
    """Returns the indexes of the events to change: those that the change names, or else the last."""
    if change.kind != "drop":
        seq = _first_place(prefix, change) or len(prefix)
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
    # Settings and a question that are unchanged were accepted once, maybe by a service with other limits.
    if not isinstance(parent, QueryReceived) or first.settings != parent.settings:
        check_settings(first.settings)
    if isinstance(parent, QueryReceived) and first.query != parent.query:
        receive(first.query, first.session_id, first.settings)
    return first
