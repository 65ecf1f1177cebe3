"""A model and tools that answer recorded requests from the recording, and pass on all others."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from antiphon.dispatcher import Registry, Tool
from antiphon.engine import events_of
from antiphon.vocabulary.errors import (
    BadInputError,
    ModelError,
    NotFoundError,
    ServiceError,
)
from antiphon.vocabulary.events import (
    Event,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningStarted,
    Recorded,
    SummaryCompleted,
    SummaryFailed,
    ToolFailed,
    ToolRequested,
    ToolSubstituted,
    ToolSucceeded,
)
from antiphon.vocabulary.ports import Json, Model, ToolOutput
from antiphon.vocabulary.tool_calls import CallIdentity, call_identity
from antiphon.vocabulary.values import Request

Reply = ReasoningCompleted | ReasoningFailed | SummaryCompleted | SummaryFailed
Result = ToolSucceeded | ToolFailed
ToolRun = tuple[str, str]
"""The tool that was run, and its arguments as JSON."""


class RecordedModel:
    """Answers a request that was recorded with the recorded reply; satisfies `Model`."""

    def __init__(self, behind: Model, replies: Mapping[Request, Reply]) -> None:
        self._behind = behind
        self._replies = replies

    @property
    def name(self) -> str | None:
        return self._behind.name

    async def stream(self, request: Request, timeout_s: float) -> AsyncIterator[Json]:
        reply = self._replies.get(request)
        if isinstance(reply, ReasoningFailed | SummaryFailed):
            raise ModelError(reply.failure, reply.detail, request_id=reply.request_id)
        events = (
            self._behind.stream(request, timeout_s)
            if reply is None
            else _streamed(reply)
        )
        async for event in events:
            yield event


def recorded_model(behind: Model, events: Sequence[Recorded[Event]]) -> RecordedModel:
    """Returns a model that answers with the replies of a trace, and otherwise asks `behind`."""
    requests: dict[str, Request] = {}
    replies: dict[Request, Reply] = {}
    for recorded in events:
        event = recorded.event
        if isinstance(event, ReasoningStarted):
            # A call's first request is the one that a fork makes too; retries and continuations follow from its reply.
            requests.setdefault(event.call_id, event.request)
        elif isinstance(event, Reply) and event.call_id in requests:
            replies[requests[event.call_id]] = event
    return RecordedModel(behind, replies)


def recorded_tools(
    behind: Registry,
    events: Sequence[Recorded[Event]],
    dropped: frozenset[str],
    *,
    live: bool = False,
) -> Registry:
    """Returns the same tools, which answer with the results of a trace where it holds them.

    Args:
        dropped: Ids of passages that no tool may return, recorded or not.
        live: Calls that are not recorded may also be made of a tool that changes something outside.
    """
    results = _results(events)

    def wrap(tool: Tool) -> Tool:
        return dataclasses.replace(
            tool, run=_run(tool, _results_of(tool, results), dropped, live=live)
        )

    return behind.wrapped(wrap)


def _run(
    tool: Tool,
    results: Mapping[CallIdentity, Result],
    dropped: frozenset[str],
    *,
    live: bool,
) -> Callable[..., Awaitable[object]]:
    async def run(**arguments: object) -> object:
        asked = dict(arguments)
        # The idempotency key is new in each run, and no part of what the model asked for.
        if tool.key_parameter is not None:
            asked.pop(tool.key_parameter, None)
        result = results.get(_identity(tool, asked))
        output: object
        if result is not None:
            output = _output(result)
        elif tool.has_effects and not live:
            raise ServiceError(
                "it changes something outside, and a fork does that only with the mode `live`"
            )
        else:
            output = await tool.run(**arguments)
        if not dropped or not isinstance(output, ToolOutput):
            return output
        left = [passage for passage in output.passages if passage.id not in dropped]
        return replace(output, passages=tuple(left))

    return run


def _output(result: Result) -> ToolOutput:
    if isinstance(result, ToolSucceeded):
        return ToolOutput(text=result.output.text, passages=result.passages)
    if result.failure == "not_found":
        raise NotFoundError(result.detail)
    if result.failure == "invalid_arguments":
        raise BadInputError(result.detail)
    raise ServiceError(result.detail)


def _results(events: Sequence[Recorded[Event]]) -> dict[ToolRun, Result]:
    """Returns the first result of each tool run, by the tool and the arguments that it was run with."""
    running: dict[str, ToolRun] = {}
    results: dict[ToolRun, Result] = {}
    for recorded in events:
        match recorded.event:
            case ToolRequested(call=call):
                running[call.id] = (call.name, call.arguments)
            case ToolSubstituted() as substituted if (
                substituted.tool_call_id in running
            ):
                # The tool that it replaces must fail in the fork too, or the substitute would not be asked for.
                results.setdefault(
                    running[substituted.tool_call_id], _failure(substituted)
                )
                running[substituted.tool_call_id] = (
                    substituted.substitute,
                    substituted.arguments,
                )
            case (ToolSucceeded() | ToolFailed()) as result if (
                result.tool_call_id in running
            ):
                # The same call may have been repeated in a later round; a fork begins with the first.
                results.setdefault(running[result.tool_call_id], result)
    return results


def _failure(substituted: ToolSubstituted) -> ToolFailed:
    return ToolFailed(
        tool_call_id=substituted.tool_call_id,
        name=substituted.failed,
        failure="error",
        detail=substituted.why,
    )


def _results_of(
    tool: Tool, results: Mapping[ToolRun, Result]
) -> dict[CallIdentity, Result]:
    """Returns the results of one tool by the identity of the call that they answer."""
    found: dict[CallIdentity, Result] = {}
    for (name, arguments), result in results.items():
        if name != tool.name:
            continue
        try:
            found[_identity(tool, tool.parameters.read(arguments))] = result
        except BadInputError:
            continue  # the tool was never run with arguments that it cannot read
    return found


def _identity(tool: Tool, arguments: Mapping[str, object]) -> CallIdentity:
    """Returns the identity of a call with arguments that were read: a tool is run with these, not with their text."""
    return call_identity(
        tool.name,
        msgspec.json.encode(arguments, order="deterministic", enc_hook=str).decode(),
    )


async def _streamed(
    reply: ReasoningCompleted | SummaryCompleted,
) -> AsyncIterator[Json]:
    # The engine reads a recorded reply as a stream too, so that a fork runs the same code as a query.
    usage = {
        "input_tokens": reply.usage.input_tokens,
        "output_tokens": reply.usage.output_tokens,
        "cache_read_input_tokens": reply.usage.cache_read_tokens,
        "cache_creation_input_tokens": reply.usage.cache_write_tokens,
    }
    message: Json = {
        "id": reply.message_id,
        "model": reply.model,
        "content": [msgspec.json.decode(block.text) for block in reply.content],
        "stop_reason": reply.stop_reason,
        "usage": usage,
    }
    for event in events_of(message):
        if event["type"] == "message_start":
            yield event | {"request_id": reply.request_id}
        else:
            yield event
