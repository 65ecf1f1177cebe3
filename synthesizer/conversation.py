"""What was said before in the conversation, shortened for a briefing."""

from __future__ import annotations

from antiphon.language.markup import wrap
from antiphon.synthesizer.shortening import shorten
from antiphon.vocabulary.values import Exchange

EXCHANGES = 2
MOST_CHARS = 400


def conversation_tag(history: tuple[Exchange, ...]) -> str:
    """The last exchanges, oldest first, in their tag; an empty text where there are none."""
    last = history[-EXCHANGES:]
    if not last:
        return ""
    return wrap("conversation", "\n".join(_told(exchange) for exchange in last))


def _told(exchange: Exchange) -> str:
    return f"Question: {shorten(exchange.question, MOST_CHARS)}\nAnswer: {shorten(exchange.answer, MOST_CHARS)}"
