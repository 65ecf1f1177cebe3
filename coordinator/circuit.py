"""The provider's circuit, shared by all queries: repeated failures open it, and one query then probes the provider."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from antiphon.vocabulary.circuit import Circuit, CircuitHolder, OwnCircuit
from antiphon.vocabulary.events import (
    FailureKind,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    Recorded,
    SummaryCompleted,
    SummaryFailed,
)
from antiphon.vocabulary.ports import Subscription, on

_OURS: frozenset[FailureKind] = frozenset(
    {"invalid_request", "illegal_request", "context_window", "abandoned", "malformed"}
)
PROVIDERS: frozenset[str] = frozenset(get_args(FailureKind)) - _OURS
"""Failures of the provider; the others concern a single request, or calls that were abandoned."""
_SLACK_S = 0.001
"""The allowed rounding error of sums of seconds."""
OF_SUMMARIES = PROVIDERS - {"timeout", "not_found"}
"""Without two failures that a summarising call may have only because of its short time or its separate model."""


class ProviderCircuit:
    """The provider's circuit, one per process. A query sees its state only in `QueryReceived.provider_open`.

    Args:
        failures: Failed calls in a row, across all queries, that open the circuit.
        rest_s: Seconds for which it then keeps all queries out.
        deadline_s: The service's own deadline: a call that misses a shorter one says nothing about the provider.
        holder: Holds the circuit for all processes that share it; replaces `failures` and `rest_s`.
    """

    def __init__(
        self,
        failures: int = 5,
        rest_s: float = 30.0,
        deadline_s: float = 0.0,
        holder: CircuitHolder | None = None,
    ) -> None:
        own = Circuit(most_failures=failures, rest_s=rest_s)
        self._holder = holder or OwnCircuit(own)
        self._deadline_s = deadline_s

    @property
    def is_open(self) -> bool:
        """True if the circuit keeps all calls except probes from the provider."""
        return self._holder.value.is_open

    def gave_time(self, asked: ReasoningRequested) -> bool:
        """Returns True if the call had all the time that the service's own deadline would have left it."""
        shares_s = asked.elapsed_s + asked.timeout_s + asked.kept_s
        return shares_s >= self._deadline_s - _SLACK_S

    def keeps_out(self, now: float) -> bool:
        """Returns True if a query that begins now must not call the provider; otherwise it may be the probe."""
        return not self._holder.enter(now)

    def succeeded(self) -> None:
        """Notes that the provider answered: the circuit closes."""
        self._holder.succeeded()

    def failed(self, now: float) -> None:
        """Notes that a call failed."""
        self._holder.failed(now)


class ProviderWatch:
    """Reports to the circuit how one query's calls to the provider end; decides nothing for that query."""

    def __init__(self, circuit: ProviderCircuit) -> None:
        self._circuit = circuit
        self._asked: dict[str, ReasoningRequested] = {}

    def subscriptions(self) -> Iterator[Subscription]:
        """Yields its subscriptions."""
        yield on(SummaryFailed, self.on_summary_failed)
        yield on(SummaryCompleted, self.on_summary_completed)
        yield on(ReasoningRequested, self.on_reasoning_requested)
        yield on(ReasoningFailed, self.on_reasoning_failed)
        yield on(ReasoningCompleted, self.on_reasoning_completed)

    def on_reasoning_requested(self, recorded: Recorded[ReasoningRequested]) -> None:
        # The fallback reasoner runs in this process: its calls say nothing about the provider.
        if recorded.event.reasoner == "primary":
            self._asked[recorded.event.call_id] = recorded.event

    def on_reasoning_completed(self, recorded: Recorded[ReasoningCompleted]) -> None:
        if recorded.event.call_id in self._asked:
            self._circuit.succeeded()

    def on_reasoning_failed(self, recorded: Recorded[ReasoningFailed]) -> None:
        asked = self._asked.get(recorded.event.call_id)
        failure = recorded.event.failure
        if asked is None or failure not in PROVIDERS:
            return
        # One caller's hurry must not keep everybody else from the provider.
        if failure == "timeout" and not self._circuit.gave_time(asked):
            return
        self._circuit.failed(recorded.at)

    def on_summary_completed(self, _: Recorded[SummaryCompleted]) -> None:
        self._circuit.succeeded()  # only the primary reasoner writes summaries

    def on_summary_failed(self, recorded: Recorded[SummaryFailed]) -> None:
        if recorded.event.failure in OF_SUMMARIES:
            self._circuit.failed(recorded.at)


def another_provider_circuit(circuit: ProviderCircuit) -> ProviderCircuit:
    """Returns a closed circuit with the same figures, for callers whose failures say nothing about other callers'."""
    now = circuit._holder.value
    return ProviderCircuit(now.most_failures, now.rest_s, circuit._deadline_s)
