"""The version of this program, as traces, the API and the command line name it, and the environment of its children."""

from __future__ import annotations

import os
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_HOME = Path(__file__).parents[2]
_PROJECT_FILE = _HOME / "pyproject.toml"
"""The project file of a checkout; an installed package has none."""

_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV")


def program_version() -> str:
    """Returns the installed version; in a checkout that is not installed, the one of its project file and `+source`."""
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


def child_environment() -> dict[str, str]:
    """Returns the environment of a child process: the paths of Python's and our modules, and nothing secret."""
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    # Absolute, since it is read elsewhere too; those of this process, which may know of more than its environment. The
    # folder that a command runs in, which Python writes as an empty path, holds a user's own tools and readers.
    paths = [str(_HOME), *map(os.path.abspath, sys.path)]
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
    # The pipes to the child carry UTF-8 in every locale.
    environment["PYTHONIOENCODING"] = "utf-8"
    return environment
