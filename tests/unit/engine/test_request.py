"""The request of a reasoning call."""

from __future__ import annotations

import pytest

from antiphon.engine import SUMMARY_PROMPT, SYSTEM_VERSION
from antiphon.engine.prompts import system_prompt


@pytest.mark.parametrize("rounds", [0, 1, 2, 5])
def test_the_system_prompt_depends_on_the_rounds_alone(rounds: int) -> None:
    assert system_prompt(rounds) is system_prompt(rounds)
    assert ("No tools" in system_prompt(rounds).text) == (rounds == 0)


def test_the_system_prompt_has_not_changed_without_a_new_version() -> None:
    assert (SYSTEM_VERSION, system_prompt(2).key[:16]) == ("5", "4d6172ae2d96f026")
    assert SUMMARY_PROMPT.key[:16] == "5ea04fbe60270900"


def test_the_system_prompt_explains_every_tag_of_a_briefing() -> None:
    for tag in (
        "conversation",
        "question",
        "attempts",
        "reasoning",
        "summary",
        "open",
        "round",
    ):
        assert f"<{tag}>" in system_prompt(2).text
