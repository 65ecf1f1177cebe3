"""A small OTLP collector: takes spans over HTTP in the protocol's format, and keeps them."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

WAITING_S = 20.0
NANOSECONDS = 1_000_000_000


class Received(NamedTuple):
    """One span as it arrived."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    start_s: float
    end_s: float
    attributes: Mapping[str, object]
    moments: tuple[tuple[str, Mapping[str, object]], ...]
    failed: bool


class Collector:
    """The spans and requests that arrived."""

    def __init__(self) -> None:
        self.url = ""
        self.spans: list[Received] = []
        self.bodies: list[bytes] = []
        self.headers: list[Mapping[str, str]] = []
        self.schemas: set[str] = set()
        self.resource: dict[str, object] = {}

    def take(self, path: str, headers: Mapping[str, str], body: bytes) -> None:
        """Decodes one request."""
        assert path == "/v1/traces"
        if headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        self.headers.append(headers)
        self.bodies.append(body)
        for resource_spans in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.resource = _attributes(resource_spans.resource.attributes)
            for scope_spans in resource_spans.scope_spans:
                self.schemas.add(scope_spans.schema_url)
                self.spans += [_received(span) for span in scope_spans.spans]

    def of(self, query_id: str, least: int = 1) -> list[Received]:
        """Waits for all spans of a query, of which the query's own comes last, and returns them."""
        until = time.monotonic() + WAITING_S
        while time.monotonic() < until:
            found = [
                span
                for span in self.spans
                if span.attributes.get("antiphon.query.id") == query_id
            ]
            ended = [span for span in found if span.name == "invoke_agent antiphon"]
            if len(ended) >= least:
                return found
            time.sleep(0.05)
        raise AssertionError(f"no spans of {query_id} arrived: {self.spans}")


@contextmanager
def collecting() -> Iterator[Collector]:
    """Runs a collector on a free loopback port."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            lower = {name.lower(): value for name, value in self.headers.items()}
            collector.take(self.path, lower, body)
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args: object) -> None:
            """Logs nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _received(span: Span) -> Received:
    moments: list[tuple[str, Mapping[str, object]]] = []
    for event in span.events:
        moments.append((event.name, _attributes(event.attributes)))
    return Received(
        name=span.name,
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        start_s=span.start_time_unix_nano / NANOSECONDS,
        end_s=span.end_time_unix_nano / NANOSECONDS,
        attributes=_attributes(span.attributes),
        moments=tuple(moments),
        failed=span.status.code == 2,
    )


def _attributes(pairs: Iterable[KeyValue]) -> dict[str, object]:
    found: dict[str, object] = {}
    for pair in pairs:
        found[pair.key] = _value(pair.value)
    return found


def _value(value: AnyValue) -> object:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(each) for each in value.array_value.values]
    if kind is None:
        return None
    found: object = getattr(value, kind)
    return found
