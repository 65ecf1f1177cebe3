"""Recorded exchanges with a model's server: JSON lines, each a request and what came of it.

The form of `antiphon faults serve`: `request`, `response`, and `status`, `started`, `seconds` and `fault` if known.
"""

from __future__ import annotations

from typing import Any

from antiphon.history.foreign.messages import as_object, written
from antiphon.history.foreign.model_calls import (
    ForeignTrace,
    ModelCall,
    counted,
    failure_of,
    model_call,
    seconds,
)
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.ports import Json

FORM = "recorded exchanges"


def is_exchange(value: object) -> bool:
    """Returns True for a line with a request to a model."""
    return isinstance(as_object(value).get("request"), dict)


def trace_of_exchanges(lines: list[Json], refused: list[str]) -> ForeignTrace:
    """Returns the calls of all lines; which of them belong together is seen by what they ask.

    Args:
        refused: Gets a sentence for each line that cannot be read.
    """
    trace = ForeignTrace("", FORM)
    for number, line in enumerate(lines, start=1):
        try:
            trace.calls.append(_call(line))
        except (BadInputError, TypeError, AttributeError, LookupError) as error:
            refused.append(f"exchange {number}: {error}")
    return trace


def _call(line: Json) -> ModelCall:
    request: Json = line["request"]
    reply = as_object(line.get("response", line.get("reply")))
    replied: Any = None
    if _is_reply(line, reply):
        # Of several choices a client takes the first.
        replied = (
            reply["choices"][:1] if "choices" in reply else reply.get("output", reply)
        )
    began_at = seconds(line.get("started"))
    return model_call(
        request.get("messages", request.get("input")),
        replied,
        model=reply.get("model") or request.get("model"),
        system=request.get("system", request.get("instructions")),
        tools=request.get("tools"),
        max_tokens=request.get("max_tokens", request.get("max_completion_tokens")),
        usage=_usage(as_object(reply.get("usage"))),
        stop=reply.get("stop_reason"),
        message_id=reply.get("id"),
        failure=failure_of(line.get("status")),
        detail=_why_failed(line, reply),
        began_at=began_at,
        ended_at=began_at and began_at + (line.get("seconds") or 0.0),
    )


def _is_reply(line: Json, reply: Json) -> bool:
    status = line.get("status", 200)
    return bool(reply) and not reply.get("error") and 0 < status < 400


def _why_failed(line: Json, reply: Json) -> str:
    error = reply.get("error")
    said = written(as_object(error).get("message", error)) or "no whole reply came"
    injected = f"; injected: {line['fault']}" if line.get("fault") else ""
    return f"{said} (status {line.get('status', 'not known')}{injected})"


def _usage(given: Json) -> Json:
    """Returns the usage of a reply; OpenAI counts what was cached with the rest, and totals it."""
    if "total_tokens" not in given:
        return given
    details = given.get("prompt_tokens_details", given.get("input_tokens_details"))
    return counted(
        given.get("prompt_tokens", given.get("input_tokens")),
        given.get("completion_tokens", given.get("output_tokens")),
        as_object(details).get("cached_tokens"),
    )
