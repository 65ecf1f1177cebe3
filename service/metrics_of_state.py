"""The current state of the service, for its metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from antiphon.composition import ServiceResources, Settings


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


def service_state(runtime: _Runtime) -> Mapping[str, Mapping[tuple[str, ...], float]]:
    """Returns the running queries, the readiness and the open circuits, by metric and labels."""
    shared = runtime.resources.shared
    is_open = shared.tool_circuits.is_open
    return {
        "antiphon_queries_running": {(): runtime.queries_running},
        "antiphon_queries_limit": {(): runtime.settings.concurrent_queries},
        "antiphon_ready": {(): float(runtime.readiness().ready)},
        "antiphon_provider_circuit_open": {(): float(shared.provider_circuit.is_open)},
        "antiphon_tool_circuit_open": {
            (name,): float(is_open(name)) for name in shared.tools.names
        },
    }
