"""A model and tools that answer from a recording, call by call: for forks in which only the tools are recorded, and for
forks with a fault plan, in which engine and dispatcher must run so that the faults reach them."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextvars import ContextVar

import msgspec
from msgspec.structs import replace

from antiphon.composition import BuildOutside, Resources
from antiphon.dispatcher import ANY_ARGUMENTS, Registry, Tool
from antiphon.engine import CitationStyles, Profile, events_of
from antiphon.history.recording import (
    ModelRequest,
    Recording,
    Result,
    ToolOutcome,
    missing_reply,
    missing_result,
    runs_of,
)
from antiphon.vocabulary.errors import (
    BadInputError,
    ModelError,
    NotFoundError,
    ServiceError,
)
from antiphon.vocabulary.events import (
    Event,
    QueryCancelled,
    Reasoner,
    ReasoningCompleted,
    ReasoningFailed,
    SummaryCompleted,
    SummaryFailed,
    ToolRequested,
    ToolSucceeded,
)
from antiphon.vocabulary.performing import Command, Outside, Run
from antiphon.vocabulary.ports import Json, Model, Ports, Publish, ToolOutput
from antiphon.vocabulary.values import Request


@dataclasses.dataclass
class _CallUnderWay:
    """The request under way, and the number of uses of its port."""

    request: Event
    publish: Publish
    runs: int = 0


# A port does not get the call that it serves as an argument; tasks inherit it in this variable from their request.
_under_way: ContextVar[_CallUnderWay | None] = ContextVar("call", default=None)
NO_EFFECTS = (
    "it changes something outside, and a fork does that only with the mode `live`"
)


def noting_calls(build: BuildOutside) -> BuildOutside:
    """Returns an outside that lets recorded ports know which call they serve."""

    def build_noting(resources: Resources, ports: Ports, /) -> Outside:
        return _NotingOutside(build(resources, ports), ports.publish)

    return build_noting


class _NotingOutside:
    def __init__(self, inner: Outside, publish: Publish) -> None:
        self._inner = inner
        self._publish = publish

    def perform(self, command: Command, /) -> Run | None:
        _under_way.set(_CallUnderWay(command.request.event, self._publish))
        return self._inner.perform(command)


def with_recorded_ports(
    resources: Resources, recording: Recording, *, model: bool
) -> Resources:
    """Returns the resources with tools that answer from the recording.

    Args:
        model: The models answer from it too, and a tool call that it lacks stops the query: nothing is live.
    """

    def wrap(tool: Tool) -> Tool:
        return dataclasses.replace(tool, run=_run(tool, recording, only_recorded=model))

    tools = resources.tools
    if recording.is_imported:
        # Of another program's tools only the names are known, so they accept any arguments.
        tools = Registry(
            Tool(name=name, description="", parameters=ANY_ARGUMENTS, run=_not_here)
            for name in recording.tool_names
        )
    resources = dataclasses.replace(resources, tools=tools.wrapped(wrap))
    if not model:
        return resources
    models: dict[Reasoner, Model] = {}
    profiles: dict[Reasoner, Profile] = {}
    styles = resources.styles or CitationStyles()
    for name in resources.models:
        # Answers keep their recorded labels, even if another model would answer now.
        models[name] = RecordedModel(recording.labels.get(name), recording)
        # The recorded style, because finding it out would take a call that the recording lacks.
        profiles[name] = replace(styles.profile(name), citations=recording.style)
    return dataclasses.replace(
        resources,
        models=models,
        styles=CitationStyles(profiles),
        tool_definitions=recording.tool_definitions or resources.tool_definitions,
    )


def without_passages(tools: Registry, dropped: frozenset[str]) -> Registry:
    """Returns the tools such that they leave these passages out of their results."""
    if not dropped:
        return tools

    def wrap(tool: Tool) -> Tool:
        async def run(**arguments: object) -> object:
            return _without(await tool.run(**arguments), dropped)

        return dataclasses.replace(tool, run=run)

    return tools.wrapped(wrap)


def without_effects(tools: Registry) -> Registry:
    """Returns the tools such that those that change something outside fail instead."""

    def wrap(tool: Tool) -> Tool:
        async def refuse(**_: object) -> object:
            raise ServiceError(NO_EFFECTS)

        if not tool.has_effects:
            return tool
        return dataclasses.replace(tool, run=refuse)

    return tools.wrapped(wrap)


class RecordedModel:
    """Answers each call with the reply that the same call got; satisfies `Model`."""

    def __init__(self, name: str | None, recording: Recording) -> None:
        self._name = name
        self._recording = recording

    @property
    def name(self) -> str | None:
        return self._name

    async def stream(
        self,
        request: Request,  # noqa: ARG002 - the call identifies the reply, not its request
        timeout_s: float,  # noqa: ARG002 - the caller enforces it
    ) -> AsyncIterator[Json]:
        under_way = _the_call()
        asked = under_way.request
        assert isinstance(asked, ModelRequest)
        record = self._recording.reply_to(asked)
        if record is None or record.outcome is None:
            await _stop(under_way, missing_reply(asked, self._recording))
            return
        reply = record.outcome
        if isinstance(reply, ReasoningFailed | SummaryFailed):
            raise ModelError(reply.failure, reply.detail, request_id=reply.request_id)
        assert isinstance(reply, ReasoningCompleted | SummaryCompleted)
        for event in _streamed(reply):
            yield event


def _run(
    tool: Tool, recording: Recording, *, only_recorded: bool
) -> Callable[..., Awaitable[object]]:
    async def run(**arguments: object) -> object:
        under_way = _the_call()
        assert isinstance(under_way.request, ToolRequested)
        call = under_way.request.call
        outcome = _next_run(under_way, recording)
        if outcome is not None and outcome.tool == tool.name:
            return await _output(outcome)
        if only_recorded:
            await _stop(under_way, missing_result(call))
        if tool.has_effects:
            raise ServiceError(NO_EFFECTS)
        return await tool.run(**arguments)

    return run


async def _not_here(**_: object) -> object:
    raise ServiceError("the tool is another program's and is not here")


def _next_run(under_way: _CallUnderWay, recording: Recording) -> ToolOutcome | None:
    """Returns the recorded run of a tool at this point of the call; None if there is none."""
    assert isinstance(under_way.request, ToolRequested)
    record = recording.result_of(under_way.request.call)
    if record is None:
        return None
    runs = runs_of(record)
    number = under_way.runs
    under_way.runs += 1
    if number < len(runs):
        return runs[number]
    # A fault caused this additional run, which ends as the recorded call did.
    if runs and runs[-1].result is not None:
        return runs[-1]
    return None


async def _output(outcome: ToolOutcome) -> ToolOutput:
    result = outcome.result
    if result is None:
        raise ServiceError(outcome.why)
    if isinstance(result, ToolSucceeded):
        return ToolOutput(text=result.output.text, passages=result.passages)
    if result.failure == "timeout":
        await _for_ever()  # until the call's own limit ends it, as it did then
    raise _failure(result)


def _failure(result: Result) -> ServiceError:
    detail = getattr(result, "detail", "")
    failure = getattr(result, "failure", "")
    if failure == "not_found":
        return NotFoundError(detail)
    if failure == "invalid_arguments":
        return BadInputError(detail)
    return ServiceError(detail)


def _without(output: object, dropped: frozenset[str]) -> object:
    if not isinstance(output, ToolOutput):
        return output
    left = [passage for passage in output.passages if passage.id not in dropped]
    return replace(output, passages=tuple(left))


def _the_call() -> _CallUnderWay:
    under_way = _under_way.get()
    assert under_way is not None, "recorded ports serve only queries that note calls"
    return under_way


async def _stop(under_way: _CallUnderWay, why: str) -> None:
    """Ends the query, and with it the calling work."""
    under_way.publish(QueryCancelled(why=why))
    await _for_ever()


async def _for_ever() -> None:
    await asyncio.get_running_loop().create_future()


def _streamed(reply: ReasoningCompleted | SummaryCompleted) -> Sequence[Json]:
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
    streamed: list[Json] = []
    for event in events_of(message):
        if event["type"] == "message_start":
            event = event | {"request_id": reply.request_id}
        streamed.append(event)
    return streamed
