"""The names of spans and their attributes, in one table, pinned to one version of OpenTelemetry's conventions.

Names that begin with `gen_ai.` and `error.` are those of the semantic conventions for generative AI
(https://github.com/open-telemetry/semantic-conventions-genai); `input.value` and `output.value` are OpenInference's,
and the others are ours. docs/telemetry.md says why we need more than the conventions.
"""

from __future__ import annotations

VERSION = "0.1.0"
SCHEMA_URL = f"https://opentelemetry.io/schemas/gen-ai/{VERSION}"
SCOPE = "antiphon"
"""The instrumentation scope of all spans."""

OPERATION = "gen_ai.operation.name"
AGENT = "gen_ai.agent.name"
CONVERSATION = "gen_ai.conversation.id"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
REQUEST_MAX_TOKENS = "gen_ai.request.max_tokens"
REQUEST_STREAM = "gen_ai.request.stream"
RESPONSE_MODEL = "gen_ai.response.model"
RESPONSE_ID = "gen_ai.response.id"
FINISH_REASONS = "gen_ai.response.finish_reasons"
FIRST_CHUNK = "gen_ai.response.time_to_first_chunk"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHE_READ_TOKENS = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE_TOKENS = "gen_ai.usage.cache_write.input_tokens"
CACHE_CREATION_TOKENS = "gen_ai.usage.cache_creation.input_tokens"
SYSTEM = "gen_ai.system_instructions"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
INPUT_VALUE = "input.value"
OUTPUT_VALUE = "output.value"
TOOL_DEFINITIONS = "gen_ai.tool.definitions"
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"
RETRIEVAL_QUERY = "gen_ai.retrieval.query.text"
RETRIEVAL_DOCUMENTS = "gen_ai.retrieval.documents"
TOOL_NAME = "gen_ai.tool.name"
TOOL_CALL_ID = "gen_ai.tool.call.id"
TOOL_TYPE = "gen_ai.tool.type"
ERROR_TYPE = "error.type"
QUERY_ID = "antiphon.query.id"
EVENT_SEQ = "antiphon.event.seq"
PARENT_QUERY = "antiphon.query.parent"
RESUMED = "antiphon.query.resumed"
STATUS = "antiphon.query.status"
REASONER = "antiphon.answer.reasoner"
CONFIDENCE = "antiphon.answer.confidence"
DOUBTS = "antiphon.answer.doubts"
COST = "antiphon.cost_usd"
ROUND = "antiphon.round"
ROUND_FINAL = "antiphon.round.final"
CALL_ID = "antiphon.call.id"
CALL_PURPOSE = "antiphon.call.purpose"
RETRIES = "antiphon.call.retries"
PASSAGES = "antiphon.tool.passages"
LIMIT = "antiphon.breaker.limit"
LEVEL = "antiphon.recovery.level"

SPANS: dict[str, str] = {
    "invoke_agent antiphon": "one query, from `query_received` to `query_closed`; in a resumed query from "
    "`query_resumed`",
    "round N": "one round, until the next one opens or the query closes",
    "chat MODEL": "one reasoning or summarising call with all its attempts; its kind is `CLIENT`",
    "execute_tool TOOL": "one tool call, from `tool_requested` to its outcome",
    "retrieval": "within a tool call that found passages, with the same times; its kind is `CLIENT`. Only with content",
}
"""The spans, from the outer ones to the inner ones."""

SPAN_EVENTS: dict[str, str] = {
    "breaker_tripped": "a limit was reached",
    "recovery_started": "something failed, and the query continues another way",
    "retried": "an attempt of a call failed, and another follows",
}
"""The span events: things that happen at one moment within a span."""

ATTRIBUTES: dict[str, str] = {
    OPERATION: "`invoke_agent`, `chat`, `execute_tool` or `retrieval`",
    AGENT: "`antiphon`",
    CONVERSATION: "the conversation (`session_id`)",
    PROVIDER: "`anthropic`, or `antiphon` for the offline reasoner",
    REQUEST_MODEL: "the requested model",
    REQUEST_MAX_TOKENS: "most output tokens of the call",
    REQUEST_STREAM: "true if the reply was requested as a stream",
    RESPONSE_MODEL: "the model that answered, as the server names it",
    RESPONSE_ID: "the server's id of the message",
    FINISH_REASONS: "why the reply ended: `stop`, `length`, `tool_call`, `error`, or the server's own word",
    FIRST_CHUNK: "seconds from the request to the first text or tool call",
    INPUT_TOKENS: "all input tokens, cached or not",
    OUTPUT_TOKENS: "output tokens",
    CACHE_READ_TOKENS: "input tokens that were read from the cache",
    CACHE_WRITE_TOKENS: "input tokens that were written to the cache",
    CACHE_CREATION_TOKENS: "the same under its name before v0.1.0",
    TOOL_NAME: "the tool, or `other` if the model named one that does not exist",
    TOOL_CALL_ID: "the model's id of the tool call",
    TOOL_TYPE: "`function`",
    ERROR_TYPE: "the kind of failure, as in [docs/failures.md](failures.md)",
    QUERY_ID: "the query, and so its trace: `antiphon traces show ID`",
    EVENT_SEQ: "the event of that trace that the span starts with",
    PARENT_QUERY: "the query that this one is a fork of",
    RESUMED: "true if the query was interrupted and continues here",
    STATUS: "`answered`, `partial`, `cancelled` or `failed`",
    REASONER: "who spoke: the model, `offline` or `none`",
    CONFIDENCE: "`high`, `medium` or `low`",
    DOUBTS: "the kinds of the answer's uncertainty indicators",
    COST: "US dollars, if the model's price is known",
    ROUND: "the round, from 1",
    ROUND_FINAL: "true for the call without tools",
    CALL_ID: "our id of the call, as the trace has it",
    CALL_PURPOSE: "`reasoning` or `summary`",
    RETRIES: "attempts that failed before",
    PASSAGES: "passages that the tool returned",
    LIMIT: "the limit that was reached",
    LEVEL: "`tool`, `round`, `session` or `response`",
}
"""Every attribute except those of content. None holds text of a question, a document, a tool's result or a reply."""

CONTENT: dict[str, str] = {
    INPUT_MESSAGES: "`chat`: the messages as they were sent; `invoke_agent`: the question",
    OUTPUT_MESSAGES: "`chat`: the reply; `invoke_agent`: the answer",
    INPUT_VALUE: "`invoke_agent`: the question as plain text",
    OUTPUT_VALUE: "`invoke_agent`: the answer as plain text",
    SYSTEM: "the system prompt",
    TOOL_DEFINITIONS: "the tools that the call offers",
    TOOL_ARGUMENTS: "what the tool was called with",
    TOOL_RESULT: "what it said, or why it failed, as the model gets it",
    RETRIEVAL_QUERY: "`retrieval`: what was searched for",
    RETRIEVAL_DOCUMENTS: "`retrieval`: the passages, best first, each with `id`, `score`, `content` and `metadata` "
    "(source, title, place, link)",
}
"""The attributes that are exported only if `ANTIPHON_OTLP_CONTENT` is set."""
