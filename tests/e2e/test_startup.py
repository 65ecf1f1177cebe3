"""A command imports what it uses, and nothing else: what is loaded is measured, not seconds."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from antiphon.cli.entry import COMMANDS
from tests.e2e.conftest import Antiphon, environment

HEAVY = frozenset(
    {
        "aiohttp",
        "anthropic",
        "chromadb",
        "fastapi",
        "httpx2",
        "numpy",
        "onnxruntime",
        "sentence_transformers",
        "tokenizers",
        "torch",
        "uvicorn",
    }
)
_PROGRAM = f"""
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from antiphon.cli import main

for line in sys.stdin:
    code = 0
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        try:
            main(json.loads(line))
        except SystemExit as ended:
            code = ended.code
    print(code, *sorted({set(HEAVY)!r} & set(sys.modules)))
"""
_UNTIL_SETTINGS = """
import os, sys

def leave(event, details):
    if event == "import" and details[0] == "pydantic_settings":
        os._exit(7)

sys.addaudithook(leave)
from antiphon.cli import main
main(["ask", "What is applemailbox7?"])
"""
HELP = [(command.name, "--help") for command in COMMANDS] + [
    (command.name, name, "--help") for command in COMMANDS for name in command.commands
]
MISTAKES = [
    ("ask", " "),
    ("ask", "x", "--rounds", "9"),
    ("ask", "x" * 9_000),
    ("traces", "fork"),
    ("traces", "fork", "nothing"),
    ("traces", "whatif", "nothing", "--without", "f1"),
    ("traces", "resume", "nothing"),
    ("traces", "list", "--status", "bogus"),
    ("faults", "run", "--pairs", "--most", "-5"),
    ("index", "nowhere"),
    ("index", "empty"),
    ("index", "empty", "--only"),
    ("index", "courses", "--chroma-url", "http://127.0.0.1:9"),
    ("courses", "remove", "x", "--chroma-url", "http://127.0.0.1:9"),
    ("compare", "--questions", "nowhere.txt"),
    ("double", "--script", "nowhere.yaml"),
    ("serve", "--host", "no such host"),
]


def loaded(
    data_dir: Path, folder: Path, commands: Sequence[Sequence[str]]
) -> dict[Sequence[str], tuple[int, list[str]]]:
    """Runs commands in one process; returns the exit code of each, and the heavy modules loaded by its end."""
    ended = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        env=environment(data_dir),
        cwd=folder,
        input="\n".join(map(json.dumps, commands)),
        capture_output=True,
        text=True,
        check=True,
    )
    found = {}
    for command, line in zip(commands, ended.stdout.splitlines(), strict=True):
        code, *modules = line.split()
        found[command] = (int(code), modules)
    return found


def test_help_loads_nothing_heavy(data_dir: Path, tmp_path: Path) -> None:
    found = loaded(data_dir, tmp_path, HELP)

    assert found == dict.fromkeys(HELP, (0, []))


def test_reading_loads_nothing_heavy(
    antiphon: Antiphon, data_dir: Path, tmp_path: Path
) -> None:
    asked = antiphon("ask", "What is applemailbox7 in the Apple course?", "--json")
    query_id = json.loads(asked.stdout)["query_id"]
    commands = [
        ("courses",),
        ("traces", "list"),
        ("traces", "show", query_id),
        ("traces", "memory", query_id),
        ("traces", "briefing", query_id),
        ("traces", "lineage", query_id),
        ("traces", "why", query_id),
        ("traces", "diff", query_id, query_id),
        ("traces", "replay", query_id),
        ("traces", "export", query_id, "-o", "trace.jsonl"),
        ("traces", "test", query_id, "-o", "tests"),
        ("traces", "fault", query_id, "--at", "2"),
    ]

    found = loaded(data_dir, tmp_path, commands)

    assert found == dict.fromkeys(commands, (0, []))


def test_arguments_are_checked_before_anything_heavy_is_loaded(
    data_dir: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "courses").mkdir()
    (tmp_path / "courses" / "a.txt").write_text("Plums are blue.")

    found = loaded(data_dir, tmp_path, MISTAKES)

    for command, (code, modules) in found.items():
        assert (code in (1, 2), modules) == (True, []), command


def test_the_doctor_says_what_it_knows_before_it_opens_the_service(
    tmp_path: Path,
) -> None:
    found = loaded(tmp_path / "nothing", tmp_path, [("doctor",)])

    assert found == {("doctor",): (1, [])}
    assert not (tmp_path / "nothing").exists()


def test_somebody_who_asks_sees_something_before_what_takes_long(
    data_dir: Path, tmp_path: Path
) -> None:
    screen, terminal = pty.openpty()

    asking = subprocess.run(
        [sys.executable, "-c", _UNTIL_SETTINGS],
        env=environment(data_dir, TERM="xterm"),
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=terminal,
        check=False,
    )

    shown = os.read(screen, 65_536).decode()
    os.close(terminal)
    os.close(screen)
    # The cursor is hidden by the spinner that turns from now on.
    assert (asking.returncode, "\x1b[?25l" in shown) == (7, True), shown
