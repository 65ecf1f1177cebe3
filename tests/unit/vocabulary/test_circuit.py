"""The circuit breaker's states."""

from __future__ import annotations

from antiphon.vocabulary.circuit import Circuit


def test_it_opens_at_the_last_of_so_many_failures_in_a_row() -> None:
    circuit = Circuit(most_failures=2, rest_s=30)

    once = circuit.failed(0.0)
    interrupted = once.succeeded().failed(1.0)
    twice = once.failed(1.0)

    assert (once.is_open, interrupted.is_open, twice.is_open) == (False, False, True)


def test_an_open_one_lets_one_probe_through_after_each_rest() -> None:
    circuit = Circuit(most_failures=1, rest_s=30).failed(0.0)

    probed = circuit.entered(31.0)

    assert (circuit.allows(29.9), circuit.allows(30.0)) == (False, True)
    assert (probed.allows(60.9), probed.allows(61.0)) == (False, True)


def test_a_closed_one_is_not_changed_by_calls() -> None:
    circuit = Circuit()

    assert circuit.entered(1.0) is circuit
