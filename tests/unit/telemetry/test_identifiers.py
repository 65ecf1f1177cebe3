"""Names from outside become labels and attributes only where they look like names, and only so many of them."""

from __future__ import annotations

import pytest

from antiphon.telemetry.identifiers import OTHER, BoundedNames, identifier, offered


@pytest.mark.parametrize(
    "name", ["claude-sonnet-5-5", "toolu_01Ab", "org/model:7b", "end_turn", "f1"]
)
def test_a_name_stays(name: str) -> None:
    assert identifier(name) == name


@pytest.mark.parametrize(
    "text",
    ["", "the password is hunter2", "a" * 81, "caf\u00e9", "line\nbreak", '"x"', "-x"],
)
def test_what_may_be_text_is_other(text: str) -> None:
    assert identifier(text) == OTHER


def test_a_tool_that_is_not_offered_is_other() -> None:
    assert offered("search", ("search",)) == "search"
    assert offered("rm-rf", ("search",)) == OTHER


def test_a_label_has_so_many_values_and_no_more() -> None:
    names = BoundedNames(most=2)

    labels = [names.label(name) for name in ("a", "b", "c", "a", "d")]

    assert labels == ["a", "b", OTHER, "a", OTHER]
