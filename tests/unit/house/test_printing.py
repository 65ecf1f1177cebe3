"""Nothing in the program prints but through the two screens of cli/terminal.py, on which no text steers a terminal."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.complexity import ROOT, product_files

SCREENS = ROOT / "cli" / "terminal.py"
LOGS = ROOT / "composition" / "logs.py"
PROCESS = ROOT / "cli" / "process.py"
"""Says one of two sentences of its own where rich is not yet imported, or may be in the midst of writing."""

PRINTING = {
    "print",
    "typer.echo",
    "typer.secho",
    "click.echo",
    "click.secho",
    "rich.print",
    "Console",
    "sys.stdout.write",
    "sys.stderr.write",
    "sys.stdout.buffer.write",
    "sys.stderr.buffer.write",
    "sys.__stdout__.write",
    "os.write",
    "traceback.print_exc",
    "traceback.print_exception",
    "logging.getLogger",
    "warnings.warn",
}


def calls_in(source: str) -> Iterator[tuple[int, str]]:
    """Each call by line, as it is written."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            yield node.lineno, ast.unparse(node.func)


def bypasses(path: Path, source: str) -> list[str]:
    """The calls that print past the screens."""
    return [
        f"{path.relative_to(ROOT)}:{line}: {called}"
        for line, called in calls_in(source)
        if called in PRINTING
    ]


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in product_files()
        if path not in (SCREENS, LOGS, PROCESS) and "benchmarks" not in path.parts
    ],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_nothing_prints_past_the_screens(path: Path) -> None:
    assert bypasses(path, path.read_text()) == []


@pytest.mark.parametrize(
    "code",
    ["print(1)", "typer.echo(x)", "sys.stderr.write(x)", "Console().print(x)"],
)
def test_a_bypass_is_found(code: str) -> None:
    assert len(bypasses(SCREENS, code)) == 1


def test_what_ends_the_process_prints_sentences_of_its_own_alone() -> None:
    written = {
        ast.unparse(node.args[1])
        for node in ast.walk(ast.parse(PROCESS.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "os.write"
    }

    assert {
        call.rpartition(": ")[2] for call in bypasses(PROCESS, PROCESS.read_text())
    } == {"os.write"}
    assert written == {
        "_SHOW_CURSOR",
        "b'interrupted\\n'",
        "f'antiphon: the output cannot be written: {error.strerror}\\n'.encode()",
    }
