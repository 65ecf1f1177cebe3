"""A caller who goes away where the plan says so."""

from __future__ import annotations

from antiphon.faults.passage import Meeting
from antiphon.service import QueryHandle
from antiphon.vocabulary.errors import NotFoundError, SlowReaderError
from antiphon.vocabulary.events import Recorded, RoundOpened

WHY = "injected: the caller went away"


async def leave_as_planned(running: QueryHandle, meeting: Meeting, after: int = 0) -> None:
    """Follows a query to its end, and cancels it at the opening of a round at which a fault of `client` fires.

    Args:
        after: The last event that happened before the query was gone on with.
    """
    try:
        async for told in running.follow(1_000_000):
            opened = isinstance(told, Recorded) and told.seq > after and isinstance(told.event, RoundOpened)
            if opened and meeting.meet("client") is not None:
                running.cancel(WHY)
    except (NotFoundError, SlowReaderError):
        return
