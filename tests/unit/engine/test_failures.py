"""Waiting and retrying after a failure."""

from __future__ import annotations

import pytest

from antiphon.engine.anthropic_model import without_key
from antiphon.engine.failures import retry_after
from antiphon.engine.retry import ATTEMPTS, FIRST_WAIT_S, MOST_WAIT_S, retry_wait
from antiphon.vocabulary.errors import ModelError

NOON = "Fri, 21 Nov 2025 12:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Fri, 21 Nov 2025 12:00:08 GMT", "date": NOON}, 8.0),
        ({"retry-after": "Fri, 21 Nov 2025 11:00:00 GMT", "date": NOON}, 0.0),
        ({"retry-after": "Fri, 21 Nov 2025 12:00:08 GMT"}, None),
        ({"retry-after": "soon", "date": NOON}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
    ],
)
def test_the_time_that_a_server_asks_for_is_read_in_every_form(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers) == seconds


@pytest.mark.parametrize(
    ("retryable", "asked_s", "attempt", "left_s", "wait_s"),
    [
        (True, None, 1, 20.0, FIRST_WAIT_S),
        (True, None, 2, 20.0, 2 * FIRST_WAIT_S),
        (True, None, 3, 20.0, 4 * FIRST_WAIT_S),
        (True, None, ATTEMPTS, 20.0, None),
        (True, 5.0, 1, 20.0, 5.0),
        (True, 0.0, 1, 20.0, 0.0),
        (True, 19.5, 1, 20.0, None),
        (True, None, 1, 1.2, None),
        (False, None, 1, 20.0, None),
    ],
)
def test_another_attempt_is_made_where_it_may_help_and_fits(
    retryable: bool,
    asked_s: float | None,
    attempt: int,
    left_s: float,
    wait_s: float | None,
) -> None:
    error = ModelError("overloaded", "busy", retryable=retryable, retry_after_s=asked_s)

    assert retry_wait(error, attempt, left_s) == wait_s


@pytest.mark.parametrize("chance", [0.0, 0.3, 1.0])
def test_chance_shortens_our_own_waits_and_never_one_that_the_server_asked_for(
    chance: float,
) -> None:
    ours = retry_wait(ModelError("overloaded", "busy", retryable=True), 1, 60.0, chance)
    theirs = retry_wait(
        ModelError("rate_limit", "busy", retryable=True, retry_after_s=4.0),
        1,
        60.0,
        chance,
    )

    assert ours is not None
    assert theirs is not None
    assert FIRST_WAIT_S / 2 <= ours <= FIRST_WAIT_S <= MOST_WAIT_S
    assert 4.0 <= theirs <= 4.4


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("bad key abcdefghijkl!", "bad key [key]!"),
        ("abcdefghijklabcdefghijkl", "[key][key]"),
        ("cut in two: abcdefghij", "cut in two: [key]"),
        ("abcdefghX and abcdefghij", "[key]X and [key]"),
        ("abcdefg is not enough", "abcdefg is not enough"),
        ("nothing of it", "nothing of it"),
    ],
)
def test_a_key_is_taken_out_whole_or_cut(text: str, masked: str) -> None:
    assert without_key(text, "abcdefghijkl") == masked


@pytest.mark.parametrize("key", ["none", "x", "EMPTY", "1234567"])
def test_a_placeholder_is_no_key(key: str) -> None:
    assert without_key(f"{key} of these", key) == f"{key} of these"
