"""Reads and writes Harbor's Agent Trajectory Interchange Format (ATIF).

https://harborframework.com/docs/trajectory-format: reads any version 1, and writes version 1.7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec

from antiphon.history.foreign.messages import (
    Conversation,
    as_object,
    decoded,
    listed,
    text_of,
    written,
)
from antiphon.history.foreign.model_calls import (
    ForeignTrace,
    ModelCall,
    Read,
    counted,
    replied,
    request_of,
    seconds,
)
from antiphon.traces import PROGRAM
from antiphon.vocabulary import events as e
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Usage

VERSION = "ATIF-v1.7"
MOST_USD = 1e6


def is_atif(value: object) -> bool:
    """Returns True for a trajectory."""
    version = as_object(value).get("schema_version")
    return isinstance(version, str) and version.startswith("ATIF-v1.")


def traces_of_atif(given: Json) -> Iterator[tuple[str, Read]]:
    """Yields a trajectory's id and its reader, then those of the subagents in it."""
    named = str(given.get("trajectory_id") or given.get("session_id") or "")
    yield named, partial(_trace, named, given)
    for each in listed(given.get("subagent_trajectories")):
        if is_atif(each):
            yield from traces_of_atif(each)


def _trace(named: str, given: Json) -> ForeignTrace:
    agent = as_object(given.get("agent"))
    who = f"{agent.get('name', '')} {agent.get('version', '')}".strip()
    trace = ForeignTrace(named, given["schema_version"], who)
    trace.missing = ["the requests as they were sent (they are made of the steps)"]
    said = Conversation()
    ended_at: float | None = None
    for step in given["steps"]:
        at = seconds(step.get("timestamp"))
        # Steps that no model wrote, or that belong to an earlier trajectory, are only input of later calls.
        is_call = step.get("source") == "agent" and step.get("llm_call_count") != 0
        if is_call and not step.get("is_copied_context"):
            model = step.get("model_name") or agent.get("model_name")
            request = request_of(said, model, agent.get("tool_definitions"))
            # A step has one time, that of its end; its call is assumed to begin at the end of the step before.
            trace.calls.append(_call(step, said, request, ended_at or at, at))
        else:
            said.add(_message(step))
        for result in as_object(step.get("observation")).get("results") or ():
            said.add(_result(step, result))
        ended_at = at
    return trace


def _call(
    step: Json,
    said: Conversation,
    request: Json,
    began_at: float | None,
    ended_at: float | None,
) -> ModelCall:
    metrics = as_object(step.get("metrics"))
    counts = ("prompt_tokens", "completion_tokens", "cached_tokens")
    usage = counted(*map(metrics.get, counts))
    response = replied(said, _message(step), request["model"], None, usage)
    cost: Any = metrics.get("cost_usd")
    is_cost = type(cost) in (int, float) and 0 <= cost < MOST_USD
    return ModelCall(
        request,
        response,
        began_at=began_at,
        ended_at=ended_at,
        cost_usd=float(cost) if is_cost else None,
    )


def _message(step: Json) -> Json:
    role = {"agent": "assistant", "system": "system"}.get(step["source"], "user")
    return {**step, "role": role, "content": step.get("message")}


def _result(step: Json, result: Json) -> Json:
    call_id = result.get("source_call_id")
    content = result.get("content") or written(result.get("subagent_trajectory_ref"))
    role = "tool" if call_id or step.get("tool_calls") else "user"
    return {"role": role, "tool_call_id": call_id, "content": content}


def atif_of(events: Sequence[Recorded[Event]]) -> bytes:
    """Writes a recorded query as a trajectory.

    Raises:
        BadInputError: The trace does not begin with a question.
    """
    first = events[0].event
    if not isinstance(first, e.QueryReceived):
        raise BadInputError(
            "The trace does not begin with a question: it is no trajectory."
        )
    agent = _agent(first)
    final: Json = {}
    steps = _before_reply(first, events)
    by_call: dict[str, Json] = {}
    for recorded in events:
        match recorded.event:
            case e.ReasoningStarted(request=request) if request.tools:
                tools = decoded(request.tools.text)
                agent["tool_definitions"] = list(map(_function, tools))
            case e.ReasoningCompleted() as reply:
                steps.append(_step(reply, recorded.at))
                by_call |= {call.id: steps[-1] for call in reply.tool_calls}
            case e.ToolSucceeded() | e.ToolFailed() as outcome:
                _observe(by_call, outcome)
            case e.ResponseAssembled(usage=usage):
                final = {"final_metrics": _metrics(usage, "total_")}
    trajectory: Json = {
        "schema_version": VERSION,
        "session_id": first.session_id or events[0].query_id,
        "trajectory_id": events[0].query_id,
        "agent": agent,
        "steps": [{"step_id": n, **step} for n, step in enumerate(steps, start=1)],
        **final,
    }
    return msgspec.json.format(msgspec.json.encode(trajectory), indent=1) + b"\n"


def _before_reply(
    first: e.QueryReceived, events: Sequence[Recorded[Event]]
) -> list[Json]:
    """Returns the steps before the first reply: system prompt, conversation and question."""
    steps: list[Json] = []
    for recorded in events:
        if isinstance(recorded.event, e.ReasoningStarted):
            prompt = text_of(decoded(recorded.event.request.system.text))
            steps.append({"source": "system", "message": prompt})
            break
    for said in first.history:
        for source, text in (("user", said.question), ("agent", said.answer)):
            steps.append({"source": source, "message": text, "is_copied_context": True})
    asked_at = _calendar(events[0].at)
    steps.append({"source": "user", "message": first.query, "timestamp": asked_at})
    return steps


def _agent(first: e.QueryReceived) -> Json:
    name, version = PROGRAM, dict(first.versions).get(PROGRAM)
    if first.imported is not None:
        name, _, version = first.imported.agent.partition(" ")
    named = {"name": name or "unknown", "version": version or "unknown"}
    return {**named, "model_name": first.settings.model}


def _step(reply: e.ReasoningCompleted, at: float) -> Json:
    step: Json = {
        "source": "agent",
        "message": reply.text.text,
        "timestamp": _calendar(at),
        "model_name": reply.model,
        "metrics": _metrics(reply.usage, ""),
        "llm_call_count": 1,
    }
    if reply.thought:
        step["reasoning_content"] = reply.thought
    if reply.tool_calls:
        step["tool_calls"] = [
            {
                "tool_call_id": call.id,
                "function_name": call.name,
                # A model may write arguments that are not an object.
                "arguments": as_object(decoded(call.arguments)),
            }
            for call in reply.tool_calls
        ]
    return step


def _observe(by_call: dict[str, Json], outcome: e.ToolSucceeded | e.ToolFailed) -> None:
    call_id = outcome.tool_call_id
    # A search of our own is not a step: no model requested it.
    if call_id not in by_call:
        return
    said = outcome.detail if isinstance(outcome, e.ToolFailed) else outcome.output.text
    observation = by_call[call_id].setdefault("observation", {"results": []})
    observation["results"].append({"source_call_id": call_id, "content": said})


def _metrics(usage: Usage, prefix: str) -> Json:
    counts = {
        f"{prefix}prompt_tokens": usage.all_input_tokens,
        f"{prefix}completion_tokens": usage.output_tokens,
        f"{prefix}cached_tokens": usage.cache_read_tokens,
    }
    if usage.cost_usd is None:
        return counts
    return {**counts, f"{prefix}cost_usd": usage.cost_usd}


def _function(tool: Json) -> Json:
    """Returns the definition of a tool in OpenAI's form, which ATIF uses."""
    function = {"name": tool.get("name"), "description": tool.get("description")}
    function["parameters"] = tool.get("input_schema")
    return {"type": "function", "function": function}


def _calendar(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()
