"""Prepares a fork: the shared beginning of a trace with the changes applied, at present times and versions."""

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
"""`recorded`: the recording answers all calls, and if it lacks an answer the query stops; nothing is live. `remodel`:
the model is live, and tools are if the recording lacks a result. `live`: everything is live."""

Trace = Sequence[Recorded[Event]]
Versions = tuple[tuple[str, str], ...]

FORKED = "forked from "
"""The beginning of `QueryResumed.why` in a fork, before its parent's id."""
FORK_VERSION = "fork."
"""The prefix of the name of a version that applies only to the fork's own part."""


class PreparedFork(NamedTuple):
    """A fork ready to begin.

    Attributes:
        events: The parent's trace.
        prefix: Its own events up to the last shared one, at the parent's times.
        shared: The number of shared events; 0 if it shares only the question.
    """

    events: Trace
    changes: Sequence[Change]
    prefix: list[Recorded[Event]]
    shared: int


def by_passage(events: Trace, changes: Sequence[Change]) -> list[Change]:
    """Returns the changes with the names of facts (`f1`) and tool calls looked up.

    A dropped fact becomes a change for each passage of it that tools returned; one to show comes with its text.

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
    """Returns the id of the tool call that a name means: an id itself, or the number of an event about the call."""
    if not name.isdecimal():
        return name
    for recorded in events:
        if recorded.event.about.kind != "tool_call":
            continue
        call_id = str(recorded.event.subject())
        # Compares ids too, because some servers use numbers as ids.
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
    """Returns the events up to the changed one, under a new id, with the changes applied.

    Args:
        at: The last shared event; None: the last one that the changes name. 0 shares only the question, which is then
            the only event returned.
        faults: The faults to be injected into it, in words.
        catalog: All known events.

    Raises:
        BadInputError: There is no change, no such event, a change does not fit its event, or the query is over by then.
    """
    last = _last_shared(events, at, changes)
    # Always includes the question, without which there is no query.
    prefix: list[Recorded[Event]] = []
    for recorded in events[: max(last, 1)]:
        if isinstance(recorded.event, QueryClosed):
            raise BadInputError(
                f"The query is over at event {last}: nothing can differ after it, so fork at an earlier one."
            )
        prefix.append(replace(recorded, query_id=query_id))
    # One after the other, because several changes may apply to the same event.
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
    """Returns the shared events moved in time to end now, and the seconds of the move.

    A fork is a query of today: at its parent's times it would be listed, and deleted, as an old one.
    """
    # Whole seconds keep all differences between times exact to the last bit, because rules compute with them.
    shift_s = max(0.0, float(floor(now - prefix[-1].at)))
    moved = [replace(recorded, at=recorded.at + shift_s) for recorded in prefix]
    return moved, shift_s


def with_todays(recorded: Versions, now: Versions) -> Versions:
    """Returns the versions of a fork: its parent's for the shared part, and `fork.NAME` for others in its own part."""
    known = dict(recorded)
    others = [
        (f"{FORK_VERSION}{name}", version)
        for name, version in now
        if known.get(name) != version
    ]
    kept = [each for each in recorded if not each[0].startswith(FORK_VERSION)]
    return (*kept, *others)


def _last_shared(events: Trace, at: int | None, changes: Sequence[Change]) -> int:
    if not changes and at is None:
        raise BadInputError(
            "A fork needs an event to fork at (--at) or something to change."
        )
    # Computed even if `at` is given, because it refuses changes that name nothing in the trace.
    named = [_first_place(events, change) for change in changes]
    if at is None:
        return _last_named(changes, named)
    if not 0 <= at <= len(events):
        raise BadInputError(
            f"There is no event {at}: the trace has the events 1 to {len(events)}."
        )
    return at


def _last_named(changes: Sequence[Change], named: Sequence[int | None]) -> int:
    """Returns the last event that the changes name; of dropped passages only the first counts."""
    found: list[int] = []
    dropped: list[int] = []
    for change, seq in zip(changes, named, strict=True):
        if seq is not None and change.kind == "drop":
            dropped.append(seq)
        elif seq is not None:
            found.append(seq)
    # Events after the first dropped passage were decided in view of it, so none of them can be shared.
    found += sorted(dropped)[:1]
    if not found:
        raise BadInputError("These changes name no event: say which with --at.")
    return max(found)


def _first_place(events: Trace, change: Change) -> int | None:
    """Returns the first event that a change itself names; None for one that may apply to any event."""
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
    # A passage may have been found several times, and must be dropped from all results.
    return [
        place
        for place, recorded in enumerate(prefix)
        if _is_named_by(change, recorded.event)
    ]


def _is_named_by(change: Change, event: Event) -> bool:
    """Returns True if an event is the outcome of the tool call, or contains the passage, that a change names."""
    match event:
        case ToolSucceeded() if change.kind == "drop":
            return change.name in [passage.id for passage in event.passages]
        case ToolSucceeded() | ToolFailed() if change.kind == "tool":
            return event.tool_call_id == change.name
    return False


def _checked_question(first: Event, parent: Event) -> QueryReceived:
    """Checks changed settings and a changed question as if a caller had sent them."""
    if not isinstance(first, QueryReceived):
        raise BadInputError(
            "The trace does not begin with a question: it cannot be forked."
        )
    # Unchanged ones were accepted before, perhaps by a service with other limits.
    if not isinstance(parent, QueryReceived) or first.settings != parent.settings:
        check_settings(first.settings)
    if isinstance(parent, QueryReceived) and first.query != parent.query:
        receive(first.query, first.session_id, first.settings)
    return first
