"""Writes docs/telemetry.md from telemetry/ and the rest of the source: `python -m tests.house.telemetry_page`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from antiphon.telemetry.content import ATTRIBUTE_BYTES, TEXT_CHARS
from antiphon.telemetry.conventions import (
    ATTRIBUTES,
    CONTENT,
    SCHEMA_URL,
    SPAN_EVENTS,
    SPANS,
    VERSION,
)
from antiphon.telemetry.metrics import COUNTERS, GAUGES, HISTOGRAMS
from antiphon.workers.queue_metrics import QUEUE_GAUGES
from tests.house.log_lines import log_lines

PAGE = Path(__file__).parents[2] / "docs" / "telemetry.md"

HEAD = """# Telemetry

Besides its traces, a service exports OpenTelemetry spans, Prometheus metrics and a log. `python -m
tests.house.telemetry_page` writes the tables from telemetry/ and from the source; `make test` fails if they are out of
date.

**Metrics contain no text of a question, a document, a tool's result or a reply, and spans contain none unless [a
setting](#content) asks for it.** The log contains none either, except what an error says itself, redacted. Names from
outside (a model's, a tool's, an id) appear only if they look like identifiers, and as `other` if not; a label has at
most 30 such values. To see the text, follow the query's id into its trace, which is subject to redaction and deletion.

Components that only observe make the spans and metrics. A trace does not contain them, a replay does not need them, and
a recorded fork, which calls nothing, is not counted. Both are off until a setting asks for them, and until then their
libraries are not imported. They need the extra `telemetry` (`pip install 'antiphon[telemetry]'`).

## Spans

`ANTIPHON_OTLP_ENDPOINT=http://127.0.0.1:4318` sends spans to a collector by OTLP over HTTP, in batches, from a separate
thread. If the collector is down, spans are dropped, and no query waits. `ANTIPHON_OTLP_HEADERS` sets the collector's
credentials; they are sent only to an address from the same place ([why](design/access.md#secrets-and-outside-text)).

OpenTelemetry's SDK and its exporter make and send them ([why](decisions/024-telemetry-by-its-libraries.md)), so their
own variables hold too, such as `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_EXPORTER_OTLP_CERTIFICATE` and
`OTEL_EXPORTER_OTLP_COMPRESSION`. Address, headers, sampling and batches are not theirs to set.

- **From span to trace**: every span has `antiphon.query.id`, and `antiphon.event.seq` names the event that the span
  starts with.
- **From trace to span**: without a caller's trace, the query's id *is* the trace id in your tracing system.
- **Trace propagation**: a request with `traceparent` (W3C Trace Context) joins the caller's trace; if the caller does
  not sample that trace, nothing is sent. All other queries are sent. Sample in the collector, which alone sees how a
  query ended.
- An interrupted query continues in a second span `invoke_agent antiphon` of the same trace, with
  `antiphon.query.resumed`.

Times are those of the recorded events. Names that begin with `gen_ai.` and `error.` follow the [semantic conventions
for generative AI](https://github.com/open-telemetry/semantic-conventions-genai), v{version}; the `schema_url` of all
spans is `{schema}`. [docs/phoenix.md](phoenix.md) shows a query in Phoenix.

| span | what it covers |
|---|---|
{spans}
| event of a span | when |
|---|---|
{span_events}
| attribute | meaning |
|---|---|
{attributes}
### Content

`ANTIPHON_OTLP_CONTENT=1` adds what was asked, sent, found and answered. It is redacted by the rules of the traces
([docs/data.md](data.md#encryption-and-redaction)), once more as it leaves; deleting a trace does not delete it from the
collector. Of a text above {text:,} characters the beginning is sent, and how many are missing. An attribute has at most
{bytes:,} bytes: its texts are cut shorter until it fits, and if even {least} characters of each do not, it is left out.
The queue of spans and its batches are an eighth as long.

| attribute | meaning |
|---|---|
{content}
Three names are not in the conventions, for readers that know no other: `input.value` and `output.value`
(OpenInference) on the query's span, which Phoenix 20.26 and Langfuse show as a trace's question and answer; and
`gen_ai.usage.cache_creation.input_tokens`, by which both price tokens that were written to the cache. A document's
`content` and `metadata` are additions that its schema allows. A message's `finish_reason` is deprecated since v0.1.0,
and Phoenix drops messages without it.

## Metrics

`ANTIPHON_METRICS` decides what `GET /metrics` shows: `sums` of the process (no package needed), `prometheus` (all
metrics below), `off` (nothing), or `auto`, the default: sums on loopback, and nothing on a network address.
[deploy/prometheus](../deploy/prometheus) has a scrape configuration, recording rules and alerts, and
[deploy/grafana](../deploy/grafana) a dashboard; tests check that each metric in them is in this table. The metrics of
the process (`process_*`, `python_gc_*`) come from the client library.

`antiphon worker --health PORT` serves the same for its process at its own `/metrics`. With a queue
([docs/cluster.md](cluster.md)) every node and worker also reports the state of the queue. There is one queue for all
of them, so take one of their values (`max`). Sum the counters of what each process does with it (`antiphon_claims_*`,
`antiphon_queries_given_up_total`).

| metric | type | labels | meaning |
|---|---|---|---|
{metrics}
## The log

The log goes to standard error, as JSON unless that is a terminal (`ANTIPHON_LOG_FORMAT`). Every line has `event` (its
name), `level` and `timestamp` (ISO 8601, UTC). Within a query it has `query_id`, and from the first round on `round`.
Log lines of libraries have the same form, with `logger` and the message as `event`; `exception` is a traceback.
Redaction applies to every field, and control characters that could steer a terminal or forge a line are escaped.

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
        schema=SCHEMA_URL,
        text=TEXT_CHARS[0],
        least=TEXT_CHARS[-1],
        bytes=ATTRIBUTE_BYTES,
        spans=_rows((f"`{name}`", text) for name, text in SPANS.items()),
        span_events=_rows((f"`{name}`", text) for name, text in SPAN_EVENTS.items()),
        attributes=_rows((f"`{name}`", text) for name, text in ATTRIBUTES.items()),
        content=_rows((f"`{name}`", text) for name, text in CONTENT.items()),
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
