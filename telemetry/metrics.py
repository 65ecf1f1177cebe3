"""The metrics of a service for Prometheus: each declared once, counted by counting.py, shown at `/metrics`."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable

from prometheus_client import (
    CollectorRegistry,
    GCCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily

from antiphon.telemetry.batch import Batch
from antiphon.telemetry.counting import Counted, Counting
from antiphon.telemetry.identifiers import BoundedNames
from antiphon.telemetry.queue_metrics import QueueMetrics, WatchedQueue
from antiphon.telemetry.state import ServiceState
from antiphon.telemetry.sums import CounterTable, HistogramTable, Sums

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

QUERY_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300, 600)
"""Seconds, up to the longest deadline that a query may have."""
CALL_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120)
SHORT_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)

COUNTERS: CounterTable = {
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
"""Name without `_total`, which the library adds, help, and labels."""

HISTOGRAMS: HistogramTable = {
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
"""Name, help, labels and bounds."""

GAUGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "antiphon_queries_running": ("Queries that are running.", ()),
    "antiphon_queries_limit": ("Queries that may run at once; more are refused.", ()),
    "antiphon_ready": ("1 while questions can be answered.", ()),
    "antiphon_provider_circuit_open": (
        "1 while only probes may call the model's server.",
        (),
    ),
    "antiphon_tool_circuit_open": ("1 while the circuit of a tool is open.", ("tool",)),
}
"""The state of the service, read when it is asked for."""


class Metrics:
    """The metrics of one service, in a registry of their own.

    Args:
        tools: The names of the tools that there are.
        batch: What is heard of queries and not counted yet.
    """

    def __init__(self, tools: Container[str], batch: Batch) -> None:
        self._registry = CollectorRegistry()
        self._sums = Sums(COUNTERS, HISTOGRAMS)
        self._registry.register(self._sums)
        ProcessCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        self._counted = Counted(self._sums, BoundedNames(), tools)
        self._batch = batch
        self._queue: QueueMetrics | None = None

    def watch(self, state: Callable[[], ServiceState]) -> None:
        """Shows the state of the service too."""
        self._registry.register(_StateCollector(state))

    def watch_queue(self, queue: WatchedQueue) -> QueueMetrics:
        """Shows the queue that this process uses too; returns what counts what it does with it."""
        self._queue = QueueMetrics(queue, self._sums)
        self._registry.register(self._queue)
        return self._queue

    def onlooker(self) -> Counting:
        """Returns what counts a new query."""
        return Counting(self._counted)

    def count_request(
        self, method: str, route: str, status: int, seconds: float
    ) -> None:
        """Counts one request over HTTP.

        Args:
            route: The route's own path with names in braces; never the path that was asked for.
        """
        self._sums.increment("antiphon_http_requests", method, route, str(status))
        self._sums.observe("antiphon_http_request_duration_seconds", seconds, route)

    async def scrape(self) -> str:
        """Looks at what has to be asked for, and returns all of them in the text format that Prometheus reads."""
        if self._queue is not None:
            await self._queue.look()
        return self.exposition()

    def exposition(self) -> str:
        """Returns all of them as they are known without asking anybody."""
        self._batch.flush()
        return generate_latest(self._registry).decode()


class _StateCollector:
    """Reads the state of the service each time that it is asked for."""

    def __init__(self, state: Callable[[], ServiceState]) -> None:
        self._state = state

    def collect(self) -> Iterable[GaugeMetricFamily]:
        state = self._state()
        values: dict[str, list[tuple[tuple[str, ...], float]]] = {
            "antiphon_queries_running": [((), state.queries_running)],
            "antiphon_queries_limit": [((), state.queries_limit)],
            "antiphon_ready": [((), float(state.ready))],
            "antiphon_provider_circuit_open": [((), float(state.provider_open))],
            "antiphon_tool_circuit_open": [
                ((tool,), float(is_open)) for tool, is_open in state.open_tools
            ],
        }
        for name, (text, labels) in GAUGES.items():
            family = GaugeMetricFamily(name, text, labels=labels)
            for label_values, value in values[name]:
                family.add_metric(label_values, value)
            yield family
