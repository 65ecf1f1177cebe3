"""Matches the events of two traces by their place in the query, and reduces each to its comparable fields.

Both follow from the declarations of the events: their subjects, and their fields for times, places and a fork's parent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from antiphon.bus import PendingTable, fold_pending
from antiphon.history.forking import FORKED
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.events import (
    Event,
    QueryResumed,
    ReasoningStarted,
    Recorded,
    ToolCallStreamed,
    ToolStarted,
)
from antiphon.vocabulary.fields import Mark, marks_of
from antiphon.vocabulary.values import StoredText

Trace = Sequence[Recorded[Event]]

NEVER_ALIKE = frozenset({Mark.MEASURED, Mark.SEQ, Mark.RUN, Mark.FORK})
"""Marks of fields that differ between any two runs of the same query, so that a difference means nothing."""


class EventKey(NamedTuple):
    """The place of an event in its query, by which to find it in another trace.

    Attributes:
        subject: The call or round that it is about; a tool call by its order, because the model chooses ids.
        cause_kind: The kind of its cause, for an event about the query as a whole.
        number: Its number among several otherwise equal keys, from 1.
    """

    kind: str
    subject: str | int
    cause_kind: str
    number: int


Aligned = dict[EventKey, Recorded[Event]]


class ToolCallNames:
    """Names the tool calls of a trace by their order, instead of by the model's ids."""

    def __init__(self) -> None:
        self.by_id: dict[str, str] = {}

    @classmethod
    def of(cls, events: Trace) -> ToolCallNames:
        """Returns the names of all tool calls of a trace."""
        names = cls()
        for recorded in events:
            names.subject_of(recorded.event)
        return names

    def subject_of(self, event: Event) -> str | int:
        """Returns the subject of an event, with the name for a tool call."""
        subject = event.subject()
        if (
            event.about.kind != "tool_call"
            or not isinstance(subject, str)
            or not subject
        ):
            return subject
        return self.by_id.setdefault(subject, f"tool call {len(self.by_id) + 1}")

    def put_into(self, text: str) -> str:
        """Returns a text with ids replaced by names: the whole text if it is an id, or quoted ids within JSON."""
        if text in self.by_id:
            return self.by_id[text]
        # Only in quotes, so that an id such as `t1` is not found within words.
        for id_, name in self.by_id.items():
            if id_ in text:
                text = text.replace(f'"{id_}"', f'"{name}"')
        return text


def align(events: Trace, catalog: Catalog = BUILT_IN) -> Aligned:
    """Returns each event by its place in the query.

    Leaves out the event with which a fork begins, which is not a difference. A resumed query emits the events of an
    interrupted call again, and only the second time counts.
    """
    names = ToolCallNames()
    seen: Counter[EventKey] = Counter()
    found: Aligned = {}
    pending: PendingTable = {}
    for recorded in events:
        pending = fold_pending(pending, recorded, catalog)
        # Resuming settles nothing, so the pending requests are those that are repeated.
        if isinstance(recorded.event, QueryResumed):
            seen.subtract(_repeated_keys(found, pending))
            if recorded.event.why.startswith(FORKED):
                continue
        key = _unnumbered_key(recorded, events, names)
        seen[key] += 1
        found[key._replace(number=seen[key])] = recorded
    return found


def _unnumbered_key(
    recorded: Recorded[Event], events: Trace, names: ToolCallNames
) -> EventKey:
    subject = names.subject_of(recorded.event)
    # Events about the query as a whole, such as recoveries, have no subject, but their causes distinguish them.
    has_cause = subject == "" and 0 < recorded.cause <= len(events)
    cause_kind = events[recorded.cause - 1].event.kind_name() if has_cause else ""
    return EventKey(
        kind=recorded.event.kind_name(),
        subject=subject,
        cause_kind=cause_kind,
        number=0,
    )


def _repeated_keys(found: Aligned, pending: PendingTable) -> Counter[EventKey]:
    """Counts the events of calls under way, which will be repeated, by key without number."""
    under_way = {owed.subject for owed in pending.values()}
    repeated: Counter[EventKey] = Counter()
    for key, recorded in found.items():
        match recorded.event:
            # A streamed tool call is repeated with the reasoning call that streams it.
            case (
                ReasoningStarted(call_id=subject)
                | ToolCallStreamed(call_id=subject)
                | ToolStarted(tool_call_id=subject)
            ) if subject in under_way:
                repeated[key._replace(number=0)] += 1
    return repeated


def comparable(value: object, names: ToolCallNames) -> object:
    """Returns a value or event as dictionaries and lists of the fields that can be compared between two traces."""
    if isinstance(value, str):
        return names.put_into(value)
    if isinstance(value, StoredText):
        return names.put_into(value.text)
    if isinstance(value, tuple):
        return [comparable(item, names) for item in value]
    if not isinstance(value, msgspec.Struct):
        return value
    return {
        field: comparable(getattr(value, field), names)
        for field in _compared_fields(type(value))
    }


# Reading type hints takes far longer than comparing a value.
@lru_cache(maxsize=512)
def _compared_fields(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    marks = marks_of(struct)
    fields = struct.__struct_fields__
    return tuple([field for field in fields if not marks[field] & NEVER_ALIKE])
