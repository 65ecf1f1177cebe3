"""The budget of a query: recorded usage summed up, and upper bounds for calls from rates and estimates; pure.

limit ── spent ──┤ this call ├ a tool round keeps back: the final call ┤ room for a larger briefing
"""

from __future__ import annotations

import math
from typing import NamedTuple

from msgspec.structs import replace

from antiphon.vocabulary.events import QueryReceived
from antiphon.vocabulary.values import QuerySettings, Rate, Usage, Value

BYTES_A_TOKEN = 4
MARGIN = 1.25
"""Factor on the estimate of a briefing, for its markup and for tokenizers that make more tokens of a text."""
MOST_ANSWER_BYTES = 1_200
"""Most bytes of an earlier answer in a briefing."""
LEAST_BRIEFING = 200
"""Tokens of facts and notes below which a call is not worth making."""
MODEST_SHARE = 1 / 3
"""Share of the usual briefing that must be paid for once there are facts to show."""
SUMMARY_TOKENS = 400
"""Most output tokens of a summarising call."""
SUMMARY_PROMPT_TOKENS = 300
"""Approximate tokens of a summarising request apart from its messages."""


class Spend(Value, frozen=True, kw_only=True):
    """Tokens and dollars, spent or to be spent."""

    tokens: float = 0
    usd: float = 0.0

    def __add__(self, other: Spend) -> Spend:
        return Spend(tokens=self.tokens + other.tokens, usd=self.usd + other.usd)


class Spare(NamedTuple):
    """The most that failed attempts at a call may waste before retries must end; None: no limit."""

    tokens: int | None
    usd: float | None


class Budget(Value, frozen=True, kw_only=True):
    """The spending of one query and its limits.

    Attributes:
        settings: Its limits, and the sizes of calls.
        rates: The prices of tokens, by model.
        fixed_tokens: Estimated tokens of a request apart from its messages.
        head_tokens: Estimated tokens of the question and the conversation, which every call sees.
        spent: The usage of all calls, as far as servers reported it.
        estimate_factor: The largest ratio so far of a call's real input to its estimate; at least 1.
    """

    settings: QuerySettings = QuerySettings()
    rates: tuple[Rate, ...] = ()
    fixed_tokens: int = 0
    head_tokens: int = 0
    spent: Spend = Spend()
    estimate_factor: float = 1.0

    @property
    def is_limited(self) -> bool:
        """True if the query has a limit on tokens or on cost."""
        return (
            self.settings.max_total_tokens is not None
            or self.settings.max_cost_usd is not None
        )

    @property
    def left(self) -> Spend:
        """The rest of the budget; infinite if there is no limit."""
        left_tokens: float = math.inf
        left_usd: float = math.inf
        if self.settings.max_total_tokens is not None:
            left_tokens = self.settings.max_total_tokens - self.spent.tokens
        if self.settings.max_cost_usd is not None:
            left_usd = self.settings.max_cost_usd - self.spent.usd
        return Spend(tokens=left_tokens, usd=left_usd)

    def rate(self, model: str) -> Rate | None:
        """Returns the prices of the model's tokens; None if they are not known."""
        for rate in self.rates:
            if rate.model == model:
                return rate
        return None

    def call_with_briefing(
        self, model: str, briefing_tokens: int, *, final: bool
    ) -> Spend:
        """Returns the most that a reasoning call with a briefing of this size can take."""
        return self.call_with_messages(
            model, self.head_tokens + briefing_tokens, final=final
        )

    def call_with_messages(
        self, model: str, message_tokens: int, *, final: bool
    ) -> Spend:
        """Returns the most that a reasoning call with messages of this estimated size can take."""
        output_tokens = most_output(self.settings, self.rate(model), final=final)
        return self._most(model, self.fixed_tokens, message_tokens, output_tokens)

    def summary_of(self, message_tokens: int) -> Spend:
        """Returns the most that a summarising call can take."""
        return self._most(
            self.settings.compression_model,
            SUMMARY_PROMPT_TOKENS,
            message_tokens,
            SUMMARY_TOKENS,
        )

    def _most(
        self, model: str, fixed_tokens: int, message_tokens: int, output_tokens: int
    ) -> Spend:
        input_tokens = math.ceil(
            (fixed_tokens + message_tokens * MARGIN) * self.estimate_factor
        )
        # No limit on cost can admit a call of unknown price, so its price counts as infinite.
        usd = math.inf
        rate = self.rate(model)
        if rate is not None:
            usd = rate.cost(input_tokens, output_tokens)
        return Spend(tokens=input_tokens + output_tokens, usd=usd)

    def room(self, model: str, kept_back: Spend, *, final: bool) -> int:
        """Returns the tokens of the largest briefing with which a call still leaves `kept_back`."""
        bare = self.call_with_briefing(model, 0, final=final) + kept_back
        left = self.left
        # Every limit holds at once, so the tightest of them is the room.
        rooms = [
            self.settings.briefing_tokens,
            (left.tokens - bare.tokens) / (MARGIN * self.estimate_factor),
        ]
        rate = self.rate(model)
        if self.settings.max_cost_usd is not None and rate is not None and rate.input:
            usd_a_token = rate.input / 1_000_000 * MARGIN * self.estimate_factor
            rooms.append((left.usd - bare.usd) / usd_a_token)
        return int(max(0, min(rooms)))

    def spare(self, needed: Spend) -> Spare:
        """Returns what remains of the budget beyond `needed`."""
        spare_tokens: int | None = None
        spare_usd: float | None = None
        if self.settings.max_total_tokens is not None:
            spare_tokens = max(0, math.floor(self.left.tokens - needed.tokens))
        if self.settings.max_cost_usd is not None:
            spare_usd = max(0.0, self.left.usd - needed.usd)
        return Spare(spare_tokens, spare_usd)

    def after(self, usage: Usage, model: str) -> Budget:
        """Returns the budget after the model's `usage`, priced by the rate if the server reports no cost."""
        rate = self.rate(model)
        if usage.cost_usd is not None:
            usd = usage.cost_usd
        elif rate is not None:
            usd = rate.cost(usage.all_input_tokens, usage.output_tokens)
        else:
            usd = 0.0
        return self._after_spending(
            Spend(tokens=usage.all_input_tokens + usage.output_tokens, usd=usd)
        )

    def after_reply(self, usage: Usage, model: str, *, most: Spend) -> Budget:
        """Returns the budget after a reply; if the server reported no usage, `most` counts instead."""
        if usage.all_input_tokens or usage.output_tokens:
            return self.after(usage, model)
        # The breaker allows a model of unknown price only if the query has no limit on cost.
        if math.isinf(most.usd):
            most = replace(most, usd=0.0)
        return self._after_spending(most)

    def calibrated(self, usage: Usage, message_tokens: int) -> Budget:
        """Returns the budget with its estimates raised if a call's real input was larger than estimated."""
        estimated = self.fixed_tokens + message_tokens * MARGIN
        if estimated <= 0:
            return self
        # Never lowered again: a wrong estimate should stop the query early rather than late.
        return replace(
            self,
            estimate_factor=max(
                self.estimate_factor, usage.all_input_tokens / estimated
            ),
        )

    def _after_spending(self, spend: Spend) -> Budget:
        return replace(self, spent=self.spent + spend)


def initial_budget(first: QueryReceived) -> Budget:
    """Returns the budget that a query begins with."""
    # Bytes, not characters: a character of a non-Latin script makes more tokens.
    size_bytes = len(first.query.encode(errors="replace"))
    for exchange in first.history:
        answer_bytes = len(exchange.answer.encode(errors="replace"))
        # Calls see no more of an answer than this; version 1 of the rules counted all of it.
        if first.rules > 1:
            answer_bytes = min(answer_bytes, MOST_ANSWER_BYTES)
        size_bytes += len(exchange.question.encode(errors="replace")) + answer_bytes
    return Budget(
        settings=first.settings,
        rates=first.rates,
        fixed_tokens=first.fixed_tokens,
        head_tokens=size_bytes // BYTES_A_TOKEN,
    )


def most_output(settings: QuerySettings, rate: Rate | None, *, final: bool) -> int:
    """Returns the most tokens of one reply: its answer and its thinking."""
    thinking = int(settings.thinking) if settings.thinking.isdigit() else 0
    if rate is not None:
        by_rate = rate.final_thinking if final else rate.round_thinking
        thinking = max(thinking, by_rate)
    return settings.max_tokens + thinking
