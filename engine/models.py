"""The table of models: the parameters, abilities, prices and names of each.

The facts are those of the vendor's documentation (https://platform.claude.com/docs/en/), read on 2026-11-26:

- thinking: build-with-claude/thinking-troubleshooting (supported models), models/sonnet-5-5/whats-new-sonnet-5-5 and
  models/haiku-5-5/migration-guide
- effort: build-with-claude/effort
- least size of a cached prefix: build-with-claude/prompt-caching (cache limitations)
- strict tools: build-with-claude/structured-outputs; forced ones: api/errors
- sizes: build-with-claude/context-windows
- prices: about-claude/pricing
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial

from msgspec.structs import replace

from antiphon.engine.thinking import thinking_room
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.values import ModelTraits, Rate, ThinkingMode, Usage, Value

PRICES_OF = "2026-11-26"
PRICES_FROM = "https://platform.claude.com/docs/en/about-claude/pricing"
MILLION = 1_000_000
OFFLINE = "offline"
"""The name of the offline reasoner, which costs nothing."""


class Price(Value, frozen=True, kw_only=True):
    """US dollars per million tokens.

    Attributes:
        cache_write: The price of tokens written to the 5 minute cache.
        long_above: Tokens of input, cached or not, above which the whole call costs `long_factor` times as much.
    """

    input: float
    output: float
    cache_write: float
    cache_read: float
    long_above: int | None = None
    long_factor: float = 1.0


class ModelCard(Value, frozen=True, kw_only=True):
    """One model of the table; `context` is the size of its context window in tokens."""

    price: Price
    traits: ModelTraits
    context: int


_ALL_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_MOST_OUTPUT = 128_000
_LARGE = 1_000_000


def _price(dollars_in: float, dollars_out: float, cache_read: float) -> Price:
    """Returns a price; for every model writing to the 5 minute cache costs a quarter more than plain input."""
    return Price(
        input=dollars_in,
        output=dollars_out,
        cache_write=dollars_in * 1.25,
        cache_read=cache_read,
    )


def _card(
    price: Price,
    thinking: tuple[ThinkingMode, ...],
    *,
    thinks: bool,
    least_cached: int,
    efforts: tuple[str, ...] = _ALL_EFFORTS,
    forced_tools: bool = True,
) -> ModelCard:
    traits = ModelTraits(
        thinking=thinking,
        thinks=thinks,
        efforts=efforts,
        least_cached=least_cached,
        max_output=_MOST_OUTPUT,
        forced_tools=forced_tools,
    )
    return ModelCard(price=price, traits=traits, context=_LARGE)


def _small_card(
    price: Price, least_cached: int, efforts: tuple[str, ...] = ()
) -> ModelCard:
    """Returns the card of a model of 2025, which thinks only if the request sets a budget."""
    traits = ModelTraits(
        thinking=("disabled", "enabled"),
        efforts=efforts,
        least_cached=least_cached,
        max_output=64_000,
    )
    return ModelCard(price=price, traits=traits, context=200_000)


CARDS: Mapping[str, ModelCard] = {
    "claude-fable-5-1": _card(
        _price(10.0, 50.0, 0.25),
        ("adaptive",),
        thinks=True,
        least_cached=512,
        forced_tools=False,
    ),
    "claude-opus-5-5": _card(
        _price(4.0, 20.0, 0.2),
        ("adaptive",),
        thinks=True,
        least_cached=512,
        forced_tools=False,
    ),
    # Reads from its cache cost 0.20 until 2026-10-06.
    "claude-sonnet-5-5": _card(
        _price(2.0, 10.0, 0.1),
        ("adaptive", "between_tools"),
        thinks=True,
        least_cached=512,
        forced_tools=False,
    ),
    "claude-haiku-5-5": _card(
        Price(
            input=0.1,
            output=0.5,
            cache_write=0.125,
            cache_read=0.01,
            long_above=100_000,
            long_factor=5.0,
        ),
        ("adaptive", "disabled"),
        thinks=True,
        least_cached=512,
    ),
    "claude-opus-5": _card(
        _price(5.0, 25.0, 0.5), ("adaptive", "disabled"), thinks=True, least_cached=512
    ),
    "claude-sonnet-5": _card(
        _price(2.0, 10.0, 0.2), ("adaptive", "disabled"), thinks=True, least_cached=1024
    ),
    "claude-opus-4-8": _card(
        _price(5.0, 25.0, 0.5),
        ("adaptive", "disabled"),
        thinks=False,
        least_cached=1024,
    ),
    "claude-opus-4-7": _card(
        _price(5.0, 25.0, 0.5),
        ("adaptive", "disabled"),
        thinks=False,
        least_cached=2048,
    ),
    "claude-opus-4-6": _card(
        _price(5.0, 25.0, 0.5),
        ("adaptive", "disabled", "enabled"),
        thinks=False,
        least_cached=4096,
        efforts=("low", "medium", "high", "max"),
    ),
    "claude-sonnet-4-6": _card(
        _price(3.0, 15.0, 0.3),
        ("adaptive", "disabled", "enabled"),
        thinks=False,
        least_cached=1024,
        efforts=("low", "medium", "high", "max"),
    ),
    "claude-opus-4-5": _small_card(
        _price(5.0, 25.0, 0.5), 4096, efforts=("low", "medium", "high")
    ),
    "claude-sonnet-4-5": _small_card(_price(3.0, 15.0, 0.3), 1024),
    "claude-haiku-4-5": _small_card(_price(1.0, 5.0, 0.1), 4096),
}

_FREE = Price(input=0.0, output=0.0, cache_write=0.0, cache_read=0.0)

_GATEWAY_NAME = re.compile(
    r"(?:[\w.-]+/)*"  # anthropic/…, bedrock/…, openrouter/anthropic/…
    r"(?:(?:[a-z]{2,6}\.)?anthropic\.)?"  # Bedrock, with its regions: us., eu., apac., global.
    r"(?P<name>claude-[a-z]+-\d+(?:[.-]\d{1,2})?)"  # OpenRouter writes 5.5 with a dot
    r"(?:[-@]\d{8}|@default|@latest)?"  # a day, as Anthropic and Vertex write it
    r"(?:-v\d+(?::\d+)?)?"  # Bedrock's own version
    r"(?::[a-z]+)?"  # OpenRouter's variants
)


def plain_name(name: str) -> str:
    """Returns a model's name as Anthropic writes it, without the date and gateways' additions; others unchanged.

    For example, `claude-haiku-4-5` for `us.anthropic.claude-haiku-4-5-20251001-v1:0`.
    """
    found = _GATEWAY_NAME.fullmatch(name)
    if found is None:
        return name
    return found["name"].replace(".", "-")


def traits_of(model: str) -> ModelTraits | None:
    """Returns the traits of the model of this name; None if they are not known."""
    card = CARDS.get(plain_name(model))
    if card is None:
        return None
    return card.traits


class ModelTable:
    """The prices of models, by any of their names; immutable, shared by all sessions.

    Args:
        prices: The user's own prices, by the name that the settings give a model; they override the table's.
    """

    def __init__(self, prices: Mapping[str, Price] | None = None) -> None:
        self._own_prices = dict(prices or {})

    def price(self, model: str) -> Price | None:
        """Returns the model's price; None if it is not known."""
        if model in self._own_prices:
            return self._own_prices[model]
        if model == OFFLINE:
            return _FREE
        name = plain_name(model)
        if name in self._own_prices:
            return self._own_prices[name]
        card = CARDS.get(name)
        if card is None:
            return None
        return card.price

    def rate(
        self,
        model: str,
        called: str | None = None,
        thinking: str = "default",
        effort: str | None = None,
    ) -> Rate | None:
        """Returns the highest rate for the model's tokens; None if its price is not known.

        Args:
            called: The name to give the rate, if it differs from `model`.
            thinking: The setting; with `effort` it determines how much longer than its answer a reply may be.
        """
        price = self.price(model)
        if price is None:
            return None
        room = partial(thinking_room, traits_of(model), wanted=thinking, effort=effort)
        return Rate(
            model=called or model,
            # Before a call nobody knows what the cache will do, so the dearest kind of input is the bound.
            input=max(price.input, price.cache_write, price.cache_read),
            output=price.output,
            long_above=price.long_above,
            long_factor=price.long_factor,
            round_thinking=room(final=False),
            final_thinking=room(final=True),
        )

    def priced(self, usage: Usage, model: str) -> Usage:
        """Adds the cost to a usage; leaves it unchanged if the model's price is not known."""
        price = self.price(model)
        if price is None:
            return usage
        dollars = (
            usage.input_tokens * price.input
            + usage.output_tokens * price.output
            + usage.cache_write_tokens * price.cache_write
            + usage.cache_read_tokens * price.cache_read
        ) / MILLION
        # A long input makes the whole call dearer, including its output, and not only the tokens above the bound.
        if price.long_above is not None and usage.all_input_tokens > price.long_above:
            dollars *= price.long_factor
        return replace(usage, cost_usd=dollars)


KNOWN_MODELS = ModelTable()
"""The table without a user's own prices."""


def read_prices(setting: str) -> dict[str, Price]:
    """Reads a user's own prices: `NAME=INPUT/OUTPUT[/CACHE_WRITE/CACHE_READ]`, separated by commas.

    Raises:
        BadInputError: An entry is not of this form.
    """
    prices: dict[str, Price] = {}
    for entry in filter(None, map(str.strip, setting.split(","))):
        name, _, figures = entry.rpartition("=")
        prices[name.strip()] = _read_price(entry, name, figures.split("/"))
    return prices


def _read_price(entry: str, name: str, figures: Iterable[str]) -> Price:
    try:
        dollars = [float(figure) for figure in figures]
    except ValueError:
        dollars = []
    if not name.strip() or len(dollars) not in (2, 4) or not _are_prices(dollars):
        raise BadInputError(
            f"{entry!r} is no price; write NAME=INPUT/OUTPUT or NAME=INPUT/OUTPUT/CACHE_WRITE/"
            "CACHE_READ in US dollars for a million tokens, such as my-model=0.5/1.5."
        )
    if len(dollars) == 2:
        # Without prices for the cache, all input counts as plain input.
        dollars += [dollars[0], dollars[0]]
    return Price(
        input=dollars[0],
        output=dollars[1],
        cache_write=dollars[2],
        cache_read=dollars[3],
    )


def _are_prices(dollars: Iterable[float]) -> bool:
    return all(0 <= each < MILLION for each in dollars)
