"""What others wrote cannot steer the terminal."""

from __future__ import annotations

import json
import re
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from antiphon.cli.terminal import Screen, clean, complain, one_line, print_json


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;owned\x07title", "title"),
        ("\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPdevice\x1b\\x", "x"),
        ("\x1b]52;c;never closed", ""),
        ("\x1bcreset", "reset"),
        ("a\x9b31mb", "a31mb"),
        ("back\x08\x08space\x7f", "backspace"),
        ("over\rwritten", "overwritten"),
        ("right\u202eto left\u2066", "rightto left"),
        ("half \ud800", "half "),
        ("line\r\nline\tTab [bold]é\u4e2d", "line\nline\tTab [bold]é\u4e2d"),
    ],
)
def test_escape_sequences_and_control_characters_are_taken_out(
    hostile: str, shown: str
) -> None:
    assert clean(hostile) == shown


@given(st.text(st.characters(codec=None)))
def test_nothing_that_steers_a_terminal_is_ever_left(text: str) -> None:
    assert not any(
        ord(each) < 32 or 0x7F <= ord(each) <= 0x9F
        for each in clean(text)
        if each not in "\n\t"
    )


def test_a_long_text_is_cut_to_one_line() -> None:
    assert one_line("one\ntwo  three", 9) == "one two …"


def test_json_for_programs_stays_the_same_json_with_nothing_that_steers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_json(json.dumps({"text": "a\x9b\x7f\u202e[b]"}, ensure_ascii=False, indent=1))

    printed = capsys.readouterr().out

    assert not set("\x9b\x7f\u202e") & set(printed)
    assert json.loads(printed) == {"text": "a\x9b\x7f\u202e[b]"}


HOSTILE = "a\x1b[31mb\x1b]0;owned\x07c\x9bd\u202ee\U000e0041f"


@pytest.mark.parametrize("colours", [True, False])
def test_nothing_steers_the_terminal_however_it_is_printed(
    colours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR" if colours else "NO_COLOR", "1")
    screen, written = Screen(), StringIO()
    screen.file = written
    table = Table(HOSTILE, title=HOSTILE)
    table.add_row(Text(HOSTILE, style="red"))
    nested = Table.grid()
    nested.add_row(Panel(table, title=HOSTILE))

    for each in (HOSTILE, Text(HOSTILE), table, nested, [HOSTILE], RuntimeError):
        screen.print(each)
        screen.print(each, style="dim", soft_wrap=True)
    screen.print_line(HOSTILE)
    screen.json(json.dumps(HOSTILE, ensure_ascii=False))

    ours = re.sub(r"\x1b\[[0-9;]*m", "", written.getvalue())
    assert not set(ours) & set("\x1b\x07\x9b\u202e\U000e0041")
    assert "\x1b[31mb" not in written.getvalue()


def test_a_command_complains_in_one_line_without_a_password(
    capsys: pytest.CaptureFixture[str],
) -> None:
    complain(f"no server answers at http://me:hunter2@host:8000 {'x' * 300} {HOSTILE}")

    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "http://[masked]@host:8000" in said
    assert not set(said) & set("\x1b\x07\x9b")
