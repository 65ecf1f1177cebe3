"""Recorded exchanges with a model's server: JSON lines, each a request and what came of it."""

from __future__ import annotations

from typing import Any

from antiphon.history.foreign.messages import written
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
_BEGAN = ("began_at", "started_at", "start_time", "time", "at", "timestamp")
_ENDED = ("ended_at", "finished_at", "end_time")


def is_exchange(value: object) -> bool:
    """Returns True for a line with a request to a model."""
    return isinstance(value, dict) and isinstance(value.get("request"), dict)


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
    # A proxy may keep the body beside its path and headers.
    if isinstance(request.get("body"), dict):
        request = request["body"]
    reply: Any = line.get("response", line.get("reply"))
    if isinstance(reply, dict) and isinstance(reply.get("body"), dict):
        reply = reply["body"]
    reply = reply if isinstance(reply, dict) else {}
    status = line.get("status", 200)
    error = reply.get("error", line.get("error"))
    is_reply = bool(reply) and not error and (type(status) is not int or status < 400)
    facts: Json = {
        "model": reply.get("model") or request.get("model") or "",
        "system": request.get("system", request.get("instructions")),
        "tools": request.get("tools"),
        "max_tokens": request.get("max_tokens", request.get("max_completion_tokens")),
        "began_at": next(
            filter(None, (seconds(line.get(name)) for name in _BEGAN)), None
        ),
        "ended_at": next(
            filter(None, (seconds(line.get(name)) for name in _ENDED)), None
        ),
    }
    asked = request.get("messages", request.get("input"))
    if not is_reply:
        detail = error.get("message", error) if isinstance(error, dict) else error
        said = written(detail) or f"the server answered with status {status}"
        return model_call(asked, None, failure=failure_of(status), detail=said, **facts)
    replied = reply.get("choices", reply.get("output", reply))
    return model_call(
        # Of several choices a client takes the first.
        asked,
        replied[:1] if "choices" in reply else replied,
        usage=_usage(reply.get("usage")),
        stop=reply.get("stop_reason"),
        message_id=reply.get("id"),
        **facts,
    )


def _usage(given: object) -> Json:
    """Returns the usage of a reply; OpenAI's counts what was cached with the rest."""
    if not isinstance(given, dict) or (
        "input_tokens" in given and "total_tokens" not in given
    ):
        return given if isinstance(given, dict) else {}
    details = given.get("prompt_tokens_details", given.get("input_tokens_details"))
    cached = details.get("cached_tokens") if isinstance(details, dict) else 0
    prompt = given.get("prompt_tokens", given.get("input_tokens"))
    completion = given.get("completion_tokens", given.get("output_tokens"))
    return counted(prompt, completion, cached)
