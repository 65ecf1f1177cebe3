"""What a caller may ask, and what a refusal says."""

from __future__ import annotations

import pytest

from antiphon.coordinator import receive
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.values import QuerySettings


def test_a_callers_wishes_replace_the_settings() -> None:
    event = receive(
        " What is BM25? ", "s", QuerySettings(), {"max_rounds": 0, "deadline_s": 5}
    )

    assert (event.query, event.settings.max_rounds, event.settings.deadline_s) == (
        "What is BM25?",
        0,
        5.0,
    )


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
        (
            "q",
            {"max_total_tokens": -1},
            "`max_total_tokens` is -1, it must be from 0 to 10,000,000",
        ),
        (
            "q",
            {"max_cost_usd": float("nan")},
            "`max_cost_usd` is nan, it must be from 0 to 1,000",
        ),
        (
            "q",
            {"compression": "zip"},
            "`compression` is 'zip', it must be one of extractive, model",
        ),
        ("q", {"max_rounds": "2"}, "`max_rounds` cannot be '2'"),
        (
            "q",
            {"tool_timeout_s": 1.0},
            "There is no setting 'tool_timeout_s' that a caller may choose",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_was_wanted(
    query: str, wishes: dict[str, object], said: str
) -> None:
    with pytest.raises(BadInputError, match=said):
        receive(query, "s", QuerySettings(), wishes, query_chars=100)


def test_a_caller_may_ask_to_spend_less_than_the_service_allows_and_not_more() -> None:
    settings = QuerySettings(max_total_tokens=9_000, max_cost_usd=0.05)

    event = receive("q", "s", settings, {"max_total_tokens": 500})

    assert (event.settings.max_total_tokens, event.settings.max_cost_usd) == (500, 0.05)
    with pytest.raises(
        BadInputError, match=r"`max_cost_usd` is 0\.06, it must be from 0 to 0\.05"
    ):
        receive("q", "s", settings, {"max_cost_usd": 0.06})
