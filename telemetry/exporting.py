"""Sends spans to an OTLP collector over HTTP, in batches and from a thread: a query never waits for it."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Container, Mapping

import httpx2
import structlog

from antiphon.telemetry.batch import Batch
from antiphon.telemetry.spans import QuerySpans, spans_of
from antiphon.telemetry.wire import request_of
from antiphon.vocabulary.outside import without_userinfo

PATH = "/v1/traces"
"""Where a collector takes spans (https://opentelemetry.io/docs/specs/otlp/#otlphttp-request)."""
AGAIN = (429, 502, 503, 504)
"""Statuses after which the same batch may be sent again (https://opentelemetry.io/docs/specs/otlp/#failures-1)."""
TRIES = 3
SEND_S = 3.0
"""Seconds for one try."""
PAUSE_S = 0.5
"""Seconds before the second try; before the third it is twice as long."""
EVERY_S = 2.0
"""Seconds after which what waits is sent, also where it is little."""
BATCH = 512
MOST_WAITING = 8 * BATCH
"""Spans that may wait; where nobody takes them the oldest are dropped."""
CLOSING_S = 4.0
"""Seconds that the end of the service waits for the last ones."""

_log = structlog.get_logger(__name__)


class SpanExport:
    """The way to the collector, shared by all queries.

    Args:
        headers: Sent with each batch.
        tools: The names of the tools that there are.
        batch: What is heard of queries and not made spans of yet.
    """

    def __init__(
        self,
        endpoint: str,
        headers: Mapping[str, str],
        tools: Container[str],
        batch: Batch,
    ) -> None:
        self._url = endpoint.rstrip("/") + PATH
        self._headers = {**headers, "Content-Type": "application/x-protobuf"}
        self._tools = tools
        self._batch = batch
        # Both its ends are used at once without a lock, and its first is dropped where it is full.
        self._waiting: deque[bytes] = deque(maxlen=MOST_WAITING)
        self._news = threading.Event()
        self._sending = threading.Lock()
        self._closing = False
        self._failing = False
        self._thread = threading.Thread(
            target=self._run, name="send spans", daemon=True
        )
        self._thread.start()

    def onlooker(self) -> QuerySpans | None:
        """Returns what makes the spans of a new query; None where its caller wants none."""
        return spans_of(self._take, self._tools)

    def flush(self) -> None:
        """Sends what waits; blocks."""
        self._batch.flush()
        with (
            self._sending,
            httpx2.Client(headers=self._headers, trust_env=False) as client,
        ):
            self._send_all(client)

    def close(self) -> None:
        """Sends what waits, and ends; blocks for a few seconds at most, also where nobody takes it."""
        self._batch.flush()
        self._closing = True
        self._news.set()
        self._thread.join(CLOSING_S)

    def _take(self, span: bytes) -> None:
        self._waiting.append(span)
        # A thread that is woken by each span would cost more than the span.
        if len(self._waiting) >= BATCH:
            self._news.set()

    def _run(self) -> None:
        # Environment and proxies have no say in where spans go.
        with httpx2.Client(headers=self._headers, trust_env=False) as client:
            while True:
                self._news.wait(EVERY_S)
                self._news.clear()
                # Read before sending: what came before the end is sent.
                is_last = self._closing
                with self._sending:
                    self._send_all(client)
                if is_last:
                    return

    def _send_all(self, client: httpx2.Client) -> None:
        while self._waiting:
            batch: list[bytes] = []
            while self._waiting and len(batch) < BATCH:
                batch.append(self._waiting.popleft())
            problem = self._send(client, request_of(batch))
            # Once, until it works again: a collector that is away for a night must not fill the log.
            if problem and not self._failing:
                _log.warning("spans_not_sent", error=problem, spans=len(batch))
            self._failing = bool(problem)

    def _send(self, client: httpx2.Client, body: bytes) -> str:
        """Sends one batch; returns what went wrong, in words."""
        problem = ""
        for number in range(TRIES):
            # The end of the service waits for no second try.
            if number and self._closing:
                break
            if number:
                time.sleep(PAUSE_S * number)
            try:
                reply = client.post(self._url, content=body, timeout=SEND_S)
            except httpx2.HTTPError as error:
                problem = without_userinfo(f"{type(error).__name__}: {error}")
                continue
            if reply.is_success:
                return ""
            problem = f"the collector answered with status {reply.status_code}"
            if reply.status_code not in AGAIN:
                break
        return problem
