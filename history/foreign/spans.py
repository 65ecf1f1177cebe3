"""Spans with GenAI or OpenInference names, as calls of a model and runs of tools.

The names are those of semantic-conventions-genai v0.1.0 and the older ones that instrumentations still write, and those
of OpenInference (https://arize-ai.github.io/openinference/spec/).
"""

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
    failure_of,
    model_call,
)
from antiphon.history.foreign.span_forms import (
    Span,
    is_observation,
    span_of,
    spans_in,
)
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.ports import Json

GENAI = "spans with GenAI names"
OPENINFERENCE = "spans with OpenInference names"
LANGFUSE = "a Langfuse export"
_CALLS = ("LLM", "chat", "generate_content", "text_completion", "completion")
_TOOLS = ("TOOL", "execute_tool", "tool")
_RETRIEVALS = ("RETRIEVER", "retrieval")


def traces_of_spans(values: Iterable[object]) -> Iterator[tuple[str, Read]]:
    """Yields the id of each trace that spans make up, and what reads it."""
    by_trace: dict[str, list[Json]] = {}
    for value in values:
        for trace_id, span in spans_in(value):
            by_trace.setdefault(trace_id, []).append(span)
    for trace_id, spans in by_trace.items():
        yield trace_id, partial(_trace, trace_id, spans)


def _trace(trace_id: str, given: list[Json]) -> ForeignTrace:
    spans = list(map(span_of, given))
    trace = ForeignTrace(trace_id, LANGFUSE if is_observation(given[0]) else GENAI)
    trace.calls = list(map(_call, _told(_of_kind(spans, _CALLS))))
    trace.runs = list(map(_run, _of_kind(spans, _TOOLS)))
    for span in spans:
        if span.told("openinference.span.kind"):
            trace.form = OPENINFERENCE
        trace.agent = trace.agent or written(span.told("gen_ai.agent.name"))
    left_out = _of_kind(spans, _RETRIEVALS)
    if left_out:
        trace.missing.append(f"what of {len(left_out)} retrievals its model was shown")
    return trace


def _told(calls: list[Span]) -> list[Span]:
    """Returns the calls that say what was asked, each once; all of them if none does.

    Two instrumentations of one call make two spans, often one within the other, and one without any content.
    """
    if not calls:
        raise BadInputError(
            "no span in it is a call of a model with names of GenAI or OpenInference"
        )
    told = {span.id for span in calls if _asked(span)}
    found = [span for span in calls if span.id in told and span.parent not in told]
    return found or calls


def _of_kind(spans: list[Span], kinds: tuple[str, ...]) -> list[Span]:
    return [span for span in spans if _kind(span) in kinds]


def _kind(span: Span) -> object:
    return span.told(
        "openinference.span.kind",
        "gen_ai.operation.name",
        "traceloop.span.kind",
        "llm.request.type",
    )


def _asked(span: Span) -> Any:
    return span.told(
        "llm.input_messages", "gen_ai.input.messages", "gen_ai.prompt", "input.value"
    )


def _call(span: Span) -> ModelCall:
    replied = span.told(
        "llm.output_messages",
        "gen_ai.output.messages",
        "gen_ai.completion",
        "output.value",
    )
    return model_call(
        _asked(span),
        None if span.error and not replied else replied,
        model=span.told(
            "llm.model_name", "gen_ai.response.model", "gen_ai.request.model"
        ),
        system=span.told("gen_ai.system_instructions"),
        tools=span.told(
            "llm.tools", "gen_ai.tool.definitions", "llm.request.functions"
        ),
        max_tokens=span.told(
            "gen_ai.request.max_tokens", "llm.invocation_parameters.max_tokens"
        ),
        usage=counted(
            span.told(
                "llm.token_count.prompt",
                "gen_ai.usage.input_tokens",
                "gen_ai.usage.prompt_tokens",
            ),
            span.told(
                "llm.token_count.completion",
                "gen_ai.usage.output_tokens",
                "gen_ai.usage.completion_tokens",
            ),
            span.told(
                "llm.token_count.prompt_details.cache_read",
                "gen_ai.usage.cache_read.input_tokens",
            ),
            span.told(
                "llm.token_count.prompt_details.cache_write",
                "gen_ai.usage.cache_creation.input_tokens",
            ),
        ),
        stop=span.told("llm.finish_reason", "gen_ai.response.finish_reasons"),
        message_id=span.told("gen_ai.response.id"),
        failure=failure_of(span.told("http.response.status_code", "error.type")),
        detail=span.error,
        began_at=span.began_at,
        ended_at=span.ended_at,
    )


def _run(span: Span) -> ToolRun:
    output = span.told(
        "gen_ai.tool.call.result",
        "tool_response",
        "output.value",
        "traceloop.entity.output",
    )
    return ToolRun(
        call_id=written(span.told("gen_ai.tool.call.id", "tool_call.id")),
        name=written(span.told("gen_ai.tool.name", "tool.name")) or span.name,
        output=span.error or text_of(decoded(output)) or written(output),
        failed=bool(span.error),
        began_at=span.began_at,
        ended_at=span.ended_at,
    )
