"""The packages that pip installs for requirements, according to the metadata of the packages installed here."""

from __future__ import annotations

import importlib.metadata
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())[
    "project"
]
EXTRAS: dict[str, list[str]] = {
    name: wanted
    for name, wanted in PROJECT["optional-dependencies"].items()
    if name != "dev"
}
"""The extras for users."""


def requirements(*extras: str) -> list[str]:
    """Returns the project's own requirements, including those of some extras."""
    wanted = list(PROJECT["dependencies"])
    for extra in extras:
        wanted += EXTRAS[extra]
    return wanted


def needed_by(wanted: Requirement) -> list[Requirement]:
    """Returns the requirements of a package on any platform, including those of the extras in `wanted`."""
    try:
        own = importlib.metadata.requires(wanted.name) or []
    except importlib.metadata.PackageNotFoundError:
        return []  # for another platform, or an extra that is not installed
    return [each for each in map(Requirement, own) if _applies(each, wanted.extras)]


def _applies(requirement: Requirement, extras: set[str]) -> bool:
    marker = requirement.marker
    if marker is None or "extra" not in str(marker):
        return True
    return any(marker.evaluate({"extra": extra}) for extra in extras)


def brought_by(wanted: Iterable[str]) -> set[str]:
    """Returns the names of all packages that pip installs for these requirements."""
    found: dict[str, set[str]] = {}
    waiting = list(map(Requirement, wanted))
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        known = found.setdefault(name, set())
        extras = {"", *requirement.extras}
        if not extras <= known:
            known |= extras
            waiting += needed_by(requirement)
    return set(found)
