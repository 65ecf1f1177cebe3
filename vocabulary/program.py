"""The version of this program, as traces, the API and the command line name it."""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PROJECT_FILE = Path(__file__).parents[2] / "pyproject.toml"
"""The project file of a checkout; an installed package has none."""


def program_version() -> str:
    """Returns the installed version; in a checkout that is not installed that of its project file and `+source`."""
    try:
        return version("antiphon")
    except PackageNotFoundError:
        return f"{_version_of_checkout()}+source"


def _version_of_checkout() -> str:
    try:
        project = tomllib.loads(_PROJECT_FILE.read_text("utf-8"))["project"]
    except (OSError, ValueError, KeyError):
        return "0"
    return str(project["version"])
