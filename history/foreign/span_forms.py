"""How files hold spans: OTLP JSON, exports of Phoenix, the console of OpenTelemetry, observations of Langfuse."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from antiphon.history.foreign.messages import as_object, decoded
from antiphon.history.foreign.model_calls import seconds
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.ports import Json

MOST_CELLS = 2_000_000
MOST_PARTS = 40
"""Dots in the name of an attribute."""
_HOLDERS = ("resourceSpans", "scopeSpans", "spans", "data", "observations", "traces")
_OPERATIONS = {"GENERATION": "chat", "TOOL": "execute_tool", "RETRIEVER": "retrieval"}


@dataclass(frozen=True)
class Span:
    """One span; `attributes` are nested by the dots of their names, those of its events among them."""

    id: str
    parent: str
    name: str
    began_at: float | None
    ended_at: float | None
    attributes: Json
    error: str

    def told(self, *names: str) -> Any:
        """Returns the first of these attributes that says something; None where none does."""
        for name in names:
            value: Any = self.attributes
            for part in name.split("."):
                # Some write objects into attributes as texts.
                value = decoded(value)
                value = value.get(part) if isinstance(value, dict) else None
            if value not in (None, "", [], {}):
                return value
        return None


def spans_in(value: object) -> Iterator[tuple[str, Json]]:
    """Yields the spans in a value of a file, wherever they stand in it, each with the id of its trace."""
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
    context = value.get("context")
    flat: Json = {**value, **context} if isinstance(context, dict) else value
    if trace_id := _first(flat, "traceId", "trace_id", "context.trace_id"):
        yield str(trace_id).removeprefix("0x"), flat


def _rows(rows: Json, columns: Json) -> Iterator[tuple[str, Json]]:
    """Yields the spans of a data frame that was written column by column."""
    if len(rows) * len(columns) > MOST_CELLS:
        raise BadInputError(
            f"the data frame has more than {MOST_CELLS:,} cells: split it"
        )
    for row in rows:
        cells = {name: as_object(cell).get(row) for name, cell in columns.items()}
        yield from spans_in(cells)


def is_observation(flat: Json) -> bool:
    """Returns True for an observation of Langfuse, which says what it is of."""
    return isinstance(flat.get("type"), str)


def span_of(flat: Json) -> Span:
    """Reads one span, or one observation of Langfuse."""
    if is_observation(flat):
        return _observed(flat)
    status = flat.get("status", flat.get("status_code"))
    message = flat.get("status_message")
    if isinstance(status, dict):
        message = status.get("message", status.get("description"))
        status = status.get("code", status.get("status_code"))
    attributes = _pairs(flat.get("attributes"))
    # Phoenix keeps this one beside the others.
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
        id=str(_first(flat, "spanId", "span_id", "context.span_id")),
        parent=str(_first(flat, "parentSpanId", "parent_id")),
        name=str(flat.get("name")),
        began_at=seconds(_first(flat, "startTimeUnixNano", "start_time")),
        ended_at=seconds(_first(flat, "endTimeUnixNano", "end_time")),
        attributes=_nested(attributes),
        error=str(message or "the span ended with an error") if is_error else "",
    )


def _observed(given: Json) -> Span:
    """Returns an observation of Langfuse as a span with GenAI names."""
    asked, usage = decoded(given.get("input")), given.get("usageDetails") or {}
    attributes: Json = {
        "gen_ai.operation.name": _OPERATIONS.get(given["type"]),
        "gen_ai.agent.name": given.get("name") if given["type"] == "AGENT" else None,
        "gen_ai.input.messages": asked,
        "gen_ai.output.messages": given.get("output"),
        "gen_ai.request.model": given.get("model"),
        "gen_ai.usage.input_tokens": usage.get("input"),
        "gen_ai.usage.output_tokens": usage.get("output"),
        "gen_ai.tool.name": given.get("name"),
        "gen_ai.tool.call.result": given.get("output"),
        "llm.invocation_parameters": given.get("modelParameters"),
    }
    if isinstance(asked, dict):
        attributes["gen_ai.system_instructions"] = asked.get("system")
        attributes["gen_ai.tool.definitions"] = asked.get("tools")
    is_error = given.get("level") == "ERROR"
    return Span(
        id=str(given.get("id")),
        parent=str(given.get("parentObservationId")),
        name=str(given.get("name")),
        began_at=seconds(given.get("startTime")),
        ended_at=seconds(given.get("endTime")),
        attributes=_nested(list(attributes.items())),
        error=str(given.get("statusMessage") or "it failed") if is_error else "",
    )


def _first(given: Json, *names: str) -> Any:
    return next((given[name] for name in names if given.get(name)), "")


def _pairs(given: object) -> list[tuple[str, object]]:
    """Returns attributes as pairs; those of OTLP are a list of keys and values."""
    if isinstance(given, list):
        return [(str(each["key"]), _value(each.get("value"))) for each in given]
    return list(given.items()) if isinstance(given, dict) else []


def _value(given: Any) -> object:
    for kind, value in (given or {}).items():
        if kind == "arrayValue":
            return [_value(each) for each in value.get("values", ())]
        if kind == "kvlistValue":
            return {
                each["key"]: _value(each.get("value"))
                for each in value.get("values", ())
            }
        return int(value) if kind == "intValue" else value
    return None


def _nested(pairs: Iterable[tuple[str, object]]) -> Json:
    """Nests attributes by the dots of their names; what is numbered becomes a list."""
    nested: Json = {}
    for name, value in pairs:
        _put(nested, name, value)
    return {name: _with_lists(value) for name, value in nested.items()}


def _put(nested: Json, name: str, value: object) -> None:
    *parts, last = name.split(".", MOST_PARTS)
    for part in parts:
        # A name may be the beginning of another, which tells more.
        if not isinstance(nested.get(part), dict):
            nested[part] = {}
        nested = nested[part]
    if isinstance(value, dict):
        for key, each in value.items():
            _put(nested, f"{last}.{key}", each)
    elif not isinstance(nested.get(last), dict):
        nested[last] = value


def _with_lists(value: Any) -> Any:
    if isinstance(value, list):
        return [
            _nested(each.items()) if isinstance(each, dict) else each for each in value
        ]
    if not isinstance(value, dict):
        return value
    if value and all(name.isdecimal() for name in value):
        return [
            _with_lists(value[name])
            for name in sorted(value, key=lambda name: (len(name), name))
        ]
    return {name: _with_lists(each) for name, each in value.items()}
