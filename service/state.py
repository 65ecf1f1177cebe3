"""The state of the service at this moment, as its metrics show it."""

from __future__ import annotations

from collections.abc import Sized
from typing import Protocol

from antiphon.composition import Resources, Settings
from antiphon.telemetry import ServiceState


class _Readiness(Protocol):
    @property
    def ready(self) -> bool: ...


class _Service(Protocol):
    @property
    def settings(self) -> Settings: ...

    def running(self) -> Sized: ...

    def readiness(self) -> _Readiness: ...


def service_state(service: _Service, shared: Resources) -> ServiceState:
    """Returns the queries under way, and what is left alone because it keeps failing."""
    circuits: list[tuple[str, bool]] = []
    for name in shared.tools.names:
        circuits.append((name, shared.tool_circuits.is_open(name)))
    return ServiceState(
        queries_running=len(service.running()),
        queries_limit=service.settings.concurrent_queries,
        ready=service.readiness().ready,
        provider_open=shared.provider_circuit.is_open,
        open_tools=circuits,
    )
