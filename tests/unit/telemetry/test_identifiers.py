"""Names from outside become labels and attributes only where they look like names, and only so many of them."""

from __future__ import annotations

import pytest

from antiphon.telemetry.identifiers import OTHER, BoundedNames, identifier


@pytest.mark.parametrize(
    "text",
    ["", "the password is hunter2", "a" * 81, "caf\u00e9", "line\nbreak", '"x"', "-x"],
)
def test_what_may_be_text_is_other(text: str) -> None:
    assert identifier(text) == OTHER


def test_a_label_has_so_many_values_and_no_more() -> None:
    names = BoundedNames(most=2)

    labels = [names.label(name) for name in ("a", "b", "c", "a", "d")]

    assert labels == ["a", "b", OTHER, "a", OTHER]
