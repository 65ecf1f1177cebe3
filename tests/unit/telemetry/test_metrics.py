"""The metrics that a service shows: what was counted, no series beside that, and each service its own."""

from __future__ import annotations

import pytest

from antiphon.telemetry import Metrics


def lines(metrics: Metrics, name: str) -> list[str]:
    """Returns what is shown of one metric, without its help."""
    shown = metrics.exposition().splitlines()
    return [line for line in shown if line.startswith(name)]


def test_a_counter_is_shown_by_its_labels_without_the_time_of_its_beginning() -> None:
    metrics = Metrics()

    metrics.increment("antiphon_tokens", "input", 'm"1', by=1)
    metrics.increment("antiphon_tokens", "input", 'm"1', by=2.5)
    metrics.increment("antiphon_stalls")

    assert lines(metrics, "antiphon_tokens") == [
        'antiphon_tokens_total{kind="input",model="m\\"1"} 3.5'
    ]
    assert lines(metrics, "antiphon_stalls") == ["antiphon_stalls_total 1.0"]
    assert "_created" not in metrics.exposition()


def test_what_has_no_labels_is_shown_from_the_beginning() -> None:
    metrics = Metrics()

    assert lines(metrics, "antiphon_rounds") == ["antiphon_rounds_total 0.0"]
    assert lines(metrics, "antiphon_query_duration_seconds_count") == [
        "antiphon_query_duration_seconds_count 0.0"
    ]
    assert lines(metrics, "antiphon_calls") == []


def test_times_are_counted_below_each_bound_that_they_do_not_exceed() -> None:
    metrics = Metrics()

    for seconds in (0.0, 0.05, 0.051, 120.0, 700.0):
        metrics.observe("antiphon_call_duration_seconds", seconds, "m")

    shown = lines(metrics, "antiphon_call_duration_seconds")
    assert shown[:2] == [
        'antiphon_call_duration_seconds_bucket{le="0.05",model="m"} 2.0',
        'antiphon_call_duration_seconds_bucket{le="0.1",model="m"} 3.0',
    ]
    assert shown[-4:] == [
        'antiphon_call_duration_seconds_bucket{le="120.0",model="m"} 4.0',
        'antiphon_call_duration_seconds_bucket{le="+Inf",model="m"} 5.0',
        'antiphon_call_duration_seconds_count{model="m"} 5.0',
        'antiphon_call_duration_seconds_sum{model="m"} 820.101',
    ]


def test_a_clock_that_was_set_back_makes_no_time_less_than_none() -> None:
    metrics = Metrics()

    metrics.observe("antiphon_query_duration_seconds", -3.0)

    name = "antiphon_query_duration_seconds"
    assert lines(metrics, f"{name}_sum") == [f"{name}_sum 0.0"]
    assert lines(metrics, f"{name}_bucket")[0] == f'{name}_bucket{{le="0.05"}} 1.0'


def test_what_is_not_declared_is_not_counted() -> None:
    metrics = Metrics()

    with pytest.raises(KeyError):
        metrics.increment("z")
    with pytest.raises(ValueError, match="label"):
        metrics.increment("antiphon_tokens", "one label")
    with pytest.raises(ValueError, match="label"):
        metrics.observe("antiphon_call_duration_seconds", 1.0)


def test_services_of_one_process_count_apart() -> None:
    one, another = Metrics(), Metrics()

    one.increment("antiphon_stalls")

    assert lines(another, "antiphon_stalls") == ["antiphon_stalls_total 0.0"]
