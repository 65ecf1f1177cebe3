"""Writes docs/telemetry.md from telemetry/ and from the source: `python -m tests.house.telemetry_page`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from antiphon.telemetry.conventions import ATTRIBUTES, SPAN_EVENTS, SPANS, VERSION
from antiphon.telemetry.metrics import COUNTERS, GAUGES, HISTOGRAMS
from antiphon.telemetry.queue_metrics import QUEUE_GAUGES
from tests.house.log_lines import log_lines

PAGE = Path(__file__).parents[2] / "docs" / "telemetry.md"

HEAD = """# Telemetry

What a service tells the outside of its queries, beside their traces: OpenTelemetry spans, Prometheus metrics, and a
log. The tables are written by `python -m tests.house.telemetry_page` from telemetry/ and from the source; `make test`
fails where they are not up to date.

**No text of a question, a document, a tool's result or a reply is in spans or metrics**, and none in the log but what
an error says itself, redacted. Names that come from outside (a model's, a tool's, an id) are taken where they look
like identifiers, and are `other` where they do not; a label has 30 values of them at most. Who needs the text follows
the query's id into its trace, which redaction and deletion hold for.

Spans and metrics are made by components that only look on: a trace does not know of them, a replay needs none, and a
recorded fork, which calls nothing, is not counted. Both are off until a setting asks for them, and then nothing of
them is imported. They need the extra `telemetry` (`pip install 'antiphon[telemetry]'`).

## Spans

`ANTIPHON_OTLP_ENDPOINT=http://127.0.0.1:4318` sends them to a collector by OTLP over HTTP, in batches, from a thread
of their own; where nobody takes them they are dropped, and no query waits. `ANTIPHON_OTLP_HEADERS` is for its access,
and is only sent to an address from the same place ([decision 104](decisions/104-secrets-stay-with-their-address.md)).

- **From span to trace**: `antiphon.query.id` is on every span, and `antiphon.event.seq` names the event that it
  begins with.
- **From trace to span**: without a caller's trace, the query's id *is* the id of the trace in your tracing system.
- **A caller's trace goes on**: a request with `traceparent` (W3C Trace Context) becomes its part; one that the caller
  does not record is not sent. Everything else is sent: sample in the collector, which alone sees how a query ended.
- A query that was interrupted goes on in a second span `invoke_agent antiphon` of the same trace, with
  `antiphon.query.resumed`.

Times are those of the recorded events. Names that begin with `gen_ai.` and `error.` are those of the [semantic
conventions](https://opentelemetry.io/docs/specs/semconv/gen-ai/), version {version}.

| span | what it covers |
|---|---|
{spans}
| event of a span | when |
|---|---|
{span_events}
| attribute | meaning |
|---|---|
{attributes}
## Metrics

`GET /metrics` shows by `ANTIPHON_METRICS`: `sums` of the process (no package needed), `prometheus` (all of these),
nothing (`off`), or `auto`, the default: sums on loopback, and nothing on a network address.
[deploy/prometheus](../deploy/prometheus) has a scrape configuration, shares and alerts,
[deploy/grafana](../deploy/grafana) a dashboard; tests hold that each metric in them is one of these. The metrics of
the process (`process_*`, `python_gc_*`) are those of the client library.

`antiphon worker --health PORT` shows the same of its process at its own `/metrics`. With a queue
([docs/cluster.md](cluster.md)) every node and worker also shows how the queue is: it is one for all, so take one of
their values (`max`), and sum what each process does with it (`antiphon_claims_*`,
`antiphon_queries_given_up_total`).

| metric | type | labels | meaning |
|---|---|---|---|
{metrics}
## The log

To standard error, as JSON where that is no terminal (`ANTIPHON_LOG_FORMAT`). Every line has `event` (its name),
`level` and `timestamp` (ISO 8601, UTC); within a query `query_id`, and from its first round on `round`. What
libraries log comes as the same kind of line, with `logger` and the message as `event`; `exception` is a traceback.
Redaction holds for every field; what would steer a terminal or forge a line is written out.

| line | level | fields of its own | logged by |
|---|---|---|---|
{log}"""


def page() -> str:
    """Returns the whole page."""
    metrics: list[Sequence[str]] = []
    for name, (text, labels) in COUNTERS.items():
        metrics.append((f"`{name}_total`", "counter", _code(labels), text))
    for name, (text, labels, _) in HISTOGRAMS.items():
        metrics.append((f"`{name}`", "histogram", _code(labels), text))
    for name, (text, labels) in (*GAUGES.items(), *QUEUE_GAUGES.items()):
        metrics.append((f"`{name}`", "gauge", _code(labels), text))
    log: list[Sequence[str]] = []
    for line in log_lines():
        log.append((f"`{line.event}`", line.level, _code(line.fields), line.room))
    return HEAD.format(
        version=VERSION,
        spans=_rows((f"`{name}`", text) for name, text in SPANS.items()),
        span_events=_rows((f"`{name}`", text) for name, text in SPAN_EVENTS.items()),
        attributes=_rows((f"`{name}`", text) for name, text in ATTRIBUTES.items()),
        metrics=_rows(metrics),
        log=_rows(log),
    )


def _rows(rows: Iterable[Sequence[str]]) -> str:
    lines: list[str] = []
    for row in rows:
        lines.append("| " + " | ".join(row) + " |\n")
    return "".join(lines)


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    PAGE.write_text(page())
