"""Draws small random changes from the whole source, a number from each folder, and runs the tests that execute them.

`make -f tests/Makefile mutants` first notes which test executes which line (`executed.py`). A drawn mutant is run
against those tests, the quickest first. One that lives is a behaviour that no test holds: write the test, or say in
`mutants_alive.yaml` why nobody can tell the difference. Run as `python -m tests.faults.drawn NOTES`; NOTES is the
COVERAGE_FILE.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import coverage
import msgspec
import yaml

from tests.faults.mutants import PYTEST, ROOT, copy_of_source, run_changed
from tests.faults.mutations import Change, changes_of

ALIVE = Path(__file__).with_name("mutants_alive.yaml")
RUNNING_S = 300.0
CHECKING_S = 60.0
"""Budget in seconds, by the noted durations, for the tests of one mutant; the quickest tests run until it is spent."""
MOST_OF_A_TEST = 3
"""The most rows of one parametrized test to run."""
NOT_NOTED = {"faults": "tests/faults/test_matrix.py"}
"""Tests of a package that take too long under coverage."""
MOST_FILES = 12
"""The most test files to run: importing each takes time."""


class Known(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A mutant that may live, and why nobody can tell the difference."""

    mutant: str
    why: str


def known_alive() -> dict[str, str]:
    """Reads mutants_alive.yaml."""
    listed = msgspec.convert(yaml.safe_load(ALIVE.read_text()) or [], list[Known])
    return {known.mutant: known.why for known in listed}


def folders(root: Path = ROOT) -> dict[str, list[str]]:
    """Returns the modules of each folder of the packages, a subfolder's on their own."""
    found: dict[str, list[str]] = defaultdict(list)
    for link in sorted((root / "antiphon").iterdir()):
        for path in sorted((root / link.name).rglob("*.py")) if link.is_dir() else ():
            name = path.relative_to(root)
            found[str(name.parent)].append(str(name))
    return dict(found)


def drawn(files: Sequence[str], count: int, seed: str) -> list[Change]:
    """Returns `count` random changes of some files, the same for the same seed and source."""
    changes: list[Change] = []
    for file in files:
        changes += changes_of(file, (ROOT / file).read_text())
    return random.Random(seed).sample(changes, min(count, len(changes)))


class Notes:
    """Which test executes which line and how long each test takes, as `executed.py` noted them."""

    def __init__(self, path: Path) -> None:
        self._data = coverage.CoverageData(str(path))
        self._data.read()
        lines = Path(f"{path}-seconds").read_text().splitlines()
        self._seconds: dict[str, float] = dict(map(msgspec.json.decode, lines))

    def tests_of(self, change: Change) -> list[str]:
        """Returns the tests that execute a changed line, the quickest first, as many as the time allows."""
        tests: set[str] = set()
        by_line = self._data.contexts_by_lineno(change.file)
        for line in range(change.line, change.last_line + 1):
            for context in by_line.get(line, ()):
                # A process that a test started is labelled "test (call)", the test's own process "|test".
                test = context.rpartition("|")[2].partition(" (")[0]
                # pytest cannot select a parametrized row whose own id contains "::".
                if "::" not in test.partition("[")[2]:
                    tests.add(test)
        own = f"tests/unit/{change.file.partition('/')[0]}/"
        tests &= set(self._seconds)
        # The changed package's own unit tests come first: they are the likeliest to notice.
        in_order = sorted(
            tests, key=lambda test: (not test.startswith(own), self._seconds[test])
        )
        chosen: list[str] = []
        rows: Counter[str] = Counter()
        files: set[str] = set()
        left_s = CHECKING_S
        for test in in_order:
            file, function = test.partition("::")[0], test.partition("[")[0]
            is_of_another = file not in files and len(files) == MOST_FILES
            if is_of_another or rows[function] == MOST_OF_A_TEST or left_s < 0:
                continue
            chosen.append(test)
            rows[function] += 1
            files.add(file)
            left_s -= self._seconds[test]
        return chosen


def finding(change: Change, tests: Sequence[str], copy: Path) -> str:
    """Returns the first failure that the tests, or then all unit tests of the package, report; empty if all pass."""
    found = _said_by(tests, change, copy) if tests else ""
    package = change.file.partition("/")[0]
    # Coverage credits the work of an app or process that several tests share to the first of them alone, and the
    # matrix is not noted at all: so the whole package's tests, and the matrix, get a try as well.
    for others in (f"tests/unit/{package}", NOT_NOTED.get(package)):
        if not found and others and (copy / others).exists():
            found = _said_by([others], change, copy)
    return found


def check_sound(folders: Iterable[str], copy: Path) -> None:
    """Checks that the unit tests pass on unchanged source; if they failed there, they would "find" every mutant.

    Raises:
        SystemExit: They do not.
    """
    for package in sorted({folder.partition("/")[0] for folder in folders}):
        tests = f"tests/unit/{package}"
        if not (copy / tests).exists():
            continue
        run = subprocess.run(
            [sys.executable, *PYTEST, tests],
            cwd=copy,
            env=os.environ | {"PYTHONPATH": str(copy)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode:
            raise SystemExit(f"{tests} fails without a mutant:\n{run.stdout[-2000:]}")


def _said_by(tests: Sequence[str], change: Change, copy: Path) -> str:
    source = change.applied((copy / change.file).read_text())
    # The names may be too long for a command line.
    listed = copy / ".tests-of-a-mutant"
    listed.write_text("\n".join(tests))
    try:
        run = run_changed(copy, change.file, source, (*PYTEST, f"@{listed}"), RUNNING_S)
    except subprocess.TimeoutExpired:
        return "a test waits for ever"
    # All passed, or (4, 5) pytest does not know a test: https://docs.pytest.org/en/stable/reference/exit-codes.html
    if run.returncode in (0, 4, 5):
        return ""
    for line in run.stdout.splitlines():
        if line.startswith(("FAILED", "ERROR ")):
            return line
    return f"no test could run (exit code {run.returncode} of pytest)"


def main() -> None:
    """Draws, checks and reports; exits with 1 if a mutant lives for no stated reason."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notes", type=Path, help="COVERAGE_FILE of the noted run")
    parser.add_argument("folders", nargs="*", help="none: all folders")
    parser.add_argument("--floor", type=int, default=10, help="mutants of each folder")
    parser.add_argument("--seed", default="1")
    arguments = parser.parse_args()
    notes, known = Notes(arguments.notes), known_alive()
    total: Counter[str] = Counter()
    chosen = {
        folder: files
        for folder, files in folders().items()
        if not arguments.folders or folder in arguments.folders
    }
    with copy_of_source() as copy:
        check_sound(chosen, copy)
        for folder, files in chosen.items():
            verdicts: Counter[str] = Counter()
            for change in drawn(files, arguments.floor, f"{arguments.seed} {folder}"):
                tests = notes.tests_of(change)
                found = finding(change, tests, copy)
                verdict = "killed"
                if not found:
                    verdict = "excused" if change.name in known else "ALIVE"
                verdicts[verdict] += 1
                sys.stdout.write(
                    f"{verdict} {change.name}\n  {change.file}:{change.line}, {len(tests)} tests {found[:120]}\n"
                )
                sys.stdout.flush()
            total += verdicts
            sys.stdout.write(f"== {folder}: {_counts(verdicts)}\n")
    sys.stdout.write(f"== seed {arguments.seed}: {_counts(total)}\n")
    sys.exit(bool(total["ALIVE"]))


def _counts(verdicts: Counter[str]) -> str:
    counts = [f"{count} {verdict}" for verdict, count in sorted(verdicts.items())]
    return f"{verdicts.total()} drawn: {', '.join(counts)}"


if __name__ == "__main__":
    main()
