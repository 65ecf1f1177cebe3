"""Spans with GenAI or OpenInference names: OTLP JSON, Phoenix exports, and what OpenTelemetry's console prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from dataclasses import dataclass
from typing import Any

from antiphon.history.foreign.messages import decoded, text_of, written
from antiphon.history.foreign.model_calls import (
    ForeignTrace,
    ModelCall,
    Read,
    ToolRun,
    counted,
    failure_of,
    model_call,
    seconds,
)
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.ports import Json

GENAI = "OpenTelemetry GenAI"
OPENINFERENCE = "OpenInference"
MOST_PARTS = 40
"""Dots in the name of an attribute."""
_MODEL_WORK = ("chat", "generate_content", "text_completion", "completion")


@dataclass(frozen=True)
class Span:
    """One span; `attributes` are nested by the dots of their names."""

    trace_id: str
    id: str
    parent: str
    name: str
    began_at: float | None
    ended_at: float | None
    attributes: Json
    events: list[Json]
    error: str


def traces_of_spans(values: Iterable[object]) -> Iterator[tuple[str, Read]]:
    """Yields the id of each trace that spans make up, and what reads it."""
    by_trace: dict[str, list[Span]] = {}
    for value in values:
        for given in _span_objects(value):
            span = _span(given)
            by_trace.setdefault(span.trace_id, []).append(span)
    for trace_id, spans in by_trace.items():
        yield trace_id, partial(_trace, trace_id, spans)


def _span_objects(value: object) -> Iterator[Json]:
    """Yields the spans in an export of OTLP, of the REST interface of Phoenix, or one span of a line."""
    if isinstance(value, list):
        for each in value:
            yield from _span_objects(each)
    if not isinstance(value, dict):
        return
    for name in (
        "resourceSpans",
        "resource_spans",
        "scopeSpans",
        "scope_spans",
        "spans",
        "data",
    ):
        if isinstance(value.get(name), list):
            yield from _span_objects(value[name])
    if (
        isinstance(value.get("context"), dict)
        or "attributes" in value
        or "context.span_id" in value
    ):
        if _first(value, "spanId", "span_id", "context.span_id", "context"):
            yield value


def _span(given: Json) -> Span:
    context = given.get("context")
    flat = {**given, **context} if isinstance(context, dict) else given
    status = flat.get("status", flat.get("status_code"))
    message = flat.get("status_message", "")
    if isinstance(status, dict):
        message = status.get("message") or status.get("description") or ""
        status = status.get("code", status.get("status_code"))
    attributes = _attributes(flat.get("attributes"))
    # A data frame has a column for each attribute.
    for name, value in flat.items():
        if name.startswith("attributes."):
            _put(attributes, name.removeprefix("attributes."), value)
    events = [
        each for each in decoded(flat.get("events")) or () if isinstance(each, dict)
    ]
    for event in events:
        event["attributes"] = _attributes(event.get("attributes"))
    attributes = _listed(attributes)
    is_error = str(status).rpartition("_")[2].upper() in ("2", "ERROR")
    return Span(
        trace_id=str(_first(flat, "traceId", "trace_id", "context.trace_id") or ""),
        id=str(_first(flat, "spanId", "span_id", "context.span_id") or ""),
        parent=str(_first(flat, "parentSpanId", "parent_span_id", "parent_id") or ""),
        name=str(flat.get("name") or ""),
        began_at=seconds(
            _first(
                flat,
                "startTimeUnixNano",
                "start_time_unix_nano",
                "start_time",
                "startTime",
            )
        ),
        ended_at=seconds(
            _first(flat, "endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")
        ),
        attributes=attributes,
        events=events,
        error=(str(message) or "the span ended with an error") if is_error else "",
    )


def _first(given: Json, *names: str) -> Any:
    return next(
        (given[name] for name in names if given.get(name) not in (None, "")), None
    )


def _attributes(given: object) -> Json:
    """Nests attributes by the dots of their names; those of OTLP are a list of keys and values."""
    nested: Json = {}
    if isinstance(given, list):
        pairs = [
            (each.get("key"), _value(each.get("value")))
            for each in given
            if isinstance(each, dict)
        ]
    else:
        pairs = list(given.items()) if isinstance(given, dict) else []
    for name, value in pairs:
        if isinstance(name, str):
            _put(nested, name, value)
    return nested


def _value(given: object) -> object:
    if not isinstance(given, dict):
        return given
    for kind, value in given.items():
        if kind in ("arrayValue", "array_value"):
            return [_value(each) for each in value.get("values", ())]
        if kind in ("kvlistValue", "kvlist_value"):
            return {
                each["key"]: _value(each.get("value"))
                for each in value.get("values", ())
            }
        if kind in ("intValue", "int_value"):
            return int(value)
        return value
    return None


def _put(nested: Json, name: str, value: object) -> None:
    *parts, last = name.split(".", MOST_PARTS)
    inner = nested
    for part in parts:
        # A name may be the beginning of another, which tells more.
        if not isinstance(inner.get(part), dict):
            inner[part] = {}
        inner = inner[part]
    if isinstance(value, dict):
        for key, each in value.items():
            _put(
                inner.setdefault(last, {})
                if isinstance(inner.get(last, {}), dict)
                else {},
                str(key),
                each,
            )
    elif not isinstance(inner.get(last), dict):
        inner[last] = value


def _listed(value: Any) -> Any:
    """Turns what is numbered from 0 into a list, and nests the names within lists."""
    if isinstance(value, list):
        return [
            _listed(_attributes(each)) if isinstance(each, dict) else each
            for each in value
        ]
    if not isinstance(value, dict):
        return value
    if value and all(name.isdecimal() for name in value):
        return [
            _listed(value[name])
            for name in sorted(value, key=lambda name: (len(name), name))
        ]
    return {name: _listed(each) for name, each in value.items()}


def _trace(trace_id: str, spans: list[Span]) -> ForeignTrace:
    trace = ForeignTrace(trace_id.removeprefix("0x"), GENAI)
    of_models = {span.id for span in spans if _is_call(span)}
    if not of_models:
        raise BadInputError(
            "no span in it is a call of a model with names of GenAI or OpenInference"
        )
    told = {span.id for span in spans if span.id in of_models and _asked(span)}
    retrievals = 0
    for span in spans:
        kind = _at(span.attributes, "openinference", "span", "kind")
        if kind is not None:
            trace.form = OPENINFERENCE
        trace.agent = trace.agent or str(
            _at(span.attributes, "gen_ai", "agent", "name") or ""
        )
        # Two instrumentations of one call make two spans, often one within the other and one without any content.
        if span.id in (told or of_models) and span.parent not in told:
            trace.calls.append(_call(span))
        elif kind == "TOOL" or _operation(span) == "execute_tool":
            trace.runs.append(_run(span))
        elif kind == "RETRIEVER" or _operation(span) == "retrieval":
            retrievals += 1
    if retrievals:
        trace.missing.append(
            f"{retrievals} retrievals beside the calls of its model, which were left out"
        )
    return trace


def _at(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _operation(span: Span) -> str:
    found = _at(span.attributes, "gen_ai", "operation", "name")
    if found is None and _at(span.attributes, "traceloop", "span", "kind") == "tool":
        found = "execute_tool"
    return str(found or _at(span.attributes, "llm", "request", "type") or "")


def _is_call(span: Span) -> bool:
    kind = _at(span.attributes, "openinference", "span", "kind")
    return kind == "LLM" if kind is not None else _operation(span) in _MODEL_WORK


def _asked(span: Span) -> Any:
    """Returns what a model was asked, as far as the span tells."""
    llm, gen = span.attributes.get("llm"), span.attributes.get("gen_ai")
    return (
        _at(llm, "input_messages")
        or _at(gen, "input", "messages")
        or _at(gen, "prompt")
        or _told_by_events(span)[0]
        or _at(span.attributes, "input", "value")
    )


def _call(span: Span) -> ModelCall:
    own = span.attributes
    if _at(own, "openinference", "span", "kind") is not None:
        return _openinference_call(span)
    gen = own.get("gen_ai", {})
    replied = (
        _told_by_events(span)[1]
        or _at(gen, "output", "messages")
        or gen.get("completion")
    )
    usage = gen.get("usage", {})
    return model_call(
        _asked(span),
        None if span.error and not replied else replied or [],
        model=_at(gen, "response", "model") or _at(gen, "request", "model") or "",
        system=gen.get("system_instructions"),
        tools=_at(gen, "tool", "definitions")
        or _at(own, "llm", "request", "functions"),
        max_tokens=_at(gen, "request", "max_tokens"),
        usage=counted(
            _first(usage, "input_tokens", "prompt_tokens"),
            _first(usage, "output_tokens", "completion_tokens"),
            _at(usage, "cache_read", "input_tokens")
            or usage.get("cache_read_input_tokens"),
            _at(usage, "cache_creation", "input_tokens")
            or usage.get("cache_creation_input_tokens"),
        ),
        stop=_at(gen, "response", "finish_reasons"),
        message_id=_at(gen, "response", "id"),
        **_outcome(span),
    )


def _told_by_events(span: Span) -> tuple[list[Any], list[Any]]:
    """Returns the messages that events of the span tell, as older instrumentations have it."""
    asked: list[Any] = []
    replied: list[Any] = []
    listed = decoded(span.attributes.get("events"))
    for event in [*span.events, *(listed if isinstance(listed, list) else ())]:
        body = event.get("attributes") or event if isinstance(event, dict) else {}
        name = str(
            event.get("name") or body.get("event.name") or _at(body, "event", "name")
        )
        if name == "gen_ai.choice":
            replied.append(body)
        elif name.startswith("gen_ai.") and name.endswith(".message"):
            asked.append({"role": name.split(".")[1], **body})
        else:
            asked = asked or decoded(_at(body, "gen_ai", "input", "messages")) or []
            replied = (
                replied or decoded(_at(body, "gen_ai", "output", "messages")) or []
            )
    return asked, replied


def _openinference_call(span: Span) -> ModelCall:
    llm = span.attributes.get("llm", {})
    counts = llm.get("token_count", {})
    parameters = decoded(llm.get("invocation_parameters"))
    replied = llm.get("output_messages") or _at(span.attributes, "output", "value")
    return model_call(
        _asked(span),
        None if span.error and not replied else replied or [],
        model=llm.get("model_name") or "",
        system=parameters.get("system") if isinstance(parameters, dict) else None,
        tools=llm.get("tools"),
        max_tokens=_at(parameters, "max_tokens"),
        usage=counted(
            counts.get("prompt"),
            counts.get("completion"),
            _at(counts, "prompt_details", "cache_read"),
            _at(counts, "prompt_details", "cache_write"),
        ),
        stop=llm.get("finish_reason"),
        **_outcome(span),
    )


def _outcome(span: Span) -> Json:
    kind = failure_of(0)
    if "timeout" in span.error.lower():
        kind = "timeout"
    status = _at(span.attributes, "http", "response", "status_code") or _at(
        span.attributes, "error", "type"
    )
    if status is not None and str(status).isdecimal():
        kind = failure_of(int(str(status)[:3]))
    return {
        "failure": kind,
        "detail": span.error,
        "began_at": span.began_at,
        "ended_at": span.ended_at,
    }


def _run(span: Span) -> ToolRun:
    own = span.attributes
    call = _at(own, "gen_ai", "tool") or {}
    output = (
        _at(call, "call", "result")
        or own.get("tool_response")
        or _at(own, "output", "value")
    )
    output = output or _at(own, "traceloop", "entity", "output")
    return ToolRun(
        call_id=str(_at(call, "call", "id") or _at(own, "tool_call", "id") or ""),
        name=str(call.get("name") or _at(own, "tool", "name") or span.name),
        output=span.error or (text_of(decoded(output)) or written(output)),
        failed=bool(span.error),
        began_at=span.began_at,
        ended_at=span.ended_at,
    )
