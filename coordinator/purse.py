"""What a query has spent and what a call may take at most: sums over recorded usage, rates and estimates; pure.

budget ── spent ──┤ this call ├ a tool round keeps back: the final call ┤ room for a larger briefing
"""

from __future__ import annotations

import math

from msgspec.structs import replace

from antiphon.vocabulary.events import QueryReceived
from antiphon.vocabulary.values import QuerySettings, Rate, Usage, Value

BYTES_A_TOKEN = 4
MARGIN = 1.25
"""What the estimate of a briefing is raised by: its markup, and tokenizers that make more tokens of a text."""
LEAST_BRIEFING = 200
"""Tokens of facts and notes below which a call is not worth making."""
MODEST_SHARE = 1 / 3
"""Share of the usual briefing that must be paid for once there are facts to show."""


class Spend(Value, frozen=True, kw_only=True):
    """Tokens and dollars, spent or to be spent."""

    tokens: float = 0
    usd: float = 0.0

    def __add__(self, other: Spend) -> Spend:
        return Spend(tokens=self.tokens + other.tokens, usd=self.usd + other.usd)


class Purse(Value, frozen=True, kw_only=True):
    """What one query may still spend.

    Attributes:
        settings: Its limits, and what a call may be like.
        rates: What tokens can cost, by model.
        fixed_tokens: Estimated tokens of a request beside its messages.
        head_tokens: Estimated tokens of the question and the conversation, which every call is shown.
        spent: What calls have used, as far as servers told.
        stretch: How many times the estimate the input of a call has really been; at least 1.
    """

    settings: QuerySettings = QuerySettings()
    rates: tuple[Rate, ...] = ()
    fixed_tokens: int = 0
    head_tokens: int = 0
    spent: Spend = Spend()
    stretch: float = 1.0

    @property
    def is_limited(self) -> bool:
        """Whether there is anything to keep to."""
        return self.settings.max_total_tokens is not None or self.settings.max_cost_usd is not None

    @property
    def left(self) -> Spend:
        """What is left; infinite where there is no limit."""
        tokens, usd = self.settings.max_total_tokens, self.settings.max_cost_usd
        return Spend(
            tokens=math.inf if tokens is None else tokens - self.spent.tokens,
            usd=math.inf if usd is None else usd - self.spent.usd,
        )

    def call(self, model: str, briefing: int, *, shown: int | None = None) -> Spend:
        """The most that one call takes; infinite dollars where the model's price is not known.

        Args:
            briefing: Tokens of facts and notes that it is shown.
            shown: Tokens of its messages, where they are known.
        """
        shown = self.head_tokens + briefing if shown is None else shown
        input_tokens = math.ceil((self.fixed_tokens + shown * MARGIN) * self.stretch)
        output_tokens = most_output(self.settings)
        rate = self.rate(model)
        usd = math.inf if rate is None else rate.cost(input_tokens, output_tokens)
        return Spend(tokens=input_tokens + output_tokens, usd=usd)

    def rate(self, model: str) -> Rate | None:
        """What the model's tokens can cost."""
        return next((rate for rate in self.rates if rate.model == model), None)

    def room(self, model: str, kept_back: Spend) -> int:
        """The tokens of facts and notes that a call of `model` may be shown, where `kept_back` must be left."""
        bare, rate = self.call(model, 0) + kept_back, self.rate(model)
        by_tokens = (self.left.tokens - bare.tokens) / (MARGIN * self.stretch)
        a_token = rate.input / 1_000_000 * MARGIN * self.stretch if rate else 0.0
        by_cost = (
            math.inf if self.settings.max_cost_usd is None or not a_token else (self.left.usd - bare.usd) / a_token
        )
        return int(max(0, min(by_tokens, by_cost, self.settings.briefing_tokens)))


def purse_of(first: QueryReceived) -> Purse:
    """The purse that a query begins with."""
    said = (first.query, *(text for each in first.history for text in (each.question, each.answer)))
    return Purse(
        settings=first.settings,
        rates=first.rates,
        fixed_tokens=first.fixed_tokens,
        head_tokens=sum(len(text.encode(errors="replace")) for text in said) // BYTES_A_TOKEN,
    )


def paid(purse: Purse, usage: Usage, model: str) -> Purse:
    """The purse after `usage` by the model; where the server does not say what that costs, its rate does."""
    rate = purse.rate(model)
    usd = usage.cost_usd
    if usd is None:
        usd = rate.cost(usage.all_input_tokens, usage.output_tokens) if rate else 0.0
    return replace(purse, spent=purse.spent + Spend(tokens=usage.all_input_tokens + usage.output_tokens, usd=usd))


def measured(purse: Purse, usage: Usage, shown: int) -> Purse:
    """The purse after a call whose input was estimated: what it really was shows how far estimates may be trusted."""
    estimated = purse.fixed_tokens + shown * MARGIN
    if estimated <= 0:
        return purse
    return replace(purse, stretch=max(purse.stretch, usage.all_input_tokens / estimated))


def most_output(settings: QuerySettings) -> int:
    """Most tokens of one reply; those of a thinking budget may come on top."""
    return settings.max_tokens + (int(settings.thinking) if settings.thinking.isdigit() else 0)
