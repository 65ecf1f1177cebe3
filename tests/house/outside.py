"""Writes the program's outside interface to files for a test to compare: `python -m tests.house.outside`.

That is the schema of the REST API and the help of every command. Run it after an intended change of either, and read
the difference before committing it: users may rely on the old behaviour.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from antiphon.cli.entry import COMMANDS
from antiphon.vocabulary.access import NOBODY
from antiphon.vocabulary.program import child_environment
from tests.unit.api.calling import new_app_of
from tests.unit.api.fakes import FakeService

DATA = Path(__file__).parents[1] / "data"
WIDTH = 100
"""Terminal width, in columns, of the help texts."""

# A separate process, one for all commands, because typer reads the environment when it is imported.
_PRINT_HELP = """
import json, sys
from antiphon.cli import main
for words in json.load(sys.stdin):
    print("$ antiphon", *words, flush=True)
    try:
        main(words)
    except SystemExit:
        pass
"""


def openapi() -> str:
    """Returns the published schema of a service that asks for keys, without the program's version."""
    service = FakeService()
    service.principal = NOBODY
    schema = new_app_of(service).openapi()
    schema["info"]["version"] = ""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def help_texts() -> str:
    """Returns the help of every command, in the order of the commands and without colour."""
    asked = [["--help"]]
    for command in COMMANDS:
        asked.append([command.name, "--help"])
        asked += [[command.name, name, "--help"] for name in command.commands]
    printed = subprocess.run(
        [sys.executable, "-c", _PRINT_HELP],
        env=child_environment() | {"COLUMNS": str(WIDTH), "NO_COLOR": "1"},
        input=json.dumps(asked),
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout
    # Typer pads each line with invisible spaces up to the width.
    return "".join(f"{line.rstrip()}\n" for line in printed.splitlines())


SHOWN = {"openapi.json": openapi, "help.txt": help_texts}
"""The functions that produce each file's content."""


if __name__ == "__main__":
    for name, made in SHOWN.items():
        (DATA / name).write_text(made(), encoding="utf-8")
