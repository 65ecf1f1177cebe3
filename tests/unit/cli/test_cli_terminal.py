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

from antiphon.cli.terminal import Screen, clean, print_json


@given(st.text(st.characters(codec=None)))
def test_nothing_that_steers_a_terminal_is_ever_left(text: str) -> None:
    assert not any(
        ord(each) < 32 or 0x7F <= ord(each) <= 0x9F
        for each in clean(text)
        if each not in "\n\t"
    )


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
