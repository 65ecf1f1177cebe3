"""The resources that a caller's queries use: those of the service, less the tools and documents not meant for them."""

from __future__ import annotations

from dataclasses import replace

from antiphon.access.tenant_libraries import TenantLibraries, TenantLibrary
from antiphon.composition import Resources, ServiceResources, with_tools_of_servers
from antiphon.coordinator import ProviderCircuit, another_provider_circuit
from antiphon.dispatcher import Registry, Tool, ToolCircuits, another_tool_circuits
from antiphon.vocabulary.access import LOCAL_TENANT, Principal


class TenantResources:
    """Makes the resources for each kind of caller once: by tenant, library, and whether tools may have effects.

    Attributes:
        libraries: Documents of the tenants' own; None: this service can have none.
    """

    def __init__(self, service: ServiceResources) -> None:
        self._service = service
        self._own_tools = service.shared.tools
        self._offered: tuple[Tool, ...] = ()
        self.libraries = (
            None if service.indexes is None else TenantLibraries(service.indexes)
        )
        self._made: dict[tuple[str, TenantLibrary | None, bool], ServiceResources] = {}
        self._circuits: dict[str, tuple[ProviderCircuit, ToolCircuits]] = {}

    def open(self) -> None:
        """Opens the documents of tenants; blocks, so call it before the service begins."""
        if self.libraries is not None:
            self.libraries.open_all()

    def of(self, principal: Principal) -> ServiceResources:
        """Returns the resources for queries of the caller that begin now."""
        self._take_offered()
        tenant = principal.tenant if is_apart(principal) else ""
        library = self.library_of(principal)
        with_effects = "effects" in principal.scopes
        key = (tenant, library, with_effects)
        if key not in self._made:
            made = self._service
            if library is not None and made.indexes is not None:
                shared = made.indexes.over(library.library)
                made = replace(made, library=library.library, shared=shared)
            if not with_effects:
                made = _with_tools(made, _without_effects(made.shared.tools))
            if tenant:
                made = replace(made, shared=self._with_circuits(tenant, made.shared))
            self._made[key] = made
        return self._made[key]

    def _take_offered(self) -> None:
        """Takes in the tools that MCP servers offer, if they have changed; queries under way keep what they have."""
        servers = self._service.tool_servers
        if servers is None or servers.tools is self._offered:
            return
        self._offered = servers.tools
        tools = with_tools_of_servers(self._own_tools, self._offered)
        self._service = _with_tools(self._service, tools)
        self._made.clear()

    def _with_circuits(self, tenant: str, shared: Resources) -> Resources:
        """Returns the resources with the tenant's own circuits, so that one tenant's failures hold up no other."""
        if tenant not in self._circuits:
            self._circuits[tenant] = (
                another_provider_circuit(shared.provider_circuit),
                another_tool_circuits(shared.tool_circuits),
            )
        provider, tools = self._circuits[tenant]
        return replace(
            shared, provider_circuit=provider, tool_circuits=tools, owner=tenant
        )

    def library_of(self, principal: Principal) -> TenantLibrary | None:
        """Returns the documents that only the caller's tenant sees; None if there are none."""
        if not is_apart(principal) or self.libraries is None:
            return None
        return self.libraries.of(principal.tenant)


def is_apart(principal: Principal) -> bool:
    """Returns True for a caller who is kept apart from other tenants; one who works on the machine itself is not."""
    return not principal.sees_all and principal.tenant not in ("", LOCAL_TENANT)


def _without_effects(tools: Registry) -> Registry:
    """Returns the tools that change nothing outside; the model does not learn of the others."""
    kept = [tool for tool in tools.tools if not tool.has_effects]
    # The very same object, by which `_with_tools` sees that nothing changes.
    if len(kept) == len(tools.tools):
        return tools
    names = {tool.name for tool in kept}
    registered: list[Tool] = []
    # A tool must not name a substitute that is no longer there.
    for tool in kept:
        substitutes = tuple([name for name in tool.substitutes if name in names])
        registered.append(replace(tool, substitutes=substitutes))
    return Registry(registered)


def _with_tools(service: ServiceResources, tools: Registry) -> ServiceResources:
    shared: Resources = service.shared
    if tools is shared.tools:
        return service
    definitions = tools.definitions()
    versions = dict(service.versions) | {"tools": definitions.key}
    return replace(
        service,
        shared=replace(shared, tools=tools, tool_definitions=definitions),
        versions=tuple(versions.items()),
    )
