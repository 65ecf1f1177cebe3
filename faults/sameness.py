"""Whether two traces are the same run: that is how a changed neighbour and a run by chance are found."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Event, Recorded


def same_trace(first: Sequence[Recorded[Event]], second: Sequence[Recorded[Event]]) -> str:
    """Where two traces differ, ids of queries and conversations and the hour left out; empty where they do not."""
    for one, other in zip(first, second, strict=False):
        if _bare(one, first[0].at) != _bare(other, second[0].at):
            return f"event {one.seq}: {type(one.event).__name__} became {type(other.event).__name__} or another of it"
    return "" if len(first) == len(second) else f"{len(first)} events became {len(second)}"


def _bare(said: Recorded[Event], began: float) -> tuple[object, ...]:
    event, at = said.event, round(said.at - began, 5)
    if isinstance(event, e.QueryReceived):
        return said.seq, said.cause, at, event.query
    if isinstance(event, e.RecordingFailed):
        return said.seq, said.cause, at  # it may name the query
    return said.seq, said.cause, at, event
