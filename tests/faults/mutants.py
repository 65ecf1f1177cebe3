"""Breaks the source in eleven ways, each in a copy of its own, and sees that the harness finds every one.

Run as `python -m tests.faults.mutants`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).parents[2]
_LEFT_OUT = shutil.ignore_patterns("__pycache__")
MUTANTS = Path(__file__).with_name("mutants.yaml")
RUNNING_S = 600.0


class Mutant(NamedTuple):
    """One small change that breaks one promise."""

    name: str
    file: str
    old: str
    new: str


def mutants() -> list[Mutant]:
    """The mutants of mutants.yaml."""
    return [Mutant(**fields) for fields in yaml.safe_load(MUTANTS.read_text())]


def mutated(mutant: Mutant) -> str:
    """The changed source; refuses a mutant that no longer fits it."""
    source = (ROOT / mutant.file).read_text()
    if source.count(mutant.old) != 1:
        raise SystemExit(
            f"{mutant.name}: {mutant.file} does not hold its `old` exactly once: mend mutants.yaml"
        )
    return source.replace(mutant.old, mutant.new)


def found(mutant: Mutant) -> str:
    """What the harness says of the mutant, or an empty text where it finds nothing."""
    package = ROOT / "antiphon"
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(
            package, Path(folder) / "antiphon", symlinks=True, ignore=_LEFT_OUT
        )
        for link in package.iterdir():
            if link.is_symlink():
                shutil.copytree(link, Path(folder) / link.name, ignore=_LEFT_OUT)
        (Path(folder) / mutant.file).write_text(mutated(mutant))
        run = subprocess.run(
            [sys.executable, "-m", "antiphon.cli", "faults", "run", "--fail-fast"],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": folder},
            capture_output=True,
            text=True,
            timeout=RUNNING_S,
            check=False,
        )
    said = [line for line in run.stderr.splitlines() if line.startswith("✗")]
    if run.returncode == 1 and said:
        return said[0]
    if run.returncode != 0:
        raise SystemExit(
            f"{mutant.name}: the harness itself failed:\n{run.stderr[-2000:]}"
        )
    return ""


def main() -> None:
    """Tries them all; exit code 1 where one lives."""
    alive = []
    for mutant in mutants():
        said = found(mutant)
        sys.stdout.write(
            f"{'caught' if said else 'ALIVE '}  {mutant.name}\n        {said}\n"
        )
        sys.stdout.flush()
        if not said:
            alive.append(mutant.name)
    sys.stdout.write(
        f"{len(mutants()) - len(alive)} of {len(mutants())} mutants caught\n"
    )
    sys.exit(bool(alive))


if __name__ == "__main__":
    main()
