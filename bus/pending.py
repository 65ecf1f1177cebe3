"""The pending table: the requested events that are still owed, by whom and since when; a fold over the events so far.

This module names no event: each one declares its emitters and the requests that it settles (vocabulary/events.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.events import Event, QueryClosed, Recorded

Subject = str | int
PendingKey = tuple[tuple[type[Event], ...], Subject]
"""The events any of which would settle the request, and the call or round that the request is about."""


@dataclass(frozen=True, slots=True)
class Pending:
    """An event that is owed.

    Attributes:
        outcomes: The events any of which will do.
        subject: The call or round that it is about; an empty text if there can be only one.
        since_seq: The event that requested it.
        since_at: Its time, in seconds since the epoch.
    """

    outcomes: tuple[type[Event], ...]
    subject: Subject
    since_seq: int
    since_at: float

    @property
    def who(self) -> str:
        """The part of the service that owes it."""
        return self.outcomes[0].emitted_by[0]

    @property
    def event(self) -> str:
        """Its kind; all kinds if any of several will do."""
        kinds = [outcome.kind_name() for outcome in self.outcomes]
        return " or ".join(kinds)

    @property
    def about(self) -> str:
        """The call or round that it is about, in words."""
        if isinstance(self.subject, int):
            return f"round {self.subject}"
        return self.subject

    def __str__(self) -> str:
        owed = f"{self.who}: {self.event}"
        if self.subject:
            owed += f" of {self.about}"
        return f"{owed}, since seq {self.since_seq}"


PendingTable = Mapping[PendingKey, Pending]


def fold_pending(
    table: PendingTable, recorded: Recorded[Event], catalog: Catalog = BUILT_IN
) -> PendingTable:
    """Returns the table after one more event; the same one if nothing changed."""
    event = recorded.event
    if isinstance(event, QueryClosed):
        return {}
    outcomes = catalog.outcomes.get(type(event))
    # Most events neither settle nor request anything.
    if not event.settles and outcomes is None:
        return table
    after = dict(table)
    # First settled, then requested: an event may settle one request and make the next under the same key.
    for settled in event.settles:
        after.pop((catalog.outcomes[settled.request], event.subject(settled.by)), None)
    if outcomes is not None:
        subject = event.subject()
        after[(outcomes, subject)] = Pending(
            outcomes, subject, recorded.seq, recorded.at
        )
    return after
