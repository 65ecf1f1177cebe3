"""The metrics of a service for Prometheus: each declared once, counted by queries.py, served at `/metrics`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from prometheus_client import (
    CollectorRegistry,
    Counter,
    GCCollector,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from antiphon.vocabulary.values import Usage

GaugeValues = Mapping[str, Mapping[tuple[str, ...], float]]
"""Values by name, and by the values of the labels."""
Gauges = Mapping[str, tuple[str, tuple[str, ...]]]
"""Help texts and labels, by name."""
Look = Callable[[], Awaitable[None]]
"""Fetches values that another process holds, before a scrape serves them."""

QUERY_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300, 600)
"""Bucket bounds in seconds, up to the longest deadline that a query may have."""
CALL_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120)
SHORT_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)

COUNTERS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "antiphon_queries": ("Queries that ended, by status.", ("status",)),
    "antiphon_answers": (
        "Answers, by confidence and by reasoner.",
        ("confidence", "reasoner"),
    ),
    "antiphon_doubts": ("Uncertainty indicators of answers, by kind.", ("kind",)),
    "antiphon_rounds": ("Rounds that were opened, final ones included.", ()),
    "antiphon_calls": (
        "Model calls, by purpose and outcome: completed, or the kind of failure.",
        ("model", "purpose", "outcome"),
    ),
    "antiphon_call_retries": ("Attempts that failed and were retried.", ("why",)),
    "antiphon_tokens": ("Tokens of all calls, by kind.", ("kind", "model")),
    "antiphon_cost_usd": ("US dollars, for models whose price is known.", ("model",)),
    "antiphon_unpriced_calls": ("Calls whose price is unknown.", ("model",)),
    "antiphon_tool_calls": (
        "Tool calls, by outcome: succeeded, or the kind of failure.",
        ("tool", "outcome"),
    ),
    "antiphon_tool_substitutions": (
        "Tool calls that a substitute took over.",
        ("tool",),
    ),
    "antiphon_breaker_trips": ("Limits that were reached.", ("limit",)),
    "antiphon_recoveries": ("Failures that a query recovered from.", ("level",)),
    "antiphon_component_failures": ("Event handlers that raised.", ()),
    "antiphon_event_loop_blocked": (
        "Times that the event loop stood still for half a second, by what ran on it.",
        ("by",),
    ),
    "antiphon_recording_failures": ("Queries whose trace the store refused.", ()),
    "antiphon_stalls": ("Queries that stalled and were recovered.", ()),
    "antiphon_claims": (
        "Queries that this worker took from the queue of a cluster: `first`, or `over` from another worker.",
        ("taken",),
    ),
    "antiphon_claims_lost": (
        "Queries that another worker took over while this one had them.",
        (),
    ),
    "antiphon_queries_given_up": (
        "Queries that this worker ended because they were taken too often and never ended.",
        (),
    ),
    "antiphon_http_requests": (
        "Requests, by method, route and status.",
        ("method", "route", "status"),
    ),
}
"""By name, without the `_total` that the library adds: help and labels."""

HISTOGRAMS: Mapping[str, tuple[str, tuple[str, ...], Sequence[float]]] = {
    "antiphon_query_duration_seconds": (
        "Time from the question to the end of its query.",
        (),
        QUERY_BUCKETS,
    ),
    "antiphon_query_first_token_seconds": (
        "Time from the question to the first text that its caller could read.",
        (),
        QUERY_BUCKETS,
    ),
    "antiphon_call_duration_seconds": (
        "Time of one model call, all attempts.",
        ("model",),
        CALL_BUCKETS,
    ),
    "antiphon_call_first_token_seconds": (
        "Time from the request to the first text or tool call.",
        ("model",),
        CALL_BUCKETS,
    ),
    "antiphon_tool_duration_seconds": (
        "Time of one tool call, to its outcome.",
        ("tool",),
        SHORT_BUCKETS,
    ),
    "antiphon_http_request_duration_seconds": (
        "Time of one request, to its last byte; for a question that includes its query.",
        ("route",),
        QUERY_BUCKETS,
    ),
}
"""By name: help, labels and bucket bounds."""

GAUGES: Gauges = {
    "antiphon_queries_running": ("Queries that are running.", ()),
    "antiphon_queries_limit": ("Queries that may run at once; more are refused.", ()),
    "antiphon_ready": ("1 while questions can be answered.", ()),
    "antiphon_provider_circuit_open": (
        "1 while only probes may call the model's server.",
        (),
    ),
    "antiphon_tool_circuit_open": ("1 while the circuit of a tool is open.", ("tool",)),
}
"""The state of the service, read at each scrape."""


class Metrics:
    """The metrics of one service, in a registry of their own."""

    def __init__(self) -> None:
        self._registry = _Registry()
        self._counters = {
            name: Counter(name, text, labels, registry=self._registry)
            for name, (text, labels) in COUNTERS.items()
        }
        self._histograms = {
            name: Histogram(name, text, labels, registry=self._registry, buckets=bounds)
            for name, (text, labels, bounds) in HISTOGRAMS.items()
        }
        ProcessCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        self._looks: list[Look] = []

    def increment(self, name: str, *labels: str, by: float = 1.0) -> None:
        """Adds to a counter."""
        counter = self._counters[name]
        (counter.labels(*labels) if labels else counter).inc(by)

    def observe(self, name: str, seconds: float, *labels: str) -> None:
        """Adds one time to a histogram."""
        histogram = self._histograms[name]
        # A time between two clocks, or across a clock that was set back, may be negative.
        (histogram.labels(*labels) if labels else histogram).observe(max(0.0, seconds))

    def watch(
        self,
        state: Callable[[], GaugeValues],
        gauges: Gauges = GAUGES,
        look: Look | None = None,
    ) -> None:
        """Adds gauges, such as the state of the service.

        Args:
            look: Awaited before each scrape, to fetch values that another process holds.
        """
        self._registry.register(_Gauges(gauges, state))
        if look is not None:
            self._looks.append(look)

    def count_request(
        self, method: str, route: str, status: int, seconds: float
    ) -> None:
        """Counts one request over HTTP.

        Args:
            route: The route's template with names in braces; never the requested path.
        """
        self.increment("antiphon_http_requests", method, route, str(status))
        self.observe("antiphon_http_request_duration_seconds", seconds, route)

    def count_usage(self, usage: Usage, model: str) -> None:
        """Counts the tokens of one call, and what they cost."""
        if usage.is_empty:
            return
        # All input is input, cache_read and cache_write together.
        tokens = {
            "input": usage.input_tokens,
            "output": usage.output_tokens,
            "cache_read": usage.cache_read_tokens,
            "cache_write": usage.cache_write_tokens,
        }
        for kind, count in tokens.items():
            if count:
                self.increment("antiphon_tokens", kind, model, by=count)
        if usage.cost_usd is None:
            self.increment("antiphon_unpriced_calls", model)
        else:
            self.increment("antiphon_cost_usd", model, by=usage.cost_usd)

    async def scrape(self) -> str:
        """Fetches the values that other processes hold, then returns all metrics in the Prometheus text format."""
        for look in self._looks:
            await look()
        return self.exposition()

    def exposition(self) -> str:
        """Returns all metrics as this process knows them."""
        return generate_latest(self._registry).decode()


class _Registry(CollectorRegistry):
    """Leaves out the creation time of each series, which would double their number."""

    def collect(self) -> Iterable[Metric]:
        for family in super().collect():
            family.samples = [
                sample
                for sample in family.samples
                if not sample.name.endswith("_created")
            ]
            yield family


class _Gauges(Collector):
    """Reads the values at each scrape; a gauge without a value has no samples."""

    def __init__(
        self,
        declared: Gauges,
        read: Callable[[], GaugeValues],
    ) -> None:
        self._declared = declared
        self._read = read

    def collect(self) -> Iterable[Metric]:
        values = self._read()
        for name, (text, labels) in self._declared.items():
            family = GaugeMetricFamily(name, text, labels=labels)
            for label_values, value in values.get(name, {}).items():
                family.add_metric(label_values, value)
            yield family
