"""Sentences are cut where they end, and nothing of the text is lost."""

from __future__ import annotations

import pytest

from antiphon.language.sentences import sentences


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("1. Make sure. Then go.", ["1. Make sure. ", "Then go."]),
        ("Wait.\n\n2. Set sail. Go.", ["Wait.\n\n", "2. Set sail. ", "Go."]),
        ("It was 12. Then came 13.", ["It was 12. ", "Then came 13."]),
        ("In 1999.\n2. Second one.", ["In 1999.\n", "2. Second one."]),
    ],
)
def test_the_number_of_an_item_is_no_sentence(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts
