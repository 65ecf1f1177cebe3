"""The workers and the storage that a day of queries needs: a simulation that prints its assumptions.

`python -m benchmarks.capacity [--queries 1000000] [--seed 1]`

Queries come as a Poisson process whose rate follows the day (thinning of the busiest rate: Lewis and Shedler 1979,
https://doi.org/10.1002/nav.3800260304). The places of all workers serve one queue in order, and a query keeps its
place for as long as it lasts. `tests/unit/benchmarks/test_capacity.py` compares the simulation with Erlang's C formula
(https://en.wikipedia.org/wiki/Erlang_(unit)#Erlang_C_formula).
"""

from __future__ import annotations

import argparse
import heapq
import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

HOUR_S = 3_600.0
DAY_S = 24 * HOUR_S
# Shares of a day's queries by hour, for a service used in the waking hours of one region: assumed, not measured.
DAY_CURVE = (
    1, 1, 1, 1, 1, 2, 3, 5, 8, 10, 10, 9, 7, 8, 9, 9, 8, 7, 7, 8, 8, 6, 4, 2,
)  # fmt: skip


@dataclass(frozen=True)
class Assumptions:
    """The assumptions of the plan, all of them options on the command line.

    Attributes:
        duration_s: Mean of a query's time at a worker; nearly all of it is the model's.
        spread: Standard deviation of its logarithm: 0.6 is a 95th percentile of twice the mean.
        cpu_s: A worker's CPU time for a query: 20.2 ms in one process (docs/measurements.md), plus the quarter that
            several processes may cost more.
        most_busy: The share of its one core that a worker may use in the busiest hour.
        places: Queries that one worker handles at once.
        events_bytes: Disk space of a query of one round in the trace stream of one server.
        replicas: Servers that hold each trace.
        appends: Messages that a query writes.
        keep_days: Days that traces are kept.
    """

    duration_s: float = 8.0
    spread: float = 0.6
    cpu_s: float = 0.025
    most_busy: float = 0.6
    places: int = 100
    events_bytes: int = 45_000
    replicas: int = 3
    appends: int = 20
    keep_days: float = 30.0


@dataclass(frozen=True)
class Waits:
    """The waits of one run, in seconds, sorted."""

    seconds: Sequence[float]

    def quantile(self, share: float) -> float:
        """Returns the wait that this share of the queries stays within."""
        place = min(len(self.seconds) - 1, int(share * len(self.seconds)))
        return self.seconds[place]

    @property
    def mean(self) -> float:
        return sum(self.seconds) / len(self.seconds)


def arrivals(
    chance: random.Random, rate: Callable[[float], float], most: float, until_s: float
) -> Iterator[float]:
    """Yields the times of a Poisson process.

    Args:
        rate: Arrivals per second at a given time.
        most: The highest rate.
    """
    now = 0.0
    while True:
        now += chance.expovariate(most)
        if now >= until_s:
            return
        if chance.random() * most < rate(now):
            yield now


def waits(times: Iterator[float], service: Callable[[], float], places: int) -> Waits:
    """Simulates one queue for a number of places."""
    free_at = [0.0] * places
    waited: list[float] = []
    for now in times:
        begins = max(now, free_at[0])
        waited.append(begins - now)
        heapq.heapreplace(free_at, begins + service())
    return Waits(sorted(waited))


def erlang_c(load: float, places: int) -> float:
    """Returns the share of queries that wait at all, for random arrivals and exponential times.

    Args:
        load: Mean number of simultaneous queries if there were enough places; less than `places`.
    """
    # Computed from Erlang's B, because its recursion stays within the range of a float.
    blocked = 1.0
    for number in range(1, places + 1):
        blocked = load * blocked / (number + load * blocked)
    return blocked / (1 - load / places * (1 - blocked))


def mean_wait(load: float, places: int, duration_s: float) -> float:
    """Returns the mean wait in seconds for exponential times."""
    return erlang_c(load, places) * duration_s / (places - load)


def day_rate(queries: int) -> Callable[[float], float]:
    """Returns the arrivals per second over a day with this many queries."""
    total = sum(DAY_CURVE)

    def rate(now: float) -> float:
        share = DAY_CURVE[int(now // HOUR_S) % 24] / total
        return queries * share / HOUR_S

    return rate


def busiest(queries: int) -> float:
    """Returns the arrivals per second in the busiest hour."""
    return queries * max(DAY_CURVE) / sum(DAY_CURVE) / HOUR_S


def durations(chance: random.Random, given: Assumptions) -> Callable[[], float]:
    """Returns a source of query durations: lognormal, like most response times."""
    middle = math.log(given.duration_s) - given.spread**2 / 2
    return lambda: chance.lognormvariate(middle, given.spread)


def day(queries: int, workers: int, given: Assumptions, seed: int) -> Waits:
    """Simulates a day."""
    chance = random.Random(seed)
    times = arrivals(chance, day_rate(queries), busiest(queries), DAY_S)
    return waits(times, durations(chance, given), workers * given.places)


def workers_needed(queries: int, given: Assumptions, seed: int, p99_s: float) -> int:
    """Returns the fewest workers with which at most one query in a hundred waits longer than `p99_s`."""
    second = busiest(queries)
    by_places = second * given.duration_s / given.places * 0.8
    by_cores = second * given.cpu_s / given.most_busy
    workers = max(1, math.ceil(by_places), math.ceil(by_cores))
    while day(queries, workers, given, seed).quantile(0.99) > p99_s:
        workers += 1
    return workers


def table(queries: int, given: Assumptions, seed: int, p99_s: float) -> list[str]:
    """Returns the plan as lines of a Markdown table, for several daily loads up to the given one."""
    lines = [
        "| queries a day | busiest a second | at once | workers | with one lost | wait p50 s | p99 s | "
        "worker cores | appends a second | storage GB a server |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for size in sorted({queries // 100, queries // 10, queries}):
        workers = workers_needed(size, given, seed, p99_s)
        waited = day(size, workers, given, seed)
        second = busiest(size)
        stored = size * given.keep_days * given.events_bytes / 1e9
        lines.append(
            f"| {size:,} | {second:.1f} | {second * given.duration_s:.0f} | {workers} | {workers + 1} | "
            f"{waited.quantile(0.5):.2f} | {waited.quantile(0.99):.2f} | {second * given.cpu_s:.1f} | "
            f"{second * given.appends:.0f} | {stored:.0f} |"
        )
    return lines


def main() -> None:
    """Prints the plan, its assumptions, and its seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--p99-s", type=float, default=1.0)
    for name, value in vars(Assumptions()).items():
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=type(value), default=value)
    chosen = vars(parser.parse_args())
    given = Assumptions(**{name: chosen[name] for name in vars(Assumptions())})
    lines = table(chosen["queries"], given, chosen["seed"], chosen["p99_s"])
    lines.append("")
    lines.append(f"Seed {chosen['seed']}; assumed: {given}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
