"""What a caller may ask, and what a refusal says."""

from __future__ import annotations

import pytest

from coordinator import Limits, receive
from vocabulary.errors import BadInputError
from vocabulary.values import QuerySettings


def test_a_callers_wishes_replace_the_settings() -> None:
    event = receive(" What is BM25? ", "s", QuerySettings(), max_rounds=0, deadline_s=5)

    assert (event.query, event.settings.max_rounds, event.settings.deadline_s) == ("What is BM25?", 0, 5.0)


@pytest.mark.parametrize(
    ("query", "wishes", "said"),
    [
        ("", {}, "empty"),
        (" \x00\n", {}, "empty"),
        ("x" * 101, {}, "101 characters, the most is 100"),
        ("\ud800", {}, "surrogate"),
        ("q", {"max_rounds": 6}, "`max_rounds` is 6, it must be from 0 to 5"),
        ("q", {"deadline_s": 0.5}, "`deadline_s` is 0.5"),
        ("q", {"deadline_s": float("nan")}, "`deadline_s` is nan"),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_was_wanted(query: str, wishes: dict[str, float], said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        receive(query, "s", QuerySettings(), limits=Limits(query_chars=100), **wishes)  # type: ignore[arg-type]
