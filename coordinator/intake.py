"""Turns what a caller sent into the first event of a query, or says what was wrong with it."""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import QueryReceived
from antiphon.vocabulary.values import QuerySettings, Value


class Limits(Value, frozen=True, kw_only=True):
    """What a caller may ask for.

    Attributes:
        query_chars: Longest question, in characters.
        max_rounds: Most rounds of tools a query may name.
        min_deadline_s: Shortest deadline a query may name, in seconds.
        max_deadline_s: Longest, in seconds.
        max_total_tokens: Most tokens that a query may name, where the service's settings have no limit.
        max_cost_usd: The same in US dollars.
    """

    query_chars: int = 8_000
    max_rounds: int = 5
    min_deadline_s: float = 1.0
    max_deadline_s: float = 600.0
    max_total_tokens: int = 10_000_000
    max_cost_usd: float = 1_000.0


def receive(
    query: str,
    session_id: str,
    settings: QuerySettings,
    *,
    max_rounds: int | None = None,
    deadline_s: float | None = None,
    max_total_tokens: int | None = None,
    max_cost_usd: float | None = None,
    limits: Limits = Limits(),  # noqa: B008 - a frozen value
) -> QueryReceived:
    """The first event of a query; history, courses, tools and versions are the wiring's to add.

    Raises:
        BadInputError: The question is empty or too long, or a wish is out of its range.
    """
    rounds = settings.max_rounds if max_rounds is None else max_rounds
    deadline = settings.deadline_s if deadline_s is None else deadline_s
    _check_range("max_rounds", rounds, 0, limits.max_rounds)
    _check_range("deadline_s", deadline, limits.min_deadline_s, limits.max_deadline_s)
    # What the service may spend on a query is its owner's to say: a caller may only ask for less.
    tokens = _within("max_total_tokens", max_total_tokens, settings.max_total_tokens, limits.max_total_tokens)
    usd = _within("max_cost_usd", max_cost_usd, settings.max_cost_usd, limits.max_cost_usd)
    wishes = replace(
        settings,
        max_rounds=rounds,
        deadline_s=float(deadline),
        max_total_tokens=None if tokens is None else int(tokens),
        max_cost_usd=usd,
    )
    return QueryReceived(query=_checked_query(query, limits), session_id=session_id, settings=wishes)


def _within(name: str, wished: float | None, setting: float | None, most: float) -> float | None:
    if wished is None:
        return setting
    _check_range(name, wished, 0, most if setting is None else setting)
    return wished


def _checked_query(query: str, limits: Limits) -> str:
    text = query.replace("\x00", "").strip()
    if not text:
        raise BadInputError("The question is empty: send some text in `query`.")
    if len(text) > limits.query_chars:
        raise BadInputError(
            f"The question has {len(text):,} characters, the most is {limits.query_chars:,}: "
            "shorten it, or index long material as a document and ask about it."
        )
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadInputError(
            "The question holds half of a surrogate pair, which is no character: send valid Unicode."
        ) from error
    return text


def _check_range(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise BadInputError(f"`{name}` is {value:,.12g}, it must be from {least:,.12g} to {most:,.12g}.")
