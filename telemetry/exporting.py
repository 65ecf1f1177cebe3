"""Sends spans to a collector: OpenTelemetry's SDK and exporter, in batches and from a thread. No query waits for it."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import requests
import structlog
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import DEFAULT_ON

from antiphon.telemetry.conventions import SCHEMA_URL, SCOPE
from antiphon.vocabulary.outside import without_userinfo
from antiphon.vocabulary.program import program_version

PATH = "/v1/traces"
"""Where a collector takes spans (https://opentelemetry.io/docs/specs/otlp/#otlphttp-request)."""
SEND_S = 3.0
"""Seconds for one batch, with all attempts."""
EVERY_S = 2.0
"""Seconds after which what waits is sent, also if it is little."""
BATCH = 512
MOST_WAITING = 8 * BATCH
"""Spans that may wait; the oldest are dropped when the collector takes none."""
OF_THE_EXPORTER = ("content-type", "content-encoding", "user-agent")
"""Headers that the exporter sets itself."""
CLOSING_S = 4.0
"""Seconds that the end of the service waits for the last ones."""

current_query: ContextVar[str] = ContextVar("current_query", default="")
"""The id of the query whose span begins: the SDK asks for a trace's id without saying what the trace is about."""

_TRACE_ID = re.compile(r"[0-9a-f]{32}")
_log = structlog.get_logger(__name__)


class SpanExport:
    """The way to the collector, with a tracer provider of its own; shared by all queries of a service.

    Args:
        headers: Sent with each batch.

    Attributes:
        tracer: Makes the spans that are sent.
    """

    def __init__(self, endpoint: str, headers: Mapping[str, str]) -> None:
        self._session = _Session(headers)
        about = {"service.name": "antiphon", "service.version": program_version()}
        self._provider = TracerProvider(
            sampler=DEFAULT_ON,
            resource=Resource.create(about),
            shutdown_on_exit=False,
            id_generator=_TraceIds(),
        )
        waiting = BatchSpanProcessor(
            _Exporter(endpoint.rstrip("/") + PATH, self._session),
            max_queue_size=MOST_WAITING,
            schedule_delay_millis=EVERY_S * 1000,
            max_export_batch_size=BATCH,
        )
        self._provider.add_span_processor(waiting)
        self.tracer = self._provider.get_tracer(SCOPE, program_version(), SCHEMA_URL)

    def flush(self) -> None:
        """Sends what waits; blocks."""
        self._provider.force_flush()

    def close(self) -> None:
        """Sends what waits, and ends; blocks for a few seconds at most, also if nobody takes it."""
        self._session.closing = True
        # The SDK's own bound is half a minute.
        closing = threading.Thread(target=self._provider.shutdown, daemon=True)
        closing.start()
        closing.join(CLOSING_S)


class _TraceIds(RandomIdGenerator):
    """Makes a query's id that of its trace, so that each leads to the other.

    An id that a caller or an older program chose may have another form.
    """

    def generate_trace_id(self) -> int:
        query_id = current_query.get()
        if _TRACE_ID.fullmatch(query_id) is None:
            return super().generate_trace_id()
        return int(query_id, 16) or super().generate_trace_id()


class _Session(requests.Session):
    """Sends the headers of our settings, and nothing that the environment holds for another collector.

    The exporter adds what `OTEL_EXPORTER_OTLP_HEADERS` names, and requests what `.netrc` does: secrets, which go only
    to an address from the same place (docs/design/access.md).

    Attributes:
        closing: True once the service ends, which waits for no second try: a failure is of a kind that the exporter
            does not repeat.
        problem: What went wrong with the last request, in words, if anything did.
    """

    def __init__(self, headers: Mapping[str, str]) -> None:
        super().__init__()
        self.trust_env = False
        self.closing = False
        self.problem = ""
        self._headers = headers

    def request(self, *args: Any, **options: Any) -> requests.Response:
        sent = {
            name: value
            for name, value in options["headers"].items()
            if name.lower() in OF_THE_EXPORTER
        }
        options["headers"] = {**sent, **self._headers}
        # Nobody needs the body of an answer, which may have no end.
        options["stream"] = True
        try:
            reply = super().request(*args, **options)
        except requests.RequestException as error:
            self.problem = without_userinfo(f"{type(error).__name__}: {error}")
            if self.closing:
                raise requests.RequestException(self.problem) from error
            raise
        reply.close()
        self.problem = f"the collector answered with status {reply.status_code}"
        # To the exporter a redirect is a success, and nobody would know where the spans are.
        if reply.is_redirect or (self.closing and not reply.ok):
            raise requests.RequestException(self.problem)
        return reply


class _Exporter(OTLPSpanExporter):
    """Logs that spans are not taken once, until they are again: a night without a collector must not fill the log."""

    def __init__(self, url: str, session: _Session) -> None:
        super().__init__(url, session=session, timeout=SEND_S)
        self._session = session
        self._failing = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = super().export(spans)
        is_taken = result is SpanExportResult.SUCCESS
        if not is_taken and not self._failing:
            _log.warning(
                "spans_not_sent", error=self._session.problem, spans=len(spans)
            )
        self._failing = not is_taken
        return result
