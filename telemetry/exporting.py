"""Sends spans to an OTLP collector over HTTP, in batches and from a thread: a query never waits for it."""

from __future__ import annotations

import threading
from collections.abc import Container, Mapping, Sequence

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, ParentBased

from antiphon.telemetry.conventions import SCHEMA_URL, SCOPE
from antiphon.telemetry.span_values import TraceIds
from antiphon.telemetry.spans import spans_of
from antiphon.vocabulary.ports import Subscription
from antiphon.vocabulary.program import program_version
from antiphon.vocabulary.subscribers import Subscriber, Surroundings

PATH = "/v1/traces"
"""Where a collector takes spans (https://opentelemetry.io/docs/specs/otlp/#otlphttp-request)."""
SEND_S = 3.0
"""Seconds for one batch, tries included."""
CLOSING_S = 4.0
"""Seconds that the end of the service waits for the last ones."""


class SpanExport:
    """The way to the collector, shared by all queries.

    Args:
        tools: The names of the tools that there are.
        exporter: Takes the spans; None sends them to `endpoint`.
    """

    def __init__(
        self,
        endpoint: str,
        headers: Mapping[str, str],
        tools: Container[str],
        exporter: SpanExporter | None = None,
    ) -> None:
        if exporter is None:
            exporter = OTLPSpanExporter(
                endpoint.rstrip("/") + PATH, headers=dict(headers), timeout=SEND_S
            )
        self._tools = tools
        self._ids = TraceIds()
        self._provider = TracerProvider(
            # A caller that does not record its own trace wants none of its parts either; all else is sent, and sampled
            # by the collector, which alone sees how a query ended.
            sampler=ParentBased(ALWAYS_ON),
            resource=Resource.create(
                {"service.name": "antiphon", "service.version": program_version()}
            ),
            # The service says itself when it ends.
            shutdown_on_exit=False,
            id_generator=self._ids,
        )
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer(
            SCOPE, program_version(), schema_url=SCHEMA_URL
        )

    def subscriber(self) -> Subscriber:
        """Returns the component that makes the spans of each query."""

        def act(surroundings: Surroundings) -> Sequence[Subscription]:
            return spans_of(self._tracer, self._ids, self._tools, surroundings)

        return Subscriber(name="spans", act=act)

    def flush(self) -> None:
        """Sends what waits; blocks."""
        self._provider.force_flush()

    def close(self) -> None:
        """Sends what waits, and ends; blocks for a few seconds at most, also where nobody takes it."""
        # By itself it waits half a minute for a collector that is away.
        ending = threading.Thread(target=self._provider.shutdown, daemon=True)
        ending.start()
        ending.join(CLOSING_S)
