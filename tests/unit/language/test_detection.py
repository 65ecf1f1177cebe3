"""The language that a text is written in."""

from __future__ import annotations

import pytest

from antiphon.language.detection import language_name, language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The anchor weighs nine tonnes, and its chain is long.", "en"),
        ("Der Anker wiegt neun Tonnen, und die Kette ist lang.", "de"),
        ("L'ancre p\u00e8se neuf tonnes, et sa cha\u00eene est longue.", "fr"),
        (
            "\u951a\u7684\u91cd\u91cf\u662f\u4e5d\u5428\u3002"
            "\u951a\u94fe\u957f\u5ea6\u662f\u4e09\u767e\u7c73\u3002\u8239\u957f\u59d3\u738b\u3002",
            "zh",
        ),
        (
            "\u064a\u0632\u0646 \u0627\u0644\u0645\u0631\u0633\u0627\u0629 "
            "\u062a\u0633\u0639\u0629 \u0623\u0637\u0646\u0627\u0646",
            "ar",
        ),
    ],
)  # fmt: skip
def test_a_text_tells_its_language(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    "text",
    ["", "MCP", "1 2 3 4 5 " * 100, "def f(x):\n    return x + 1\n" * 30, "Kafka Redis Postgres Docker Kubernetes"],
)  # fmt: skip
def test_what_is_short_or_no_prose_tells_none(text: str) -> None:
    assert language_of(text) is None


def test_a_language_has_a_name_or_else_its_code() -> None:
    assert (language_name("de"), language_name("tlh")) == ("German", "tlh")
