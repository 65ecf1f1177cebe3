"""The commands that our pages show are commands that there are, with options that they take."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from antiphon.cli.entry import COMMANDS, command_line

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHOWN = [
    (page.name, line.split(" > ")[0].removeprefix("$ antiphon "))
    for page in PAGES
    for line in re.findall(
        r"^\$ antiphon .*", page.read_text(encoding="utf-8"), re.MULTILINE
    )
]


@pytest.mark.parametrize(("page", "shown"), SHOWN, ids=[shown for _, shown in SHOWN])
def test_a_command_that_a_page_shows_can_be_given_so(page: str, shown: str) -> None:
    words = shlex.split(shown, comments=True)
    command = typer.main.get_command(command_line(words))
    while isinstance(command, TyperGroup):
        command = command.commands[words.pop(0)]

    command.make_parser(typer.Context(command)).parse_args(
        words
    )  # refuses an option that there is not


def test_every_command_is_named_in_the_tour() -> None:
    text = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"\w+", text[text.index("## Command line") :]))

    assert len(SHOWN) > 15
    assert {command.name for command in COMMANDS} <= listed
    traces = typer.main.get_command(command_line(["traces"]))
    assert isinstance(traces, TyperGroup)
    group = traces.commands["traces"]
    assert isinstance(group, TyperGroup)
    assert set(group.commands) <= listed
