"""A model that is called no faster than a budget allows; a call that gets no turn in time fails as if rate-limited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

from antiphon.engine.request import request_size
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.pacing import (
    CallBudget,
    Pace,
    debt_s,
    full,
    refilled,
    taken,
)
from antiphon.vocabulary.ports import Clock, Json, Model
from antiphon.vocabulary.values import Request

BYTES_A_TOKEN = 4
_TOKENS_OF = (
    "input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)
"""The tokens that providers count; reads from their cache are free (https://docs.claude.com/en/api/rate-limits)."""


class LocalCallBudget:
    """The budget of a single process; satisfies `CallBudget`."""

    def __init__(self, pace: Pace, clock: Clock) -> None:
        self._pace = pace
        self._clock = clock
        self._bucket = full(pace, clock.now())

    async def take(self, tokens: int, within_s: float) -> None:
        """Waits for a call's turn. Raises as `CallBudget.take` does."""
        bucket = refilled(self._bucket, self._pace, self._clock.now())
        bucket = taken(bucket, 1, tokens)
        wait_s = debt_s(bucket, self._pace)
        check_wait(wait_s, within_s)
        self._bucket = bucket
        if wait_s > 0:
            try:
                await self._clock.sleep(wait_s)
            except asyncio.CancelledError:
                # A call cancelled while it waits gives its turn back.
                self._bucket = taken(self._bucket, -1, -tokens)
                raise

    def settle(self, tokens: int) -> None:
        """Returns tokens to the budget."""
        self._bucket = taken(self._bucket, 0, -tokens)


def check_wait(wait_s: float, within_s: float) -> None:
    """Refuses a call whose turn would come too late.

    Raises:
        ModelError: It would; of kind `rate_limit`, like the provider's own refusal.
    """
    if wait_s >= within_s:
        raise ModelError(
            "rate_limit",
            f"our own limit of calls of the model leaves this one no turn for {wait_s:.1f} s (ANTIPHON_MODEL_RPM, "
            "ANTIPHON_MODEL_TPM)",
            retry_after_s=wait_s,
            unbilled=True,
        )


class LimitedModel:
    """Satisfies `vocabulary.ports.Model`; its calls wait for their turn within their own time limit."""

    def __init__(self, model: Model, budget: CallBudget, clock: Clock) -> None:
        self._model = model
        self._budget = budget
        self._clock = clock

    @property
    def name(self) -> str | None:
        return self._model.name

    async def stream(self, request: Request, timeout_s: float) -> AsyncIterator[Json]:
        """Waits for the call's turn, makes it, and returns the tokens that it did not use."""
        reserved = request_size(request) // BYTES_A_TOKEN + request.max_tokens
        began_at = self._clock.now()
        await self._budget.take(reserved, timeout_s)
        left_s = timeout_s - (self._clock.now() - began_at)
        used: dict[str, int] = {}
        stream = self._model.stream(request, left_s)
        try:
            async for event in stream:
                _count(event, used)
                yield event
        finally:
            # A call that failed before it reported any usage keeps its whole reservation.
            if used:
                self._budget.settle(reserved - sum(used.values()))
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()


def _count(event: Json, used: dict[str, int]) -> None:
    """Notes the usage in an event; later events hold the sums so far."""
    usage = event.get("usage")
    message = event.get("message")
    if isinstance(message, dict):
        usage = message.get("usage")
    if not isinstance(usage, dict):
        return
    for name in _TOKENS_OF:
        count = usage.get(name)
        # Checked, because the server may be anyone's.
        if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
            used[name] = count
