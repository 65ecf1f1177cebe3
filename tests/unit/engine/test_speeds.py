"""How fast a model wrote lately says how long its longest reply can take."""

from __future__ import annotations

import math

from antiphon.engine import ModelSpeeds


def test_the_slowest_reply_of_the_last_minute_counts() -> None:
    speeds = ModelSpeeds()
    speeds.note("m", tokens=100, seconds=1.0, now=0.0)
    speeds.note("m", tokens=100, seconds=2.0, now=1.0)
    speeds.note("m", tokens=100, seconds=0.5, now=2.0)

    assert speeds.longest_s("m", 1_000, now=2.0) == 20.0
    assert speeds.longest_s("m", 1_000, now=62.0) == 5.0


def test_a_reply_whose_tokens_were_not_counted_tells_nothing() -> None:
    speeds = ModelSpeeds()
    speeds.note("m", tokens=0, seconds=1.0, now=0.0)

    assert speeds.longest_s("m", 1_000, now=0.0) == math.inf


def test_a_reply_that_came_all_at_once_took_a_tick() -> None:
    speeds = ModelSpeeds()
    speeds.note("m", tokens=100, seconds=0.0, now=0.0)

    assert speeds.longest_s("m", 1_000, now=0.0) == 0.01
