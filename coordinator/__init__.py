"""The query's life cycle: what happens next, and when it must end."""

from coordinator.circuit import ProviderCircuit, ProviderWatch
from coordinator.coordinator import QueryCoordinator
from coordinator.deadline import DeadlineTimer
from coordinator.intake import Limits, receive

__all__ = ["DeadlineTimer", "Limits", "ProviderCircuit", "ProviderWatch", "QueryCoordinator", "receive"]
