"""Converts spans with GenAI or OpenInference names into model calls and tool runs.

The names are those of semantic-conventions-genai v0.1.0, older ones that instrumentations still write, and those of
OpenInference (https://arize-ai.github.io/openinference/spec/).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from antiphon.history.foreign.messages import Conversation, decoded, text_of, written
from antiphon.history.foreign.model_calls import (
    ForeignTrace,
    ModelCall,
    Read,
    ToolRun,
    counted,
    failure_of,
    replied,
    request_of,
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
_KIND = ("openinference.span.kind", "gen_ai.operation.name", "traceloop.span.kind", "llm.request.type")  # fmt: skip
_ASKED = ("llm.input_messages", "gen_ai.input.messages", "gen_ai.prompt", "input.value")
_REPLIED = ("llm.output_messages", "gen_ai.output.messages", "gen_ai.completion", "output.value")  # fmt: skip
_MODEL = ("llm.model_name", "gen_ai.response.model", "gen_ai.request.model")
_OFFERED = ("llm.tools", "gen_ai.tool.definitions", "llm.request.functions")
_MAX_TOKENS = ("gen_ai.request.max_tokens", "llm.invocation_parameters.max_tokens")
_STOP = ("llm.finish_reason", "gen_ai.response.finish_reasons")
_TOKENS = (
    ("llm.token_count.prompt", "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    ("llm.token_count.completion", "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    ("llm.token_count.prompt_details.cache_read", "gen_ai.usage.cache_read.input_tokens"),
    ("llm.token_count.prompt_details.cache_write", "gen_ai.usage.cache_creation.input_tokens"),
)  # fmt: skip
"""Counts of all input, of the output, and of the input that was read from a cache and written to it."""
_RESULT = ("gen_ai.tool.call.result", "tool_response", "output.value", "traceloop.entity.output")  # fmt: skip


def traces_of_spans(values: Iterable[object]) -> Iterator[tuple[str, Read]]:
    """Yields the id of each trace in the spans, and its reader."""
    by_trace: dict[str, list[Json]] = {}
    for value in values:
        for trace_id, span in spans_in(value):
            by_trace.setdefault(trace_id, []).append(span)
    for trace_id, spans in by_trace.items():
        yield trace_id, partial(_trace, trace_id, spans)


def _trace(trace_id: str, given: list[Json]) -> ForeignTrace:
    spans = list(map(span_of, given))
    trace = ForeignTrace(trace_id, LANGFUSE if is_observation(given[0]) else GENAI)
    trace.calls = list(map(_call, _telling(_of_kind(spans, _CALLS))))
    trace.runs = list(map(_run, _of_kind(spans, _TOOLS)))
    for span in spans:
        if span.told("openinference.span.kind"):
            trace.form = OPENINFERENCE
        trace.agent = trace.agent or written(span.told("gen_ai.agent.name"))
    left_out = _of_kind(spans, _RETRIEVALS)
    if left_out:
        trace.missing.append(f"what of {len(left_out)} retrievals its model was shown")
    return trace


def _of_kind(spans: list[Span], kinds: tuple[str, ...]) -> list[Span]:
    return [span for span in spans if span.told(*_KIND) in kinds]


def _telling(calls: list[Span]) -> list[Span]:
    """Returns the spans that contain their request, one for each call; all spans if none does.

    Two instrumentations of one call make two spans, often nested, and one of them without content.
    """
    if not calls:
        raise BadInputError(
            "no span in it is a call of a model with names of GenAI or OpenInference"
        )
    telling = {span.id for span in calls if span.told(*_ASKED)}
    return [
        span for span in calls if span.id in telling and span.parent not in telling
    ] or calls


def _call(span: Span) -> ModelCall:
    said = Conversation(span.told(*_ASKED))
    said.add({"role": "system", "content": span.told("gen_ai.system_instructions")})
    offered, max_tokens = span.told(*_OFFERED), span.told(*_MAX_TOKENS)
    request = request_of(said, span.told(*_MODEL), offered, max_tokens)
    reply, response = span.told(*_REPLIED), None
    if reply is not None:
        usage = counted(*[span.told(*names) for names in _TOKENS])
        stop = span.told(*_STOP)
        response = replied(said, reply, request["model"], stop, usage)
        response["id"] = span.told("gen_ai.response.id")
    return ModelCall(
        request,
        response,
        failure_of(span.told("http.response.status_code", "error.type")),
        span.error,
        span.began_at,
        span.ended_at,
    )


def _run(span: Span) -> ToolRun:
    output = span.told(*_RESULT)
    return ToolRun(
        call_id=written(span.told("gen_ai.tool.call.id", "tool_call.id")),
        name=written(span.told("gen_ai.tool.name", "tool.name")) or span.name,
        output=span.error or text_of(decoded(output)) or written(output),
        failed=bool(span.error),
        began_at=span.began_at,
        ended_at=span.ended_at,
    )
