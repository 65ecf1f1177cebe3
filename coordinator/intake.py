"""Turns a caller's question into the first event of a query, or refuses it with a reason."""

from __future__ import annotations

from collections.abc import Mapping

from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import RULES, QueryReceived
from antiphon.vocabulary.settings import QUERY_CHARS, QuerySettings, with_wishes

_NO_WISHES: Mapping[str, object] = {}


def receive(
    query: str,
    session_id: str,
    settings: QuerySettings,
    wishes: Mapping[str, object] = _NO_WISHES,
    query_chars: int = QUERY_CHARS,
) -> QueryReceived:
    """Returns the first event of a query; the composition adds history, courses, tools and versions.

    Args:
        settings: The service's own.
        wishes: The caller's choices by name of setting; None leaves a setting as it is.
        query_chars: Longest question, in characters.

    Raises:
        BadInputError: The question is empty or too long, or a wish is out of its bounds.
    """
    wished = with_wishes(settings, wishes)
    # Many programs, including SQLite's functions, treat the character 0 as the end of a text.
    text = query.replace("\x00", "").strip()
    if not text:
        raise BadInputError("The question is empty: send some text in `query`.")
    if len(text) > query_chars:
        raise BadInputError(
            f"The question has {len(text):,} characters, the most is {query_chars:,}: "
            "shorten it, or index long material as a document and ask about it."
        )
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadInputError(
            "The question holds half of a surrogate pair, which is no character: send valid Unicode."
        ) from error
    return QueryReceived(
        query=text,
        session_id=session_id,
        settings=wished,
        fallback_searches=True,
        rules=RULES,
    )
