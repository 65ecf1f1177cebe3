"""The order of a conversation's questions: each one's predecessor, and the versions of one another.

A question follows the last one asked before it, unless it names another. Questions that follow the same one are
versions of one another, and the conversation continues after each of them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from antiphon.traces.visibility import VISIBLE
from antiphon.vocabulary.errors import NotFoundError
from antiphon.vocabulary.ports import PlacedQuestion

# Forks do not count: nobody asked them in the conversation.
_ASKED = f"""
    SELECT query_id, follows FROM queries WHERE session_id = :session_id AND parent IS NULL AND {VISIBLE}
    ORDER BY number
"""  # noqa: S608 - a constant


class Asked(NamedTuple):
    """A question as asked: `follows` is the caller's choice, as in `QueryReceived`."""

    query_id: str
    follows: str | None


def read_path(
    connection: sqlite3.Connection,
    session_id: str,
    through: str | None,
    label: str | None,
) -> list[PlacedQuestion]:
    """Reads the questions of a conversation that follow one another; takes what `ConversationListing.path` does.

    Raises:
        NotFoundError: No such query in the conversation.
    """
    rows = connection.execute(_ASKED, {"session_id": session_id, "label": label})
    asked = [Asked(*row) for row in rows]
    if through is not None and through not in [each.query_id for each in asked]:
        raise NotFoundError(
            f"the conversation {session_id!r} has no query {through!r}; it may have been deleted"
        )
    return path_through(asked, through)


def path_through(asked: Sequence[Asked], through: str | None) -> list[PlacedQuestion]:
    """Returns the path of questions through one of them to the last one asked after it, oldest first.

    Args:
        asked: All questions of the conversation, oldest first.
        through: None: the path leads to the last question of all.
    """
    follows = _places(asked)
    versions: dict[str | None, list[str]] = {}
    for query_id, before in follows.items():
        versions.setdefault(before, []).append(query_id)
    path: list[PlacedQuestion] = []
    at = _last_behind(follows, through)
    while at is not None:
        before = follows[at]
        place = PlacedQuestion(
            query_id=at, follows=before, versions=tuple(versions[before])
        )
        path.append(place)
        at = before
    path.reverse()
    return path


def _places(asked: Sequence[Asked]) -> dict[str, str | None]:
    """Returns each question's predecessor, None at the beginning, in the order of asking."""
    follows: dict[str, str | None] = {}
    instead: dict[str, str | None] = {"": None}
    previous: str | None = None
    for each in asked:
        before = previous
        if each.follows in follows:
            before = each.follows
        # The predecessor may have been deleted, and its successors stay versions. A question never follows a later one.
        elif each.follows is not None:
            before = instead.setdefault(each.follows, previous)
        follows[each.query_id] = before
        previous = each.query_id
    return follows


def _last_behind(follows: dict[str, str | None], through: str | None) -> str | None:
    if through is None:
        return next(reversed(follows), None)
    behind = {through}
    last = through
    for query_id, before in follows.items():
        if before in behind:
            behind.add(query_id)
            last = query_id
    return last
