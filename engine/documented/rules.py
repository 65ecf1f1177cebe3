"""The API's refusals: a table of named rules, each with the page that documents it; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from antiphon.engine.documented import message_rules, tool_rules
from antiphon.engine.documented.request import (
    DocumentedRequest,
    Version,
    read_request,
)
from antiphon.engine.models import CARDS
from antiphon.engine.offline.shapes import RefusedError
from antiphon.vocabulary.ports import Json

PAGES = "https://platform.claude.com/docs/en/"
MOST_MARKS = 4
LEAST_BUDGET = 1024
_ERRORS = "api/errors"
_CACHING = "build-with-claude/prompt-caching"
_HAIKU = "models/haiku-5-5/migration-guide"
_SONNET = "models/sonnet-5-5/whats-new-sonnet-5-5"
_THINKING = "build-with-claude/thinking-troubleshooting"
_NO_PREFILL_FROM: Version = (4, 6)
_NO_SAMPLING_FROM: Version = (4, 7)
_QUIET = ("between_tools", "disabled")
_FIELDS_OF_MODE = {"adaptive": {"display"}, "enabled": {"budget_tokens", "display"}}
"""The fields that each mode of thinking accepts beside its type; other modes accept none."""

Check = Callable[[DocumentedRequest], Iterator[str]]
"""Yields the message of each refusal."""


class Rule(NamedTuple):
    check: Check
    page: str


class Refusal(NamedTuple):
    """A refusal of a request, and the address of the page that documents it."""

    rule: str
    message: str
    page: str
    status: int = 400
    kind: str = "invalid_request_error"


def refusals_of(body: Json) -> Iterator[Refusal]:
    """Yields all refusals of a request; the API answers with the first."""
    try:
        asked = read_request(body)
    except RefusedError as error:
        yield Refusal("fields", str(error), PAGES + "api/messages/create")
        return
    if asked.name not in CARDS:
        message = f"model: {asked.model}"
        yield Refusal("model", message, PAGES + _ERRORS, 404, "not_found_error")
        return
    for name, rule in RULES.items():
        for message in rule.check(asked):
            yield Refusal(name, message, PAGES + rule.page)


def _thinking_mode(asked: DocumentedRequest) -> Iterator[str]:
    accepted = asked.card.traits.thinking
    if asked.mode is None or asked.mode in accepted:
        return
    # The accepted mode of the same sort, if there is one.
    better = accepted[0]
    for name in accepted:
        if (name in _QUIET) == (asked.mode in _QUIET):
            better = name
    yield f'"thinking.type.{asked.mode}" is not supported for this model. Use "thinking.type.{better}" instead.'


def _thinking_fields(asked: DocumentedRequest) -> Iterator[str]:
    known = _FIELDS_OF_MODE.get(str(asked.mode), set())
    for name in sorted(asked.thinking.keys() - known - {"type"}):
        yield f"thinking.{asked.mode}.{name}: Extra inputs are not permitted"


def _thinking_budget(asked: DocumentedRequest) -> Iterator[str]:
    if asked.mode != "enabled":
        return
    budget = asked.thinking.get("budget_tokens")
    if not isinstance(budget, int) or budget < LEAST_BUDGET:
        yield f"thinking.enabled.budget_tokens: Input should be greater than or equal to {LEAST_BUDGET}"
    elif budget >= asked.max_tokens:
        yield "`max_tokens` must be greater than `thinking.budget_tokens`."


def _quiet_effort(asked: DocumentedRequest) -> Iterator[str]:
    if asked.mode in _QUIET and asked.effort in ("xhigh", "max"):
        yield f'"thinking.type.{asked.mode}" is not supported with effort {asked.effort}; use high or lower.'


def _effort(asked: DocumentedRequest) -> Iterator[str]:
    accepted = asked.card.traits.efforts
    if asked.effort is None or asked.effort in accepted:
        return
    if not accepted:
        yield "This model does not support the effort parameter."
    else:
        yield f"output_config.effort: {asked.effort!r} is not one of {', '.join(accepted)} for this model."


def _forced_tools(asked: DocumentedRequest) -> Iterator[str]:
    if asked.tool_choice.get("type") not in ("any", "tool"):
        return
    if not asked.card.traits.forced_tools:
        yield 'tool_choice: type "tool" and "any" are not supported for this model.'
    elif asked.mode in ("enabled", "adaptive"):
        yield "Thinking may not be enabled when tool_choice forces tool use."


def _prefill(asked: DocumentedRequest) -> Iterator[str]:
    ends_open = asked.messages[-1].role == "assistant"
    if ends_open and asked.version >= _NO_PREFILL_FROM:
        yield "This model does not support assistant message prefill. The conversation must end with a user message."


def _sampling(asked: DocumentedRequest) -> Iterator[str]:
    if asked.version < _NO_SAMPLING_FROM:
        return
    # Default values are accepted, because they change nothing.
    usual = {"temperature": (None, 1.0), "top_p": (None, 1.0), "top_k": (None,)}
    for name, values in usual.items():
        if getattr(asked, name) not in values:
            yield f"`{name}` is not supported for this model; leave it out."


def _output_size(asked: DocumentedRequest) -> Iterator[str]:
    most = asked.card.traits.max_output
    if asked.max_tokens > most:
        yield (
            f"max_tokens: {asked.max_tokens} > {most}, which is the maximum allowed number of output tokens for "
            f"{asked.model}"
        )


def _four_marks(asked: DocumentedRequest) -> Iterator[str]:
    marks = 1 if asked.cache_control else 0
    for part in (*asked.tools, *asked.all_blocks()):
        if part.get("cache_control"):
            marks += 1
    if marks > MOST_MARKS:
        yield f"A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {marks}."


RULES: Mapping[str, Rule] = {
    "thinking_mode": Rule(_thinking_mode, _THINKING),
    "thinking_fields": Rule(_thinking_fields, _THINKING),
    "thinking_budget": Rule(_thinking_budget, _THINKING),
    "quiet_effort": Rule(_quiet_effort, _SONNET),
    "effort": Rule(_effort, "build-with-claude/effort"),
    "forced_tools": Rule(_forced_tools, _ERRORS),
    "prefill": Rule(_prefill, f"{_ERRORS}#prefill-not-supported"),
    "sampling": Rule(_sampling, _HAIKU),
    "output_size": Rule(_output_size, "build-with-claude/context-windows"),
    "four_marks": Rule(_four_marks, _CACHING),
    "blank_text": Rule(message_rules.blank_text, _ERRORS),
    "tool_results": Rule(
        message_rules.tool_results, "agents-and-tools/tool-use/handle-tool-calls"
    ),
    "citations_alike": Rule(
        message_rules.citations_alike, "build-with-claude/search-results"
    ),
    "bound_thinking": Rule(message_rules.bound_thinking, _SONNET),
    "strict_tools": Rule(
        tool_rules.strict_tools, "build-with-claude/structured-outputs"
    ),
    "input_examples": Rule(
        tool_rules.input_examples, "agents-and-tools/tool-use/define-tools"
    ),
}
"""In the assumed order of the API's own checks."""
