"""What others wrote cannot steer the terminal."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.cli.terminal import clean, one_line, print_json


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
