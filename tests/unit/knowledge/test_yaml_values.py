from __future__ import annotations

import pytest

from antiphon.knowledge.readers.front_matter import split_front_matter
from antiphon.knowledge.readers.yaml_values import flaw_in, parsed
from tests.hostile_files import YAML_BOMBS

ALIASES = """
defaults: &defaults {layout: page, tags: [log]}
first: {<<: *defaults, title: First}
second: [*defaults, *defaults]
"""


@pytest.mark.parametrize("text", YAML_BOMBS.values(), ids=YAML_BOMBS)
def test_a_few_lines_that_stand_for_millions_of_values_are_refused(text: str) -> None:
    assert "alias" in flaw_in(text)
    assert parsed(text) is None


@pytest.mark.parametrize("text", YAML_BOMBS.values(), ids=YAML_BOMBS)
def test_front_matter_of_them_keeps_the_fields_that_stand_on_a_line(text: str) -> None:
    found = split_front_matter(f"---\n{text}title: Logs\n---\nA log is kept.\n")

    assert found.values["title"] == "Logs"
    assert found.rest == "A log is kept.\n"


def test_aliases_that_repeat_a_little_are_followed() -> None:
    page = {"layout": "page", "tags": ["log"]}

    assert flaw_in(ALIASES) == ""
    assert parsed(ALIASES) == {
        "defaults": page,
        "first": {**page, "title": "First"},
        "second": [page, page],
    }
