"""Sends spans to a collector with OpenTelemetry's SDK and exporter, in batches from a thread. No query waits for it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
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
"""The path at which a collector accepts spans (https://opentelemetry.io/docs/specs/otlp/#otlphttp-request)."""
SEND_S = 3.0
"""Seconds for one batch, including all retries."""
EVERY_S = 2.0
"""Seconds after which waiting spans are sent even if they fill no batch."""
BATCH = 512
MOST_WAITING = 8 * BATCH
"""Most spans that wait; if the collector accepts none, the oldest are dropped."""
WITH_CONTENT = 8
"""Divides both numbers if spans carry content: a span may then have 256 kB, and collectors accept some 20 MB."""
OF_THE_EXPORTER = ("content-type", "content-encoding", "user-agent")
"""Headers that the exporter sets itself."""
CLOSING_S = 4.0
"""Seconds that the closing service waits for the last spans."""

current_query: ContextVar[str] = ContextVar("current_query", default="")
"""The id of the query whose span begins: the SDK asks for a trace's id without saying which trace it is for."""

Redact = Callable[[Any], Any]
"""Returns an event of the same kind with everything confidential redacted."""

_TRACE_ID = re.compile(r"[0-9a-f]{32}")
_log = structlog.get_logger(__name__)


class SpanExport:
    """The export of spans to a collector, with its own tracer provider; all queries of a service share it.

    Args:
        headers: Sent with each batch.
        redact: Redacts an event before its content is exported; None: spans carry no content.

    Attributes:
        tracer: Makes the exported spans.
    """

    def __init__(
        self, endpoint: str, headers: Mapping[str, str], redact: Redact | None = None
    ) -> None:
        self.redact = redact
        self._session = _Session(headers)
        about = {"service.name": "antiphon", "service.version": program_version()}
        self._provider = TracerProvider(
            # Named here, so that the SDK takes no sampler from the environment.
            sampler=DEFAULT_ON,
            resource=Resource.create(about),
            # `close` shuts it down, within a time limit of its own.
            shutdown_on_exit=False,
            id_generator=_TraceIds(),
        )
        share = 1 if redact is None else WITH_CONTENT
        waiting = BatchSpanProcessor(
            _Exporter(endpoint.rstrip("/") + PATH, self._session),
            max_queue_size=MOST_WAITING // share,
            schedule_delay_millis=EVERY_S * 1000,
            max_export_batch_size=BATCH // share,
        )
        self._provider.add_span_processor(waiting)
        self.tracer = self._provider.get_tracer(SCOPE, program_version(), SCHEMA_URL)

    def flush(self) -> None:
        """Sends the waiting spans; blocks."""
        self._provider.force_flush()

    def close(self) -> None:
        """Sends the waiting spans, and ends; blocks for a few seconds at most, even if no collector answers."""
        self._session.closing = True
        # The SDK's own limit is half a minute.
        closing = threading.Thread(target=self._provider.shutdown, daemon=True)
        closing.start()
        closing.join(CLOSING_S)


class _TraceIds(RandomIdGenerator):
    """Makes a query's id that of its trace, so that each leads to the other.

    An id chosen by a caller or an older program may have another form; its trace then gets a random id.
    """

    def generate_trace_id(self) -> int:
        query_id = current_query.get()
        if _TRACE_ID.fullmatch(query_id) is None:
            return super().generate_trace_id()
        # A trace id of zeros is invalid.
        return int(query_id, 16) or super().generate_trace_id()


class _Session(requests.Session):
    """Sends the headers of our settings, and none that the environment holds for another collector.

    The exporter would add the headers in `OTEL_EXPORTER_OTLP_HEADERS`, and requests the login in `.netrc`: secrets,
    which may go only to an address from the same source (docs/design/access.md).

    Attributes:
        closing: True once the service ends, which waits for no retry: a failure is then raised as a kind that the
            exporter does not retry.
        problem: The problem of the last request in words; after a success, its status.
    """

    def __init__(self, headers: Mapping[str, str]) -> None:
        super().__init__()
        # Keeps `requests` from reading `.netrc` and proxies from the environment.
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
        # Nobody needs the body of a reply, which may be endless.
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
        # The exporter takes a redirect for a success, and the spans would be lost silently.
        if reply.is_redirect or (self.closing and not reply.ok):
            raise requests.RequestException(self.problem)
        return reply


class _Exporter(OTLPSpanExporter):
    """Logs the first refusal of spans after a success only: a night without a collector must not fill the log."""

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
