"""The query's life cycle: what happens next, and when it must end."""

from antiphon.coordinator.circuit import (
    ProviderCircuit,
    ProviderWatch,
    another_provider_circuit,
)
from antiphon.coordinator.coordinator import QueryCoordinator
from antiphon.coordinator.deadline import DeadlineTimer, alarms
from antiphon.coordinator.intake import receive

__all__ = [
    "DeadlineTimer",
    "ProviderCircuit",
    "ProviderWatch",
    "QueryCoordinator",
    "alarms",
    "another_provider_circuit",
    "receive",
]
