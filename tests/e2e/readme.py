"""The commands that our first pages show with their output: read from there, run as a reader would, and compared.

A reader's first ten minutes are these commands, so each is run in a folder as a reader has it, over the index that
`make run` makes, with a service beside it. What differs from run to run is left open: ids, times, and what the page
leaves out by `…`; and so are the last digits of tokens summed over many answers, which differ from one processor to the
next.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "docs" / "tour.md")
RUNNING_S = 120.0

_BLOCK = re.compile(r"^```(console|json)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ID = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{12,32}\b|\btoolu_[0-9a-f]+\b")
_TIME = re.compile(r"\b\d+(?:\.\d+)?(?= (?:ms|s)\b)")
_DURATION = re.compile(
    r'("duration_ms": )[\d.]+|(\bms\b[^\w\n]+)[\d,]+([^\w\n]+)[\d,]+'
)
_TOTALS = re.compile(r"\b([\d,]+) \+ ([\d,]+)(?= tokens\b)")
_TOTALS_MAY_DIFFER = 0.03
"""Share. An embedding differs in its last bits from one processor to the next, and so does, of two passages that fit
equally well, the one that is found: among 120 answers a few are a sentence longer or shorter."""
_DRAWN = re.compile(r"[┏┓┗┛┡┩┳┻╇╈┴┬├┤┼└┘┌┐━─┃│]+")


class Shown(NamedTuple):
    """A command as the page shows it, and the lines that it shows beneath; none if it shows no output."""

    command: str
    output: str

    @property
    def name(self) -> str:
        """The command on one line, short."""
        return " ".join(self.command.split())[:70]


def shown(page: str) -> list[Shown]:
    """Reads the commands of a page, in order."""
    found: list[Shown] = []
    for language, text in _BLOCK.findall(page):
        if language == "json":
            # The output of the command before it, in a block of its own to be coloured.
            found[-1] = found[-1]._replace(output=text)
        else:
            found += _commands(text)
    return found


def _commands(block: str) -> list[Shown]:
    found: list[Shown] = []
    continued = False
    for line in block.splitlines(keepends=True):
        if line.startswith("$ ") and not continued:
            found.append(Shown(line.removeprefix("$ "), ""))
        elif continued:
            found[-1] = found[-1]._replace(command=found[-1].command + line)
        elif found:
            found[-1] = found[-1]._replace(output=found[-1].output + line)
        continued = line.rstrip("\n").endswith("\\")
    return found


class Reader:
    """Somebody who reads the page and types what it shows.

    Args:
        folder: The one that they are in; it holds what the page's paths name.
        url: The service, which the page has at http://127.0.0.1:8000.
        environment: Of each command; its PATH holds `antiphon`.

    Attributes:
        newest: The id of the trace that the page calls `ID`.
    """

    def __init__(self, folder: Path, url: str, environment: dict[str, str]) -> None:
        self._folder = folder
        self._url = url
        self._environment = environment
        self._ids: dict[str, str] = {}
        self.newest = ""

    def call(self, of_page: str, ours: str) -> None:
        """Notes that an id of the page is this one here, if it is not known; beginnings of it are known too."""
        self._ids.setdefault(of_page, ours)

    def type(self, command: str) -> str:
        """Runs a command, and returns all that it prints, in the order in which a terminal would show it."""
        return self._run(command, stderr=subprocess.STDOUT).stdout

    def result(self, command: str) -> str:
        """Runs a command that must succeed, and returns its standard output."""
        run = self._run(command)
        assert run.returncode == 0, run.stderr
        return run.stdout

    def _run(
        self, command: str, stderr: int = subprocess.PIPE
    ) -> subprocess.CompletedProcess[str]:
        text = command.replace("http://127.0.0.1:8000", self._url)
        for of_page, ours in self._ids.items():
            text = text.replace(of_page, ours)
            text = text.replace(of_page[:12], ours[:12])
        if self.newest:
            text = re.sub(r"\bID\b", self.newest, text)
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", text],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            timeout=RUNNING_S,
            check=False,
        )


def ids_in(text: str) -> list[str]:
    """Returns the ids in a text, each once."""
    return list(dict.fromkeys(_ID.findall(text)))


def comparable(text: str) -> list[str]:
    """Returns the lines of an output without what differs from run to run, and without drawn lines."""
    text = _ID.sub("<id>", _laid_out(text))
    text = _DURATION.sub(r"\1\2<n>\3", text)
    text = _TIME.sub("<n>", text)
    lines: list[str] = []
    for line in text.splitlines():
        plain = " ".join(_DRAWN.sub(" ", line).split())
        if plain:
            lines.append(plain)
    return lines


def _laid_out(text: str) -> str:
    """Returns JSON with a field a line, as the page shows it, and any other text as it is."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text


def missing(expected: str, printed: str) -> list[str]:
    """Returns the lines of the page that were not printed in this order; `…` matches anything."""
    left = comparable(printed)
    absent: list[str] = []
    for line in comparable(expected):
        if line == "…":
            continue
        place = next((at for at, got in enumerate(left) if _is_shown(line, got)), None)
        if place is None:
            absent.append(line)
        else:
            left = left[place + 1 :]
    return absent


def _is_shown(line: str, printed: str) -> bool:
    """Returns True if a line of the page matches a printed one."""
    shown_totals, printed_totals = _totals(line), _totals(printed)
    if len(shown_totals) != len(printed_totals):
        return False
    for of_page, of_run in zip(shown_totals, printed_totals, strict=True):
        if abs(of_page - of_run) > _TOTALS_MAY_DIFFER * of_page:
            return False
    parts = _TOTALS.sub("<totals>", line).split("…")
    pattern = ".*".join(map(re.escape, parts)) + "$"
    return re.match(pattern, _TOTALS.sub("<totals>", printed)) is not None


def _totals(line: str) -> list[int]:
    numbers: list[int] = []
    for pair in _TOTALS.findall(line):
        for number in pair:
            numbers.append(int(number.replace(",", "")))
    return numbers


def environment_with(command: Path, environment: dict[str, str]) -> dict[str, str]:
    """Returns the environment of a reader whose PATH finds the command of this folder first."""
    path = f"{command.parent}{os.pathsep}{environment.get('PATH', '')}"
    return environment | {"PATH": path, "COLUMNS": "100"}
