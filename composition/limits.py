"""What all processes share of a provider: the rate of its calls and its circuit, over NATS or in this process alone."""

from __future__ import annotations

from dataclasses import dataclass

from antiphon import cluster, engine
from antiphon.composition.settings import Settings
from antiphon.coordinator import ProviderCircuit
from antiphon.vocabulary.circuit import Circuit
from antiphon.vocabulary.pacing import Bucket, CallBudget, Pace
from antiphon.vocabulary.ports import Clock, Model

CIRCUIT_KEY = "circuit.provider"
RATE_KEY = "rate.model"


@dataclass(frozen=True)
class Limits:
    """The limits of one process.

    Attributes:
        connection: The way to the servers that they are shared on; None: they are this process's own.
    """

    circuit: ProviderCircuit
    budget: CallBudget | None
    clock: Clock
    connection: cluster.LateConnection | None = None
    shared_circuit: cluster.SharedCircuit | None = None

    def limited(self, model: Model) -> Model:
        """Returns the model, called no faster than the settings allow."""
        if self.budget is None:
            return model
        return engine.LimitedModel(model, self.budget, self.clock)

    async def close(self) -> None:
        """Lets go of the servers."""
        if self.shared_circuit is not None:
            await self.shared_circuit.close()
        if self.connection is not None:
            await self.connection.close()


def limits_of(settings: Settings, clock: Clock, deadline_s: float) -> Limits:
    """Returns the limits that the settings name; nothing is connected yet."""
    pace = Pace(requests=settings.model_rpm, tokens=settings.model_tpm)
    budget: CallBudget | None = (
        engine.LocalCallBudget(pace, clock) if pace.is_limited else None
    )
    if not settings.nats_url:
        return Limits(ProviderCircuit(deadline_s=deadline_s), budget, clock)
    connection = cluster.LateConnection(
        settings.nats_url,
        name="antiphon limits",
        prefix=settings.nats_prefix,
        replicas=settings.nats_replicas,
    )
    if budget is not None:
        bucket = cluster.SharedValue(connection, RATE_KEY, Bucket)
        budget = cluster.SharedCallBudget(bucket, pace, budget, engine.check_wait)
    value = cluster.SharedValue(connection, CIRCUIT_KEY, Circuit)
    shared = cluster.SharedCircuit(value, Circuit())
    circuit = ProviderCircuit(deadline_s=deadline_s, holder=shared)
    return Limits(circuit, budget, clock, connection, shared)
