"""The simulation behind the capacity plan says what the formulas say where there are formulas."""

from __future__ import annotations

import random

import pytest

from benchmarks import capacity

DURATION_S = 2.0


def simulated(load: float, places: int, queries: int = 300_000) -> capacity.Waits:
    """A queue with random arrivals and exponential times."""
    chance = random.Random(7)
    rate = load / DURATION_S
    times = capacity.arrivals(chance, lambda _: rate, rate, queries / rate)
    return capacity.waits(times, lambda: chance.expovariate(1 / DURATION_S), places)


@pytest.mark.parametrize(
    ("load", "places", "known"),
    # The first are those of M/M/1, where the share that waits is the load itself; the others of a published table.
    [(0.5, 1, 0.5), (0.9, 1, 0.9), (2.0, 3, 0.4444), (8.0, 10, 0.4092)],
)
def test_erlangs_formula_has_its_known_values(
    load: float, places: int, known: float
) -> None:
    assert capacity.erlang_c(load, places) == pytest.approx(known, abs=0.0005)


@pytest.mark.parametrize(
    ("load", "places"), [(0.5, 1), (0.8, 1), (8.0, 10), (45.0, 50)]
)
def test_the_simulated_waits_are_those_of_the_formula(load: float, places: int) -> None:
    waits = simulated(load, places)
    waited = sum(each > 0 for each in waits.seconds) / len(waits.seconds)

    assert waited == pytest.approx(capacity.erlang_c(load, places), rel=0.06)
    assert waits.mean == pytest.approx(
        capacity.mean_wait(load, places, DURATION_S), rel=0.1
    )


def test_a_day_has_as_many_queries_as_were_asked_for() -> None:
    chance = random.Random(3)
    times = list(
        capacity.arrivals(
            chance, capacity.day_rate(50_000), capacity.busiest(50_000), capacity.DAY_S
        )
    )

    assert len(times) == pytest.approx(50_000, rel=0.02)
    by_hour = [0] * 24
    for time in times:
        by_hour[int(time // capacity.HOUR_S)] += 1
    assert max(by_hour) == by_hour[9] or max(by_hour) == by_hour[10]


def test_query_times_have_the_mean_that_is_assumed() -> None:
    draw = capacity.durations(random.Random(5), capacity.Assumptions())
    drawn = [draw() for _ in range(100_000)]

    assert sum(drawn) / len(drawn) == pytest.approx(8.0, rel=0.01)


def test_fewer_workers_wait_longer_and_the_same_seed_gives_the_same_day() -> None:
    given = capacity.Assumptions(places=10)
    needed = capacity.workers_needed(100_000, given, 1, 1.0)

    assert capacity.day(100_000, needed, given, 1).quantile(0.99) <= 1.0
    assert capacity.day(100_000, needed - 1, given, 1).quantile(0.99) > 1.0
    assert capacity.day(100_000, needed, given, 1) == capacity.day(
        100_000, needed, given, 1
    )
