"""The export of spans to a collector: what goes there and what does not, and what a bad collector costs."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry import trace
from structlog.testing import capture_logs

from antiphon.telemetry import SpanExport, exporting
from antiphon.telemetry.spans import Spans, end
from antiphon.vocabulary.events import QueryClosed, Recorded
from tests.collector import collecting

QUERY = Recorded(
    query_id="f" * 32, seq=1, cause=0, at=12.5, event=QueryClosed(status="failed")
)


def send_span(export: SpanExport) -> None:
    end(Spans(export.tracer).begin("chat m", QUERY, None, {}), 13.0)
    export.flush()


@contextmanager
def answering(
    statuses: Sequence[int], hold: threading.Event, bodies: list[bytes] | None = None
) -> Iterator[str]:
    """A server that answers with these statuses, the last one for ever, once it may; it keeps what it got."""
    left = list(statuses)
    kept = [] if bodies is None else bodies

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            kept.append(self.rfile.read(int(self.headers["content-length"])))
            hold.wait()
            self.send_response(left.pop(0) if len(left) > 1 else left[0])
            self.send_header("Location", "http://127.0.0.1:9/")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Keeps still."""

    with serving(Handler) as url:
        try:
            yield url
        finally:
            hold.set()


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """A server on a free port of loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def at_once() -> threading.Event:
    event = threading.Event()
    event.set()
    return event


def test_nothing_that_the_environment_holds_for_another_collector_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login jane password heliotrope\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-theirs=heliotrope")
    # Nobody listens there: a span that took this proxy would not arrive.
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")

    with collecting() as collector:
        export = SpanExport(collector.url, {"x-key": "k"})
        send_span(export)
        export.close()

    [headers] = collector.headers
    assert len(collector.spans) == 1
    assert headers["x-key"] == "k"
    assert headers["content-type"] == "application/x-protobuf"
    assert headers["content-encoding"] == "gzip"
    assert not {"x-theirs", "authorization"} & headers.keys()


def test_services_of_one_process_send_their_own_spans_and_no_others() -> None:
    with collecting() as one, collecting() as another:
        exports = [SpanExport(one.url, {}), SpanExport(another.url, {})]
        send_span(exports[0])
        for export in exports:
            export.close()

    assert (len(one.spans), len(another.spans)) == (1, 0)
    assert isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


@pytest.mark.parametrize(
    ("query_id", "is_its_trace"),
    [("a1" * 16, True), ("q-1", False), ("0" * 32, False)],
)
def test_a_query_id_that_can_be_a_trace_id_becomes_one(
    query_id: str, is_its_trace: bool
) -> None:
    with collecting() as collector:
        export = SpanExport(collector.url, {})
        recorded = Recorded(
            query_id=query_id, seq=1, cause=0, at=1.0, event=QUERY.event
        )
        spans = Spans(export.tracer)
        outer = spans.begin("round 1", recorded, None, {})
        end(spans.begin("chat m", recorded, outer, {}), 2.0)
        end(outer, 3.0)
        export.close()

    inner, first = collector.spans
    assert (first.trace_id == query_id) is is_its_trace
    assert int(first.trace_id, 16)
    assert (inner.trace_id, inner.parent_id) == (first.trace_id, first.span_id)
    assert (inner.start_s, inner.end_s, first.end_s) == (1.0, 2.0, 3.0)


def test_a_collector_that_takes_nothing_is_logged_once_until_it_does() -> None:
    with answering((400, 307, 404, 200, 500), at_once()) as url, capture_logs() as log:
        export = SpanExport(url, {})
        for _ in range(5):
            send_span(export)
        export.close()

    said = [line["error"] for line in log if line["event"] == "spans_not_sent"]
    assert said == [
        "the collector answered with status 400",
        "the collector answered with status 500",
    ]


def test_a_redirect_is_not_followed_and_is_a_failure() -> None:
    with answering((307,), at_once()) as url, capture_logs() as log:
        export = SpanExport(url, {})
        send_span(export)
        export.close()

    assert "status 307" in str(log)


@pytest.mark.parametrize("status", [0, 503])
def test_the_end_of_the_service_waits_for_no_second_try(status: int) -> None:
    with answering((status,), at_once()) as url:
        export = SpanExport(url if status else "http://127.0.0.1:9", {})
        begun = time.monotonic()
        end(Spans(export.tracer).begin("chat m", QUERY, None, {}), 13.0)
        export.close()
        took = time.monotonic() - begun

    assert took < 0.7


def test_an_answer_without_an_end_is_not_read() -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.end_headers()
            with suppress(ConnectionError):
                while True:
                    self.wfile.write(bytes(65_536))

        def log_message(self, *args: object) -> None:
            """Keeps still."""

    with serving(Handler) as url, capture_logs() as log:
        export = SpanExport(url, {})
        begun = time.monotonic()
        send_span(export)
        took = time.monotonic() - begun
        export.close()

    assert took < exporting.SEND_S
    assert log == []


def test_a_collector_that_never_answers_delays_the_end_by_no_more_than_its_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exporting, "CLOSING_S", 0.3)
    with answering((200,), threading.Event()) as url:
        export = SpanExport(url, {})
        begun = time.monotonic()
        end(Spans(export.tracer).begin("chat m", QUERY, None, {}), 13.0)
        made = time.monotonic() - begun
        export.close()
        took = time.monotonic() - begun

    assert made < 0.2
    assert took < 1.0


def test_the_oldest_of_too_many_waiting_spans_is_dropped_and_nobody_waits_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exporting, "MOST_WAITING", 4)
    monkeypatch.setattr(exporting, "BATCH", 1)
    hold, bodies = threading.Event(), list[bytes]()
    with answering((200,), hold, bodies) as url:
        export = SpanExport(url, {})
        begun = time.monotonic()
        for number in range(20):
            end(Spans(export.tracer).begin(f"chat {number}", QUERY, None, {}), 13.0)
        took = time.monotonic() - begun
        hold.set()
        export.close()

    assert took < 0.5
    # Four that waited, and one that was on its way.
    assert 4 <= len(bodies) <= 5
    for number, body in zip(range(16, 20), bodies[-4:], strict=True):
        assert f"chat {number}".encode() in body
