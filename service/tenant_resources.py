"""The resources of a service as a caller's queries have them: without tools and documents that are not for them."""

from __future__ import annotations

from dataclasses import replace

from antiphon.composition import Resources, ServiceResources
from antiphon.dispatcher import Registry, Tool
from antiphon.vocabulary.access import Principal


class TenantResources:
    """Makes the resources of each kind of caller once."""

    def __init__(self, service: ServiceResources) -> None:
        self._service = service
        self._harmless: ServiceResources | None = None

    def of(self, principal: Principal) -> ServiceResources:
        """Returns what the caller's queries use."""
        if "effects" in principal.scopes:
            return self._service
        if self._harmless is None:
            self._harmless = _with_tools(
                self._service, _without_effects(self._service.shared.tools)
            )
        return self._harmless


def _without_effects(tools: Registry) -> Registry:
    """Returns the tools that change nothing outside; the model is not told of others."""
    kept: list[Tool] = []
    for tool in tools.tools:
        if not tool.has_effects:
            kept.append(tool)
    if len(kept) == len(tools.tools):
        return tools
    names = {tool.name for tool in kept}
    registered: list[Tool] = []
    for tool in kept:
        substitutes = tuple([name for name in tool.substitutes if name in names])
        registered.append(replace(tool, substitutes=substitutes))
    return Registry(registered)


def _with_tools(service: ServiceResources, tools: Registry) -> ServiceResources:
    shared: Resources = service.shared
    if tools is shared.tools:
        return service
    definitions = tools.definitions()
    versions: list[tuple[str, str]] = []
    for name, version in service.versions:
        if name == "tools":
            version = definitions.key
        versions.append((name, version))
    return replace(
        service,
        shared=replace(shared, tools=tools, tool_definitions=definitions),
        versions=tuple(versions),
    )
