"""The briefings of a query one after the other: what each holds, and what differs from the one before and why."""

from __future__ import annotations

from collections.abc import Iterable

from antiphon.vocabulary.events import BriefingPrepared, Event, Recorded
from antiphon.vocabulary.values import Change, Dropped, ShownSource, Value


class BriefingView(Value, frozen=True, kw_only=True):
    """One briefing.

    Attributes:
        seq: Its event.
        came: Estimated tokens that came in since the briefing before.
        went: Estimated tokens that went.
        summary: The summarising call whose text stands in its notes; empty where none does.
    """

    seq: int
    call_id: str
    round: int
    tokens: int
    came: int
    went: int
    sources: tuple[ShownSource, ...]
    changes: tuple[Change, ...]
    dropped: tuple[Dropped, ...]
    summary: str = ""


def briefings_of(events: Iterable[Recorded[Event]]) -> tuple[BriefingView, ...]:
    """Every briefing of a trace, in order."""
    return tuple(_view(said.seq, said.event) for said in events if isinstance(said.event, BriefingPrepared))


def _view(seq: int, event: BriefingPrepared) -> BriefingView:
    inward = ("came", "returned")
    return BriefingView(
        seq=seq,
        call_id=event.call_id,
        round=event.round,
        tokens=event.tokens,
        came=sum(change.tokens for change in event.changes if change.change in inward),
        went=sum(change.tokens for change in event.changes if change.change not in inward),
        sources=event.sources,
        changes=event.changes,
        dropped=event.dropped,
        summary=event.summary,
    )
