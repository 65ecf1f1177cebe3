"""Exports of Langfuse: a trace with its observations, as the page and the REST interface give it, or rows of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from antiphon.history.foreign.messages import decoded, text_of, written
from antiphon.history.foreign.model_calls import (
    ForeignTrace,
    ModelCall,
    Read,
    ToolRun,
    counted,
    model_call,
    seconds,
)
from antiphon.vocabulary.ports import Json

FORM = "Langfuse"


def is_langfuse(value: object) -> bool:
    """Returns True if a value of a file holds observations."""
    return any(True for _ in _observations(value))


def traces_of_langfuse(values: Iterable[object]) -> Iterator[tuple[str, Read]]:
    """Yields the id of each trace that observations make up, and what reads it."""
    by_trace: dict[str, list[Json]] = {}
    for value in values:
        for given in _observations(value):
            trace_id = str(given.get("traceId") or given.get("trace_id"))
            by_trace.setdefault(trace_id, []).append(given)
    for trace_id, observations in by_trace.items():
        yield trace_id, partial(_trace, trace_id, observations)


def _trace(trace_id: str, observations: list[Json]) -> ForeignTrace:
    trace = ForeignTrace(trace_id, FORM)
    for given in observations:
        if given["type"] == "GENERATION":
            trace.calls.append(_call(given))
        elif given["type"] == "TOOL":
            trace.runs.append(_run(given))
        elif given["type"] == "AGENT":
            trace.agent = trace.agent or written(given.get("name"))
    return trace


def _observations(value: object) -> Iterator[Json]:
    if isinstance(value, list):
        for each in value:
            yield from _observations(each)
    if not isinstance(value, dict):
        return
    for name in ("observations", "traces", "data", "trace"):
        yield from _observations(decoded(value.get(name)))
    if isinstance(value.get("type"), str) and (
        "traceId" in value or "trace_id" in value
    ):
        yield value


def _call(given: Json) -> ModelCall:
    asked, replied = decoded(given.get("input")), decoded(given.get("output"))
    tools = asked.get("tools") if isinstance(asked, dict) else None
    usage = _object(given.get("usageDetails", given.get("usage_details"))) or _object(
        given.get("usage")
    )
    failed = given.get("level") == "ERROR" and replied is None
    return model_call(
        asked,
        None if failed else replied or [],
        model=given.get("model") or given.get("providedModelName") or "",
        system=asked.get("system") if isinstance(asked, dict) else None,
        tools=tools,
        max_tokens=_object(given.get("modelParameters")).get("max_tokens"),
        usage=counted(usage.get("input"), usage.get("output"), 0)
        | {
            "cache_read_input_tokens": usage.get(
                "input_cached_tokens", usage.get("cache_read_input_tokens", 0)
            ),
            "cache_creation_input_tokens": usage.get("cache_creation_input_tokens", 0),
        },
        detail=written(given.get("statusMessage")),
        began_at=seconds(given.get("startTime", given.get("start_time"))),
        ended_at=seconds(given.get("endTime", given.get("end_time"))),
    )


def _run(given: Json) -> ToolRun:
    output = decoded(given.get("output"))
    metadata = _object(given.get("metadata"))
    return ToolRun(
        call_id=written(metadata.get("tool_call_id")),
        name=written(given.get("name")),
        output=text_of(output)
        or written(output)
        or written(given.get("statusMessage")),
        failed=given.get("level") == "ERROR",
        began_at=seconds(given.get("startTime", given.get("start_time"))),
        ended_at=seconds(given.get("endTime", given.get("end_time"))),
    )


def _object(value: object) -> Any:
    value = decoded(value)
    return value if isinstance(value, dict) else {}
