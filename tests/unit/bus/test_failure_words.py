"""An exception's words may stand in a trace: short, and without a secret."""

from __future__ import annotations

from antiphon.bus.delivery import in_words


def test_a_long_message_is_cut() -> None:
    assert len(in_words(ValueError("x" * 10_000_000))) == 500
