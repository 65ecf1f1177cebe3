"""Breaks the source on purpose, one small change at a time, and verifies that a named check finds every one.

Run as `python -m tests.faults.mutants` for all of them, with `--random 12` for a random dozen, or with a part of their
names. A mutant that no check finds is alive, and makes the exit code 1.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import yaml

ROOT = Path(__file__).parents[2]
MUTANTS = Path(__file__).with_name("mutants.yaml")
RUNNING_S = 600.0
# Compiled files are copied because compiling again would take longer; not those that another process is writing.
_LEFT_OUT = shutil.ignore_patterns(
    ".*", "data", "*.egg-info", "node_modules", "*.pyc.*"
)
_HARNESS = ("-m", "antiphon.cli", "faults", "run", "--fail-fast")
PYTEST = ("-m", "pytest", "-p", "tests.faults.unshrunk", "-x", "-q", "--no-header", "--tb=line")  # fmt: skip


class Mutant(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One small change that breaks one promise: in `file`, `old` becomes `new`.

    Attributes:
        by: The tests that must find it; the fault matrix if there are none.
    """

    name: str
    file: str
    old: str
    new: str
    by: tuple[str, ...] = ()


def mutants() -> list[Mutant]:
    """Reads mutants.yaml."""
    return msgspec.convert(yaml.safe_load(MUTANTS.read_text()), list[Mutant])


def mutated(mutant: Mutant, root: Path = ROOT) -> str:
    """Returns the changed source; refuses a mutant that no longer fits the file."""
    source = (root / mutant.file).read_text()
    if source.count(mutant.old) != 1:
        raise SystemExit(
            f"{mutant.name}: {mutant.file} does not hold its `old` exactly once: mend mutants.yaml"
        )
    return source.replace(mutant.old, mutant.new)


@contextmanager
def copy_of_source() -> Iterator[Path]:
    """Copies the checkout into a scratch folder that mutants may break."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "checkout"
        shutil.copytree(ROOT, copy, symlinks=True, ignore=_left_out)
        # Some tests read a `shared` folder next to the checkout.
        shared = ROOT.parent / "shared"
        if shared.exists():
            (Path(folder) / "shared").symlink_to(shared)
        yield copy


def _left_out(folder: str, names: list[str]) -> set[str]:
    left_out = _LEFT_OUT(folder, names)
    # A `data` folder of the tests belongs to them; the one in the root holds a service's data and may be large.
    if Path(folder) != ROOT:
        left_out.discard("data")
    left_out.discard(".env.example")
    return set(left_out)


def run_changed(
    copy: Path, file: str, source: str, command: Sequence[str], timeout_s: float
) -> subprocess.CompletedProcess[str]:
    """Runs a Python check while a file of the copy holds another source.

    Raises:
        subprocess.TimeoutExpired: It took longer.
    """
    path = copy / file
    original = path.read_text()
    _write(path, source)
    try:
        return subprocess.run(
            [sys.executable, *command],
            cwd=copy,
            env=os.environ | {"PYTHONPATH": str(copy)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
    finally:
        _write(path, original)


def _write(path: Path, source: str) -> None:
    """Writes a source file with a random later mtime: Python matches compiled code by mtime, in whole seconds."""
    path.write_text(source)
    os.utime(path, (time.time(), time.time() + random.randint(10, 10_000_000)))


def found(mutant: Mutant, copy: Path) -> str:
    """Returns the check's first finding about the mutant; empty if it finds nothing."""
    command = (*PYTEST, *mutant.by) if mutant.by else _HARNESS
    try:
        run = run_changed(copy, mutant.file, mutated(mutant, copy), command, RUNNING_S)
    except subprocess.TimeoutExpired as error:
        said = (error.stdout or b"").decode(errors="replace")
        raise SystemExit(
            f"{mutant.name}: a test waits for ever instead of failing ({RUNNING_S:.0f} s):\n{said[-2000:]}"
        ) from error
    if run.returncode == 0:
        return ""
    sign = "FAILED" if mutant.by else "✗"
    findings = [line for line in _lines(run) if line.startswith((sign, "ERROR"))]
    # A check that could not run at all (out of memory, say) has found nothing.
    if run.returncode == 1 and findings:
        return findings[0]
    raise SystemExit(
        f"{mutant.name}: the check itself failed:\n{run.stdout[-2000:]}\n{run.stderr[-2000:]}"
    )


def _lines(run: subprocess.CompletedProcess[str]) -> list[str]:
    return [*run.stdout.splitlines(), *run.stderr.splitlines()]


def report(chosen: Sequence[Mutant]) -> list[str]:
    """Tries each mutant and prints what found it; returns the names of those that live."""
    alive: list[str] = []
    with copy_of_source() as copy:
        for mutant in chosen:
            finding = found(mutant, copy)
            verdict = "caught"
            if not finding:
                verdict = "ALIVE "
                alive.append(mutant.name)
            sys.stdout.write(f"{verdict}  {mutant.name}\n        {finding[:160]}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(chosen) - len(alive)} of {len(chosen)} mutants caught\n")
    return alive


def main() -> None:
    """Tries the mutants named on the command line; exits with 1 if one lives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of names; none: all mutants")
    parser.add_argument("--random", type=int, help="so many of them, by chance")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    arguments = parser.parse_args()
    chosen = mutants()
    if arguments.names:
        chosen = [
            mutant
            for mutant in chosen
            if any(name in mutant.name for name in arguments.names)
        ]
    if arguments.random is not None:
        sys.stdout.write(f"seed {arguments.seed}\n")
        chooser = random.Random(arguments.seed)
        chosen = chooser.sample(chosen, min(arguments.random, len(chosen)))
    sys.exit(bool(report(chosen)))


if __name__ == "__main__":
    main()
