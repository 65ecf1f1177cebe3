"""The provider's circuit, across queries: after repeated failures it is left alone, then probed by one query."""

from __future__ import annotations

from typing import get_args

from antiphon.vocabulary.events import (
    FailureKind,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    Recorded,
    SummaryCompleted,
    SummaryFailed,
)

FAILURES = 5
"""Failed calls on end, of whichever queries, that open the circuit."""
REST_S = 30.0
"""Seconds for which an open circuit lets nothing through; then the next query is the probe."""

_OURS: frozenset[FailureKind] = frozenset({"invalid_request", "illegal_request", "abandoned", "malformed"})
PROVIDERS: frozenset[str] = frozenset(get_args(FailureKind)) - _OURS
"""Failures that tell of the provider; the others tell of one request, or that nobody waited for its end."""
OF_SUMMARIES = PROVIDERS - {"timeout", "not_found"}
"""Of a summarising call these tell nothing: it is given little time, and asks for a model of its own."""


class ProviderCircuit:
    """Counts; one a process. Its state enters a query in `QueryReceived.provider_open`, and only there."""

    def __init__(self, failures: int = FAILURES, rest_s: float = REST_S) -> None:
        self._most = failures
        self._rest_s = rest_s
        self._failed = 0
        self._probe_at = 0.0

    @property
    def is_open(self) -> bool:
        """Whether calls are kept from the provider, but for probes."""
        return self._failed >= self._most

    def keeps_out(self, now: float) -> bool:
        """Whether a query that begins now is to do without the provider; one that is not, while open, is the probe."""
        if not self.is_open:
            return False
        if now < self._probe_at:
            return True
        self._probe_at = now + self._rest_s
        return False

    def succeeded(self) -> None:
        """The provider answered: the circuit closes."""
        self._failed = 0

    def failed(self, now: float) -> None:
        """A call failed."""
        self._failed += 1
        if self.is_open:
            self._probe_at = now + self._rest_s


class ProviderWatch:
    """Tells the circuit how one query's calls to the provider end. It decides nothing of its own query."""

    def __init__(self, circuit: ProviderCircuit) -> None:
        self._circuit = circuit
        self._asked: set[str] = set()

    def on_reasoning_requested(self, said: Recorded[ReasoningRequested]) -> None:
        if said.event.reasoner == "primary":
            self._asked.add(said.event.call_id)

    def on_reasoning_completed(self, said: Recorded[ReasoningCompleted]) -> None:
        if said.event.call_id in self._asked:
            self._circuit.succeeded()

    def on_reasoning_failed(self, said: Recorded[ReasoningFailed]) -> None:
        if said.event.call_id in self._asked and said.event.failure in PROVIDERS:
            self._circuit.failed(said.at)

    def on_summary_completed(self, _: Recorded[SummaryCompleted]) -> None:
        self._circuit.succeeded()  # only the primary reasoner is asked for summaries

    def on_summary_failed(self, said: Recorded[SummaryFailed]) -> None:
        if said.event.failure in OF_SUMMARIES:
            self._circuit.failed(said.at)
