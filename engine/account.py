"""The usage of one call: debits the most that a request may take before it is sent, and credits the rest once its
server has reported the usage.

A server bills a request even if nobody waits for the reply any more. So a request that was broken off on either side
keeps its debit.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from antiphon.engine.fold import ReplyFold
from antiphon.engine.models import ModelTable
from antiphon.engine.request import input_bytes
from antiphon.vocabulary.values import Request, Usage

BYTES_A_TOKEN = 2
"""Lower than the average of any text that we send: English prose has about four, JSON and other scripts have about
three, and the newest tokenizers make a third more tokens of a text than earlier ones."""
ADDED_TOKENS = 1_000
"""More than a server adds by itself, for example as instructions for tools."""


class _Sent(NamedTuple):
    """A request under way, and the part of its reply that has arrived."""

    request: Request
    fold: ReplyFold


class Account:
    """The account of one call, with all the requests that it sends.

    Attributes:
        wasted: The reported usage of requests whose replies were not kept.

    Args:
        table: The prices of models.
        model: The model to charge for if the server does not name a known one.
        spare_tokens: Tokens that it may use on top of those of its first request; None: no limit.
        spare_usd: The same in US dollars.
    """

    def __init__(
        self,
        table: ModelTable,
        model: str,
        spare_tokens: int | None = None,
        spare_usd: float | None = None,
    ) -> None:
        self._table = table
        self._model = model
        self._spare_tokens = spare_tokens
        self._spare_usd = spare_usd
        self._sent: _Sent | None = None
        self._kept = Usage()
        self._unreported = Usage()
        self.wasted = Usage()

    @property
    def reported(self) -> Usage:
        """The usage that servers have reported so far for all requests."""
        reported = self.wasted + self._kept
        if self._sent is not None:
            reported += self._reported_by(self._sent.fold)
        return reported

    @property
    def unreported(self) -> Usage:
        """The most that the requests may have used beyond `reported`."""
        if self._sent is None:
            return self._unreported
        return self._unreported + self._unreported_of(*self._sent)

    def most(self, request: Request) -> Usage:
        """Returns the most that a request can use."""
        return self._unreported_of(request, ReplyFold())

    def affords(self, request: Request, in_place_of: Request | None = None) -> bool:
        """Returns True if the spare part of the budget still pays for another request.

        Args:
            in_place_of: The request that the new one replaces, which the budget pays for outside the spare part.
        """
        used = self.reported + self.unreported
        most = self.most(request)
        paid = Usage(cost_usd=0.0) if in_place_of is None else self.most(in_place_of)
        if self._spare_tokens is not None:
            more = max(0, most.all_tokens - paid.all_tokens)
            if used.all_tokens + more > self._spare_tokens:
                return False
        if self._spare_usd is None:
            return True
        more_usd = max(0.0, (most.cost_usd or 0.0) - (paid.cost_usd or 0.0))
        # An unknown cost may be any amount, so a limit in dollars then pays for no further request.
        if used.cost_usd is None:
            return used.is_empty and more_usd <= self._spare_usd
        return used.cost_usd + more_usd <= self._spare_usd

    def debit(self, request: Request, fold: ReplyFold) -> None:
        """Debits a request that is about to be sent.

        Args:
            fold: Collects its reply.
        """
        # A previous request that was given up without a report keeps its debit.
        if self._sent is not None:
            self.credit()
        self._sent = _Sent(request, fold)

    def credit(self, *, kept: bool = False, unbilled: bool = False) -> Usage:
        """Credits what the request under way did not use; returns the usage that it counts for.

        Args:
            kept: Its reply is used, and its usage is reported with the reply.
            unbilled: The server refused it, or never got it.
        """
        sent, self._sent = self._sent, None
        if sent is None or unbilled:
            return Usage()
        reported = self._reported_by(sent.fold)
        unreported = self._unreported_of(*sent)
        self._unreported += unreported
        if kept:
            self._kept += reported
        else:
            self.wasted += reported
        return reported + unreported

    def _reported_by(self, fold: ReplyFold) -> Usage:
        if fold.usage.is_empty:
            return Usage()
        return self._table.priced(fold.usage, self._model_of(fold))

    def _unreported_of(self, request: Request, fold: ReplyFold) -> Usage:
        """Returns the most that a request may have used beyond its server's report."""
        reported = self._reported_by(fold)
        input_tokens = 0 if reported.all_input_tokens else most_input(request)
        # Until the reply ends, the output that it reports is only that of its beginning.
        is_told = fold.is_whole and reported.output_tokens
        left = max(0, request.max_tokens - reported.output_tokens)
        output_tokens = 0 if is_told else left
        rest = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
        rate = self._table.rate(self._model_of(fold))
        if rest.is_empty or rate is None:
            return rest
        all_of_it = reported + rest
        most_usd = rate.cost(all_of_it.all_input_tokens, all_of_it.output_tokens)
        return replace(rest, cost_usd=most_usd - (reported.cost_usd or 0.0))

    def _model_of(self, fold: ReplyFold) -> str:
        """Returns the model whose price a reply costs."""
        if fold.model and self._table.price(fold.model) is not None:
            return fold.model
        return self._model


def most_input(request: Request) -> int:
    """Returns an upper bound on the tokens of a request's input."""
    return input_bytes(request) // BYTES_A_TOKEN + ADDED_TOKENS
