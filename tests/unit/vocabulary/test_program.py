"""The version that a trace, the API and the command line name."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

from antiphon.vocabulary.program import program_version

ROOT = Path(__file__).parents[3]
_PROGRAM = (
    "from antiphon.vocabulary.program import program_version; print(program_version())"
)


def test_a_checkout_that_is_not_installed_names_its_version_too() -> None:
    released = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "version"
    ]

    # Without site-packages nothing is installed.
    run = subprocess.run(
        [sys.executable, "-S", "-c", _PROGRAM],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert run.stdout.strip() == f"{released}+source"
    assert program_version() in {released, f"{released}+source"}
