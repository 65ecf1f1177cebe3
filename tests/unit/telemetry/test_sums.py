"""Sums show what the client library's own counters and histograms would show."""

from __future__ import annotations

import pytest
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

from antiphon.telemetry.sums import Sums

BOUNDS = (0.1, 1.0, 5.0)
COUNTERS = {"a": ("Of a.", ("kind", "model")), "b": ("Of b.", ())}
HISTOGRAMS = {"c": ("Of c.", ("model",), BOUNDS), "d": ("Of d.", (), BOUNDS)}


def test_they_are_shown_as_the_librarys_own() -> None:
    disable_created_metrics()  # type: ignore[no-untyped-call]  # the library's own
    theirs, ours = CollectorRegistry(), CollectorRegistry()
    sums = Sums(COUNTERS, HISTOGRAMS)
    ours.register(sums)
    a = Counter("a", "Of a.", ("kind", "model"), registry=theirs)
    Counter("b", "Of b.", registry=theirs)
    c = Histogram("c", "Of c.", ("model",), buckets=BOUNDS, registry=theirs)
    Histogram("d", "Of d.", buckets=BOUNDS, registry=theirs)

    for by in (1, 2.5):
        sums.increment("a", "input", 'm"1', by=by)
        a.labels("input", 'm"1').inc(by)
    for seconds in (0.0, 0.1, 0.11, 1.0, 7.0):
        sums.observe("c", seconds, "m")
        c.labels("m").observe(seconds)

    assert generate_latest(ours) == generate_latest(theirs)


def test_a_clock_that_was_set_back_makes_no_time_less_than_none() -> None:
    sums = Sums({}, HISTOGRAMS)
    registry = CollectorRegistry()
    registry.register(sums)

    sums.observe("d", -3.0)

    assert registry.get_sample_value("d_sum") == 0.0
    assert registry.get_sample_value("d_bucket", {"le": "0.1"}) == 1.0


def test_what_is_not_declared_is_not_counted() -> None:
    sums = Sums(COUNTERS, HISTOGRAMS)

    with pytest.raises(KeyError):
        sums.increment("z")
    with pytest.raises(ValueError, match="kind"):
        sums.increment("a", "one label")
    with pytest.raises(ValueError, match="model"):
        sums.observe("c", 1.0)
