"""An exception's words may stand in a trace: short, and without a secret."""

from __future__ import annotations

import pytest

from antiphon.bus.delivery import in_words


def test_an_error_is_told_by_its_type_and_message() -> None:
    assert in_words(KeyError("x")) == "KeyError: 'x'"


def test_a_long_message_is_cut() -> None:
    assert len(in_words(ValueError("x" * 10_000_000))) == 500


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("key sk-ant-api03-abcdefgh_1 refused", "ValueError: key [hidden] refused"),
        ("Authorization: Bearer abc.def", "ValueError: Authorization: [hidden]"),
        ("http://user:pass@host/path", "ValueError: http://[hidden]@host/path"),
        ("a risk-free task", "ValueError: a risk-free task"),
    ],
)
def test_secrets_are_blotted_out(message: str, told: str) -> None:
    assert in_words(ValueError(message)) == told
