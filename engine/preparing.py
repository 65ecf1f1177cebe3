"""From what is asked to the request as it is sent: built, marked as cacheable, fit for the server, made legal."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from antiphon.engine.caching import Marked, place_marks
from antiphon.engine.inline import Sources, numbered
from antiphon.engine.legality import make_legal
from antiphon.engine.profile import Profile
from antiphon.engine.request import build_request
from antiphon.vocabulary.events import CitationStyle, ReasoningRequested
from antiphon.vocabulary.values import Request, StoredText


class Prepared(NamedTuple):
    """A request that may be sent, and what `ReasoningStarted` tells of it.

    Attributes:
        sources: The sentences that inline citations name; empty where citations are native.
        marked: What the query's next request must know.
    """

    request: Request
    repairs: tuple[str, ...]
    caching: str
    style: CitationStyle
    sources: Sources
    marked: Marked


def prepare(
    asked: ReasoningRequested, tools: StoredText, profile: Profile, style: CitationStyle, before: Marked
) -> Prepared:
    """The request that `asked` stands for, fit for a server of this profile.

    Raises:
        ModelError: (`illegal_request`) It cannot be made legal.
    """
    inline = style == "inline"
    request = build_request(asked, tools, profile, inline=inline)
    marked, why = before, ""
    if profile.caching:
        rounds_after = 0 if asked.final else max(asked.max_rounds - asked.round, 0)
        request, marked, why = place_marks(request, before, rounds_after=rounds_after)
    sources: Sources = ()
    if inline:
        messages, sources = numbered(request.messages)
        request = replace(request, messages=messages)
    legal = make_legal(request)
    return Prepared(legal.request, legal.repairs, why, style, sources, marked)
