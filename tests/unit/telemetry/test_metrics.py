"""The metrics that a service shows: what was counted, no series beside that, and each service its own."""

from __future__ import annotations

from antiphon.telemetry import Metrics


def lines(metrics: Metrics, name: str) -> list[str]:
    """Returns what is shown of one metric, without its help."""
    shown = metrics.exposition().splitlines()
    return [line for line in shown if line.startswith(name)]


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
