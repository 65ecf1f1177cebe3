"""Finds a trace by the beginning of its id; in its own file, because commands that read traces need nothing else."""

from __future__ import annotations

from antiphon.vocabulary.errors import AmbiguousIdError, NotFoundError
from antiphon.vocabulary.ports import TraceListing

SHOWN_MATCHES = 5


async def whole_id(store: TraceListing, beginning: str) -> str:
    """Finds the one trace whose id has this beginning; `beginning` itself if it is a whole id.

    Raises:
        NotFoundError: None does.
        AmbiguousIdError: Several do.
    """
    # One more than the message shows, to know whether there are more.
    matches = await store.ids(beginning, SHOWN_MATCHES + 1)
    if beginning in matches[:1]:
        return beginning
    # A request's path may hold anything, and this message is printed and logged.
    shown = repr(beginning[:200])
    if not matches or not beginning:
        raise NotFoundError(
            f"There is no trace {shown}: `antiphon traces list` and GET /api/traces show all traces."
        )
    count = len(matches)
    if count > 1:
        some = ", ".join(matches[:SHOWN_MATCHES])
        many = f"More than {SHOWN_MATCHES}" if count > SHOWN_MATCHES else str(count)
        raise AmbiguousIdError(
            f"{many} traces begin with {shown} ({some}): give more of it."
        )
    return matches[0]
