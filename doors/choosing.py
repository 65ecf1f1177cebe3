"""The doors that the settings name."""

from __future__ import annotations

from importlib import import_module

from antiphon.api import Door
from antiphon.service import Settings
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.imports import needing_extra, split_names

DOORS = {
    "openai": "antiphon.doors.openai.routes",
    "agui": "antiphon.doors.agui.routes",
    "mcp": "antiphon.doors.mcp.routes",
}
"""The module of each door, which is imported only if it is chosen, and holds it as `DOOR`; its extra has its name."""


def doors_of(settings: Settings) -> tuple[Door, ...]:
    """Returns the doors that the settings name.

    Raises:
        ConfigurationError: There is no such door, or its package is missing.
    """
    doors: list[Door] = []
    for name in split_names(settings.doors):
        if name not in DOORS:
            raise ConfigurationError(
                f"ANTIPHON_DOORS names {name!r}, which does not exist: there are {', '.join(DOORS)}."
            )
        with needing_extra(name, f"ANTIPHON_DOORS={name}"):
            doors.append(import_module(DOORS[name]).DOOR)
    return tuple(doors)
