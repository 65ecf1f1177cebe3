"""The Agent Trajectory Interchange Format (ATIF) of Harbor, in and out.

https://harborframework.com/docs/trajectory-format; what is written is version 1.7, and any 1.x is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial

import msgspec

from antiphon.history.foreign.messages import (
    Conversation,
    decoded,
    response_of,
    text_of,
    written,
)
from antiphon.history.foreign.model_calls import (
    ForeignTrace,
    ModelCall,
    Read,
    counted,
    request_of,
    seconds,
)
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import (
    Event,
    QueryReceived,
    ReasoningCompleted,
    ReasoningStarted,
    Recorded,
    ResponseAssembled,
    ToolFailed,
    ToolSucceeded,
)
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Usage

VERSION = "ATIF-v1.7"


def is_atif(value: object) -> bool:
    """Returns True for a trajectory."""
    return isinstance(value, dict) and str(value.get("schema_version")).startswith(
        "ATIF-v1."
    )


def traces_of_atif(given: Json) -> Iterator[tuple[str, Read]]:
    """Yields a trajectory's id and what reads it, and those of its subagents that it holds."""
    named = str(given.get("trajectory_id") or given.get("session_id") or "")
    yield named, partial(_trace, named, given)
    for each in given.get("subagent_trajectories") or ():
        if is_atif(each):
            yield from traces_of_atif(each)


def _trace(named: str, given: Json) -> ForeignTrace:
    agent = given.get("agent")
    agent = agent if isinstance(agent, dict) else {}
    trace = ForeignTrace(
        named,
        str(given["schema_version"]),
        " ".join(str(agent[name]) for name in ("name", "version") if agent.get(name)),
        missing=[
            "the requests as they were sent, which are put together from the steps"
        ],
    )
    _read_steps(trace, given, agent)
    return trace


def _read_steps(trace: ForeignTrace, given: Json, agent: Json) -> None:
    steps = given.get("steps")
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise BadInputError("its `steps` are no list of objects")
    said = Conversation()
    ended_at = None
    for step in steps:
        at = seconds(step.get("timestamp"))
        # Steps that no model made, and those of an earlier trajectory, are only shown to later calls.
        is_call = step.get("source") == "agent" and step.get("llm_call_count") != 0
        if is_call and not step.get("is_copied_context"):
            trace.calls.append(_call(step, agent, said, ended_at, at))
        else:
            said.add(_message_of(step))
        for result in _results_of(step):
            said.add(result)
        ended_at = at
    counts = [step.get("llm_call_count") for step in steps]
    if any(type(count) is int and count > 1 for count in counts):
        trace.missing.append("the single calls of steps that stand for several")


def _call(
    step: Json,
    agent: Json,
    said: Conversation,
    began_at: float | None,
    at: float | None,
) -> ModelCall:
    model = str(step.get("model_name") or agent.get("model_name") or "")
    request = request_of(said, model, agent.get("tool_definitions"))
    if not request["messages"]:
        raise BadInputError(
            "it begins with a reply, and does not say what its model was asked"
        )
    metrics = step.get("metrics")
    metrics = metrics if isinstance(metrics, dict) else {}
    cost = metrics.get("cost_usd")
    content = said.add(_message_of(step))
    usage = counted(
        metrics.get("prompt_tokens"),
        metrics.get("completion_tokens"),
        metrics.get("cached_tokens"),
    )
    return ModelCall(
        request,
        response_of(content, model, None, "", usage),
        # A step tells when it happened: a call is taken to begin where the step before it ended.
        began_at=began_at or at,
        ended_at=at,
        cost_usd=float(cost)
        if type(cost) in (int, float) and 0 <= cost < 1e6
        else None,
    )


def _message_of(step: Json) -> Json:
    role = {"agent": "assistant", "system": "system"}.get(
        str(step.get("source")), "user"
    )
    calls: list[Json] = []
    for call in step.get("tool_calls") or ():
        if isinstance(call, dict):
            function = {
                "name": call.get("function_name"),
                "arguments": call.get("arguments"),
            }
            calls.append({"id": call.get("tool_call_id"), "function": function})
    return {
        "role": role,
        "content": step.get("message"),
        "reasoning_content": step.get("reasoning_content"),
        "tool_calls": calls,
    }


def _results_of(step: Json) -> Iterator[Json]:
    observation = step.get("observation")
    results = observation.get("results") if isinstance(observation, dict) else None
    for result in results or ():
        if isinstance(result, dict):
            of_call = result.get("source_call_id") or step.get("tool_calls")
            role = "tool" if of_call else "user"
            content = result.get("content") or written(
                result.get("subagent_trajectory_ref")
            )
            yield {
                "role": role,
                "tool_call_id": result.get("source_call_id"),
                "content": content,
            }


def atif_of(events: Sequence[Recorded[Event]], program: str, version: str) -> bytes:
    """Writes a recorded query as a trajectory.

    Args:
        program: Who ran it, where the trace does not say.
    """
    first = events[0].event
    if not isinstance(first, QueryReceived):
        raise BadInputError(
            "The trace does not begin with a question: it is no trajectory."
        )
    steps: list[Json] = []
    agent: Json = {
        "name": program,
        "version": version,
        "model_name": first.settings.model,
    }
    if first.imported is not None:
        name, _, its_version = first.imported.agent.rpartition(" ")
        agent |= {
            "name": name or its_version or "unknown",
            "version": its_version if name else "unknown",
        }
    for exchange in first.history:
        steps.append(
            {"source": "user", "message": exchange.question, "is_copied_context": True}
        )
        steps.append(
            {"source": "agent", "message": exchange.answer, "is_copied_context": True}
        )
    steps.append(
        {"source": "user", "message": first.query, "timestamp": _calendar(events[0].at)}
    )
    by_call: dict[str, Json] = {}
    for recorded in events:
        match recorded.event:
            case ReasoningStarted(request=request) if (
                request.tools and "tool_definitions" not in agent
            ):
                agent["tool_definitions"] = [
                    _function(tool) for tool in msgspec.json.decode(request.tools.text)
                ]
                if not first.history:
                    steps.insert(
                        0,
                        {
                            "source": "system",
                            "message": text_of(
                                msgspec.json.decode(request.system.text)
                            ),
                        },
                    )
            case ReasoningCompleted() as reply:
                steps.append(_step(reply, recorded.at))
                by_call |= {call.id: steps[-1] for call in reply.tool_calls}
            case ToolSucceeded(tool_call_id=call_id, output=output) if (
                call_id in by_call
            ):
                _observe(by_call[call_id], call_id, output.text)
            case ToolFailed(tool_call_id=call_id, detail=detail) if call_id in by_call:
                _observe(by_call[call_id], call_id, detail)
    for number, step in enumerate(steps, start=1):
        step["step_id"] = number
    trajectory: Json = {
        "schema_version": VERSION,
        "session_id": first.session_id or events[0].query_id,
        "trajectory_id": events[0].query_id,
        "agent": agent,
        "steps": steps,
    }
    for recorded in events:
        if isinstance(recorded.event, ResponseAssembled):
            trajectory["final_metrics"] = _metrics(
                recorded.event.usage, "total_", "total_cost_usd"
            )
            trajectory["extra"] = {
                "answer": recorded.event.answer,
                "confidence": recorded.event.confidence,
            }
    return msgspec.json.format(msgspec.json.encode(trajectory), indent=1) + b"\n"


def _step(reply: ReasoningCompleted, at: float) -> Json:
    step: Json = {
        "source": "agent",
        "message": reply.text.text,
        "timestamp": _calendar(at),
        "llm_call_count": 1,
    }
    step["model_name"] = reply.model
    step["metrics"] = _metrics(reply.usage, "", "cost_usd")
    if reply.thought:
        step["reasoning_content"] = reply.thought
    calls: list[Json] = []
    for call in reply.tool_calls:
        arguments = decoded(call.arguments)
        if not isinstance(arguments, dict):
            arguments = {"arguments": call.arguments}
        calls.append(
            {
                "tool_call_id": call.id,
                "function_name": call.name,
                "arguments": arguments,
            }
        )
    if calls:
        step["tool_calls"] = calls
    return step


def _observe(step: Json, call_id: str, content: str) -> None:
    observation = step.setdefault("observation", {"results": []})
    observation["results"].append({"source_call_id": call_id, "content": content})


def _metrics(usage: Usage, prefix: str, cost: str) -> Json:
    found: Json = {
        f"{prefix}prompt_tokens": usage.all_input_tokens,
        f"{prefix}completion_tokens": usage.output_tokens,
        f"{prefix}cached_tokens": usage.cache_read_tokens,
    }
    if usage.cost_usd is not None:
        found[cost] = usage.cost_usd
    return found


def _function(tool: Json) -> Json:
    """Returns the definition of a tool as OpenAI has it, which ATIF takes."""
    function = {"name": tool.get("name"), "description": tool.get("description", "")}
    function["parameters"] = tool.get("input_schema", {})
    return {"type": "function", "function": function}


def _calendar(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()
