"""Doors that lead to a recording: what is asked for as it was recorded is answered as it was, the rest by whoever
stands behind."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from antiphon.dispatcher import Registry, Tool
from antiphon.engine import events_of
from antiphon.vocabulary.errors import BadInputError, ModelError, NotFoundError, ServiceError
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

K = TypeVar("K")
Reply = ReasoningCompleted | ReasoningFailed | SummaryCompleted | SummaryFailed
Result = ToolSucceeded | ToolFailed


class RecordedModel:
    """Answers a request that was recorded with the recorded reply; satisfies `Model`."""

    def __init__(self, behind: Model, replies: dict[Request, Reply]) -> None:
        self._behind = behind
        self._replies = replies

    @property
    def name(self) -> str | None:
        return self._behind.name

    async def stream(self, request: Request, timeout_s: float) -> AsyncIterator[Json]:
        reply = self._replies.get(request)
        if isinstance(reply, ReasoningFailed | SummaryFailed):
            raise ModelError(reply.failure, reply.detail, request_id=reply.request_id)
        told = self._behind.stream(request, timeout_s) if reply is None else _streamed(reply)
        async for event in told:
            yield event


def recorded_model(behind: Model, events: Sequence[Recorded[Event]]) -> RecordedModel:
    """`behind`, with the replies of a trace before it."""
    requests: dict[str, Request] = {}
    for said in events:
        if isinstance(said.event, ReasoningStarted):
            # The first one is what is asked for; retries and continuations follow from what came of it.
            requests.setdefault(said.event.call_id, said.event.request)
    replies: dict[Request, Reply] = {}
    for said in events:
        if isinstance(said.event, Reply) and said.event.call_id in requests:
            replies[requests[said.event.call_id]] = said.event
    return RecordedModel(behind, replies)


def recorded_tools(
    behind: Registry, events: Sequence[Recorded[Event]], dropped: frozenset[str], *, live: bool = False
) -> Registry:
    """The same tools, with the results of a trace before them.

    Args:
        dropped: Ids of passages that no tool may bring, recorded or not.
        live: What is not recorded may be done for real also by a tool that changes something outside.
    """
    results = _results(events)

    def wrap(tool: Tool) -> Tool:
        answers = {
            key: result
            for (name, arguments), result in results.items()
            if name == tool.name and (key := _key(tool, arguments)) is not None
        }
        return dataclasses.replace(tool, run=_run(tool, answers, dropped, live=live))

    return behind.wrapped(wrap)


def _run(
    tool: Tool, answers: dict[CallIdentity, Result], dropped: frozenset[str], *, live: bool
) -> Callable[..., Awaitable[object]]:
    async def run(**arguments: object) -> object:
        asked = {name: value for name, value in arguments.items() if name != tool.key_parameter}
        result = answers.get(_identity(tool, asked))
        if result is None and tool.has_effects and not live:
            raise ServiceError("it changes something outside, and a fork does that only with the mode `live`")
        output = await tool.run(**arguments) if result is None else _output(result)
        if not dropped or not isinstance(output, ToolOutput):
            return output
        kept = tuple(passage for passage in output.passages if passage.id not in dropped)
        return replace(output, passages=kept)

    return run


def _output(result: Result) -> ToolOutput:
    if isinstance(result, ToolSucceeded):
        return ToolOutput(text=result.output.text, passages=result.passages)
    if result.failure == "not_found":
        raise NotFoundError(result.detail)
    if result.failure == "invalid_arguments":
        raise BadInputError(result.detail)
    raise ServiceError(result.detail)


def _results(events: Sequence[Recorded[Event]]) -> dict[tuple[str, str], Result]:
    """Results by the tool that brought them and the arguments that it was run with."""
    asked: dict[str, tuple[str, str]] = {}
    results: dict[tuple[str, str], Result] = {}
    for said in events:
        event = said.event
        if isinstance(event, ToolRequested):
            asked[event.call.id] = (event.call.name, event.call.arguments)
        elif isinstance(event, ToolSubstituted) and event.tool_call_id in asked:
            # What it stands in for fails again, or the substitute would not be asked for.
            failed = ToolFailed(tool_call_id=event.tool_call_id, name=event.failed, failure="error", detail=event.why)
            results.setdefault(asked[event.tool_call_id], failed)
            asked[event.tool_call_id] = (event.substitute, event.arguments)
        elif isinstance(event, Result) and event.tool_call_id in asked:
            results.setdefault(asked[event.tool_call_id], event)
    return results


def _key(tool: Tool, arguments: str) -> CallIdentity | None:
    try:
        return _identity(tool, tool.parameters.read(arguments))
    except BadInputError:
        return None


def _identity(tool: Tool, arguments: dict[str, object]) -> CallIdentity:
    """Returns the identity of a call with arguments that were read: a tool is run with these, not with their text."""
    return call_identity(tool.name, msgspec.json.encode(arguments, order="deterministic", enc_hook=str).decode())


async def _streamed(reply: ReasoningCompleted | SummaryCompleted) -> AsyncIterator[Json]:
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
        yield event if event["type"] != "message_start" else event | {"request_id": reply.request_id}
