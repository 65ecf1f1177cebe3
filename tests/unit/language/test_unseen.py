"""Characters that nobody sees are taken out; those that a script needs stay."""

from __future__ import annotations

import pytest

from antiphon.language.unseen import without_unseen


@pytest.mark.parametrize(
    "text",
    [
        "Logs grow,\tand\nthey are read.",
        "naïve café \u2013 “quoted” … 3 \u00d7 4 ≤ 12 °C",
        "\u0645\u06cc\u200c\u062e\u0648",
        "क्\u200dष",
        "ක්\u200dෂ",
        "\U0001f469\u200d\U0001f4bb",
        "\U0001f3f3\ufe0f\u200d\U0001f308",
        "\u2764\ufe0f",
        "1\ufe0f\u20e3",
        "\u845b\U000e0100",
        "日本語、한국어, עברית, ไทย",
    ],
)
def test_what_a_script_or_an_emoji_needs_stays(text: str) -> None:
    assert without_unseen(text) == text


def test_joiners_in_a_row_are_one() -> None:
    assert (
        without_unseen("\u0645\u06cc\u200c\u200d\u200c\u200d\u062e\u0648")
        == "\u0645\u06cc\u200c\u062e\u0648"
    )
