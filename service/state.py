"""The state of the service at this moment, as its metrics show it."""

from __future__ import annotations

from typing import Protocol

from antiphon.composition import ServiceResources, Settings
from antiphon.telemetry import ServiceState


class _Readiness(Protocol):
    @property
    def ready(self) -> bool: ...


class _Runtime(Protocol):
    @property
    def settings(self) -> Settings: ...

    @property
    def resources(self) -> ServiceResources: ...

    @property
    def queries_running(self) -> int: ...

    def readiness(self) -> _Readiness: ...


def service_state(runtime: _Runtime) -> ServiceState:
    """Returns the queries under way, and what is left alone because it keeps failing."""
    shared = runtime.resources.shared
    circuits: list[tuple[str, bool]] = []
    for name in shared.tools.names:
        circuits.append((name, shared.tool_circuits.is_open(name)))
    return ServiceState(
        queries_running=runtime.queries_running,
        queries_limit=runtime.settings.concurrent_queries,
        ready=runtime.readiness().ready,
        provider_open=shared.provider_circuit.is_open,
        open_tools=circuits,
    )
