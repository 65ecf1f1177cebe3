"""The sums behind all counters and histograms, and how the client library for Prometheus shows them.

The library's own counters look labels up, check them and take a lock each time, which costs several times what adding
does, a hundred times a query. All that is counted here happens in the event loop, and is shown there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from prometheus_client.core import (
    CounterMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

CounterTable = Mapping[str, tuple[str, tuple[str, ...]]]
"""Help and labels by name."""
HistogramTable = Mapping[str, tuple[str, tuple[str, ...], Sequence[float]]]
"""Help, labels and bounds by name."""
Key = tuple[str, ...]
"""A name, and the values of its labels."""


class _Times:
    """One histogram: how many times lie below each bound, and above all of them, and their sum."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.total += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """Returns how many times are at most as long as each bound, as Prometheus wants them."""
        names: list[str] = []
        for bound in (*self.bounds, float("inf")):
            names.append(floatToGoString(bound))  # type: ignore[no-untyped-call]  # the library's own
        return list(zip(names, accumulate(self.counts), strict=True))


class Sums(Collector):
    """Counters and histograms by their labels."""

    def __init__(self, counters: CounterTable, histograms: HistogramTable) -> None:
        self._counters = counters
        self._histograms = histograms
        self._counts: dict[Key, float] = {}
        self._times: dict[Key, _Times] = {}
        # What has no labels is shown from the beginning.
        for name, (_, labels) in counters.items():
            if not labels:
                self._counts[(name,)] = 0.0
        for name, (_, labels, bounds) in histograms.items():
            if not labels:
                self._times[(name,)] = _Times(bounds)

    def increment(self, name: str, *labels: str, by: float = 1.0) -> None:
        """Adds to a counter."""
        key = (name, *labels)
        try:
            self._counts[key] += by
        except KeyError:
            _check(key, self._counters[name][1])
            self._counts[key] = by

    def observe(self, name: str, seconds: float, *labels: str) -> None:
        """Adds one time to a histogram."""
        key = (name, *labels)
        times = self._times.get(key)
        if times is None:
            _, declared, bounds = self._histograms[name]
            _check(key, declared)
            times = self._times[key] = _Times(bounds)
        # Two clocks, or one that was set back.
        times.add(max(0.0, seconds))

    def collect(self) -> Iterable[Metric]:
        """Returns everything in the library's own values."""
        for name, (text, labels) in self._counters.items():
            counter = CounterMetricFamily(name, text, labels=labels)
            for key, count in self._counts.items():
                if key[0] == name:
                    counter.add_metric(key[1:], count)
            yield counter
        for name, (text, labels, _) in self._histograms.items():
            histogram = HistogramMetricFamily(name, text, labels=labels)
            for key, times in self._times.items():
                if key[0] == name:
                    histogram.add_metric(key[1:], times.buckets(), times.total)
            yield histogram


def _check(key: Key, labels: tuple[str, ...]) -> None:
    """Raises ValueError where labels and their values differ in number."""
    if len(key) != len(labels) + 1:
        raise ValueError(f"{key[0]} has the labels {labels}, and was given {key[1:]}.")
