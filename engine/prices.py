"""The models' prices, in one table with its date and source, and the cost of a call by it."""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.vocabulary.values import Rate, Usage, Value

PRICES_OF = "2026-10-24"
PRICES_FROM = "https://platform.claude.com/docs/en/about-claude/pricing"
MILLION = 1_000_000


class Price(Value, frozen=True, kw_only=True):
    """US dollars for a million tokens.

    Attributes:
        cache_write: For what is written to the 5 minute cache.
        least_cached: Tokens below which a prefix is silently not cached. The pricing page does not say it; these are
            the bounds that the caching guide gives, the higher one where it names no model.
        long_above: Tokens of input above which all of the call costs `long_factor` times as much.
    """

    input: float
    output: float
    cache_write: float
    cache_read: float
    least_cached: int = 4096
    long_above: int | None = None
    long_factor: float = 1.0


_OPUS = Price(input=5.0, output=25.0, cache_write=6.25, cache_read=0.5)
_SONNET_4 = Price(
    input=3.0, output=15.0, cache_write=3.75, cache_read=0.3, least_cached=1024
)
PRICES: dict[str, Price] = {
    "claude-sonnet-5-5": Price(
        input=2.0, output=10.0, cache_write=2.5, cache_read=0.1, least_cached=1024
    ),
    "claude-opus-5-5": Price(input=4.0, output=20.0, cache_write=5.0, cache_read=0.2),
    "claude-haiku-5-5": Price(
        input=0.1,
        output=0.5,
        cache_write=0.125,
        cache_read=0.01,
        long_above=100_000,
        long_factor=5.0,
    ),
    "claude-sonnet-5": Price(
        input=2.0, output=10.0, cache_write=2.5, cache_read=0.2, least_cached=1024
    ),
    "claude-opus-5": _OPUS,
    "claude-opus-4-8": _OPUS,
    "claude-opus-4-7": _OPUS,
    "claude-opus-4-6": _OPUS,
    "claude-opus-4-5": _OPUS,
    "claude-sonnet-4-6": _SONNET_4,
    "claude-sonnet-4-5": _SONNET_4,
    "claude-haiku-4-5": Price(input=1.0, output=5.0, cache_write=1.25, cache_read=0.1),
    "offline": Price(input=0.0, output=0.0, cache_write=0.0, cache_read=0.0),
}


def price_of(model: str) -> Price | None:
    """Returns the model's price, or None where it is not known.

    A dated name (`claude-haiku-4-5-20251001`) costs what its alias does.
    """
    if model in PRICES:
        return PRICES[model]
    alias, _, date = model.rpartition("-")
    if len(date) == 8 and date.isdigit():
        return PRICES.get(alias)
    return None


def rate_of(model: str, called: str | None = None) -> Rate | None:
    """Returns the most that the model's tokens can cost; None where its price is not known.

    Args:
        called: The name that the rate is to have, where that is another.
    """
    price = price_of(model)
    if price is None:
        return None
    return Rate(
        model=called or model,
        # Before a call nobody knows what the cache will do: the dearest way of reading the input is the bound.
        input=max(price.input, price.cache_write, price.cache_read),
        output=price.output,
        long_above=price.long_above,
        long_factor=price.long_factor,
    )


def with_cost(usage: Usage, model: str) -> Usage:
    """Adds the cost to a usage; leaves it unchanged where the model's price is not known."""
    price = price_of(model)
    if price is None:
        return usage
    dollars = (
        usage.input_tokens * price.input
        + usage.output_tokens * price.output
        + usage.cache_write_tokens * price.cache_write
        + usage.cache_read_tokens * price.cache_read
    ) / MILLION
    # A long input makes all of the call dearer, the output included, not only what is above the bound.
    if price.long_above is not None and usage.all_input_tokens > price.long_above:
        dollars *= price.long_factor
    return replace(usage, cost_usd=dollars)
