"""What all processes share of a provider over NATS: the rate of its calls and its circuit."""

from __future__ import annotations

from antiphon import cluster, engine
from antiphon.composition import Limits, Settings, own_budget
from antiphon.coordinator import ProviderCircuit
from antiphon.vocabulary.circuit import Circuit
from antiphon.vocabulary.pacing import Bucket, CallBudget, Pace
from antiphon.vocabulary.ports import Clock
from antiphon.workers.connecting import late_connection

CIRCUIT_KEY = "circuit.provider"
RATE_KEY = "rate.model"


def shared_limits(settings: Settings, clock: Clock, deadline_s: float) -> Limits:
    """Returns the limits of all processes; nothing is connected yet.

    Raises:
        ConfigurationError: The settings name no servers.
    """
    connection = late_connection(settings, "limits")
    return limits_over(connection, settings, clock, deadline_s)


def limits_over(
    connection: cluster.LateConnection,
    settings: Settings,
    clock: Clock,
    deadline_s: float,
) -> Limits:
    """Returns the limits of all processes over a connection, which is closed with them."""
    budget: CallBudget | None = own_budget(settings, clock)
    if budget is not None:
        pace = Pace(requests=settings.model_rpm, tokens=settings.model_tpm)
        bucket = cluster.SharedValue(connection, RATE_KEY, Bucket)
        budget = cluster.SharedCallBudget(bucket, pace, budget, engine.check_wait)
    value = cluster.SharedValue(connection, CIRCUIT_KEY, Circuit)
    circuit = cluster.SharedCircuit(value, Circuit())

    async def close() -> None:
        await circuit.close()
        await connection.close()

    provider = ProviderCircuit(deadline_s=deadline_s, holder=circuit)
    return Limits(provider, budget, clock, close)
