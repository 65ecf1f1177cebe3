"""The circuit breaker as a pure value: closed, open after repeated failures, and probed after a rest.

The owner of a circuit keeps its newest value: the coordinator owns the provider's, the dispatcher one for each tool.
"""

from __future__ import annotations

from typing import Protocol

from msgspec.structs import replace

from antiphon.vocabulary.values import Value


class Circuit(Value, frozen=True, kw_only=True):
    """One circuit; times are in seconds of the session's clock.

    Attributes:
        most_failures: Failures in a row that open it.
        rest_s: Seconds for which an open circuit lets nothing through; then the next call is the probe.
        failures: Failures since the last success.
        probe_at: While it is open: when the next call may go through.
    """

    most_failures: int = 5
    rest_s: float = 30.0
    failures: int = 0
    probe_at: float = 0.0

    @property
    def is_open(self) -> bool:
        """True if calls are held back, except for probes."""
        return self.failures >= self.most_failures

    def allows(self, now: float) -> bool:
        """Returns True if a call may go through now."""
        return not self.is_open or now >= self.probe_at

    def entered(self, now: float) -> Circuit:
        """Returns the circuit after a call went through; if it is open, that call is the one probe."""
        if not self.is_open:
            return self
        # Moved on at once, so that no second call goes through before the outcome of this one is known.
        return replace(self, probe_at=now + self.rest_s)

    def succeeded(self) -> Circuit:
        """Returns the circuit after a success: it is closed."""
        # One success is enough: the limit is on failures in a row.
        return replace(self, failures=0)

    def failed(self, now: float) -> Circuit:
        """Returns the circuit after a failure; one that is open, or opens by it, rests from now on."""
        return replace(self, failures=self.failures + 1, probe_at=now + self.rest_s)


class CircuitHolder(Protocol):
    """Holds the newest value of a circuit: for one process, or for all that share it."""

    @property
    def value(self) -> Circuit: ...

    def enter(self, now: float) -> bool:
        """Returns True if a call may go through now; if the circuit is open, that call is the one probe."""

    def succeeded(self) -> None:
        """Notes a success."""

    def failed(self, now: float) -> None:
        """Notes a failure."""


class OwnCircuit:
    """Holds a circuit of this process alone."""

    def __init__(self, value: Circuit) -> None:
        self.value = value

    def enter(self, now: float) -> bool:
        if not self.value.allows(now):
            return False
        self.value = self.value.entered(now)
        return True

    def succeeded(self) -> None:
        self.value = self.value.succeeded()

    def failed(self, now: float) -> None:
        self.value = self.value.failed(now)
