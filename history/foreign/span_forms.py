"""Reads spans from files: OTLP JSON, Phoenix exports, OpenTelemetry's console output, Langfuse observations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from antiphon.history.foreign.messages import as_object, decoded, first, written
from antiphon.history.foreign.model_calls import seconds
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.ports import Json

MOST_CELLS = 2_000_000
_HOLDERS = ("resourceSpans", "scopeSpans", "spans", "data", "observations", "traces")
_OPERATIONS = {"GENERATION": "chat", "TOOL": "execute_tool", "RETRIEVER": "retrieval"}


@dataclass(frozen=True)
class Span:
    """One span; its `attributes`, including those of its events, are nested by the dots in their names."""

    id: str
    parent: str
    name: str
    began_at: float | None
    ended_at: float | None
    attributes: Json
    error: str

    def told(self, *names: str) -> Any:
        """Returns the first of these attributes that is not empty; None if all are."""
        for name in names:
            value: Any = self.attributes
            for part in name.split("."):
                # Some write objects into attributes as strings.
                value = as_object(decoded(value)).get(part)
            if value not in (None, "", [], {}):
                return value
        return None


def spans_in(value: object) -> Iterator[tuple[str, Json]]:
    """Yields the spans at any depth of a file's value, each with the id of its trace."""
    if isinstance(value, list):
        for each in value:
            yield from spans_in(each)
    if not isinstance(value, dict):
        return
    rows = value.get("context.trace_id")
    if isinstance(rows, dict):
        yield from _rows(rows, value)
        return
    for name in _HOLDERS:
        yield from spans_in(value.get(name))
    flat: Json = {**value, **as_object(value.get("context"))}
    if trace_id := first(flat, "traceId", "trace_id", "context.trace_id"):
        yield str(trace_id).removeprefix("0x"), flat


def _rows(rows: Json, columns: Json) -> Iterator[tuple[str, Json]]:
    """Yields the spans of a data frame written by columns."""
    if len(rows) * len(columns) > MOST_CELLS:
        raise BadInputError(
            f"the data frame has more than {MOST_CELLS:,} cells: split it"
        )
    for row in rows:
        cells = {name: as_object(cell).get(row) for name, cell in columns.items()}
        yield from spans_in(cells)


def is_observation(flat: Json) -> bool:
    """Returns True for an observation of Langfuse, which has a type."""
    return isinstance(flat.get("type"), str)


def span_of(flat: Json) -> Span:
    """Reads one span, or one observation of Langfuse."""
    status = first(flat, "status", "status_code", "level")
    message = first(flat, "status_message", "statusMessage")
    if isinstance(status, dict):
        message = first(status, "message", "description")
        status = first(status, "code", "status_code")
    attributes = _pairs(
        _told_by(flat) if is_observation(flat) else flat.get("attributes")
    )
    # Phoenix keeps this attribute outside the others.
    if flat.get("span_kind") not in (None, "UNKNOWN"):
        attributes.append(("openinference.span.kind", flat["span_kind"]))
    # A data frame has a column for each attribute.
    for name, value in flat.items():
        if name.startswith("attributes."):
            attributes.append((name.removeprefix("attributes."), value))
    for event in decoded(flat.get("events")) or ():
        attributes += _pairs(event.get("attributes"))
    is_error = str(status).rpartition("_")[2].upper() in ("2", "ERROR")
    return Span(
        id=written(first(flat, "spanId", "span_id", "context.span_id", "id")),
        parent=written(first(flat, "parentSpanId", "parent_id", "parentObservationId")),
        name=str(flat.get("name")),
        began_at=seconds(first(flat, "startTimeUnixNano", "start_time", "startTime")),
        ended_at=seconds(first(flat, "endTimeUnixNano", "end_time", "endTime")),
        attributes=_nested(attributes),
        error=str(message or "the span ended with an error") if is_error else "",
    )


def _told_by(observation: Json) -> Json:
    """Returns the fields of a Langfuse observation as attributes with GenAI names."""
    asked = decoded(observation.get("input"))
    kind, output = observation["type"], observation.get("output")
    usage = as_object(observation.get("usageDetails"))
    return {
        "gen_ai.operation.name": _OPERATIONS.get(kind),
        "gen_ai.agent.name": observation.get("name") if kind == "AGENT" else None,
        "gen_ai.input.messages": asked,
        "gen_ai.system_instructions": as_object(asked).get("system"),
        "gen_ai.tool.definitions": as_object(asked).get("tools"),
        "gen_ai.output.messages": output,
        "gen_ai.request.model": observation.get("model"),
        "gen_ai.usage.input_tokens": usage.get("input"),
        "gen_ai.usage.output_tokens": usage.get("output"),
        "gen_ai.tool.call.result": output,
        "llm.invocation_parameters": observation.get("modelParameters"),
    }


def _pairs(given: object) -> list[tuple[str, object]]:
    """Returns attributes as pairs; OTLP writes them as a list of keys and values."""
    if isinstance(given, list):
        return [(str(each["key"]), _value(each.get("value"))) for each in given]
    return list(as_object(given).items())


def _value(given: Any) -> object:
    for kind, value in (given or {}).items():
        if kind == "arrayValue":
            return [_value(each) for each in value.get("values", ())]
        if kind == "kvlistValue":
            return dict(_pairs(value.get("values", [])))
        return int(value) if kind == "intValue" else value
    return None


def _nested(pairs: Iterable[tuple[str, Any]]) -> Any:
    """Nests attributes by the dots in their names; numbered parts become a list."""
    parts: dict[str, list[tuple[str, Any]]] = {}
    for name, value in pairs:
        head, _, rest = name.partition(".")
        parts.setdefault(head, []).append((rest, value))
    if parts and all(map(str.isdecimal, parts)):
        numbered = sorted(parts, key=lambda number: (len(number), number))
        return [_joined(parts[number]) for number in numbered]
    return {head: _joined(same) for head, same in parts.items()}


def _joined(same: list[tuple[str, Any]]) -> Any:
    """Joins the parts of a name's value; prefers parts to a plain value, because they carry more."""
    inner: list[tuple[str, Any]] = []
    value: Any = None
    for rest, value in same:
        if rest:
            inner.append((rest, value))
        elif isinstance(value, dict):
            inner += value.items()
    if inner:
        return _nested(inner)
    if isinstance(value, list):
        return [_nested(i.items()) if isinstance(i, dict) else i for i in value]
    return value
