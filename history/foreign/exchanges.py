"""Reads recorded exchanges with a model's server: JSON lines, each with a request and its response.

They have the form of `antiphon faults serve`: `request`, `response`, and `status`, `started`, `seconds` and `fault` if
known.
"""

from __future__ import annotations

from antiphon.history.foreign.messages import Conversation, as_object, first, written
from antiphon.history.foreign.model_calls import (
    ModelCall,
    counted,
    failure_of,
    replied,
    request_of,
    seconds,
)
from antiphon.vocabulary.ports import Json

FORM = "recorded exchanges"


def is_exchange(value: object) -> bool:
    """Returns True for a line with a request to a model."""
    return isinstance(as_object(value).get("request"), dict)


def call_of(line: Json) -> ModelCall:
    """Reads one exchange, of the Messages API, of chat completions or of responses."""
    asked, reply = line["request"], as_object(first(line, "response", "reply"))
    said = Conversation(asked.get("messages", asked.get("input")))
    said.add({"role": "system", "content": first(asked, "system", "instructions")})
    request = request_of(
        said,
        reply.get("model") or asked.get("model"),
        asked.get("tools"),
        first(asked, "max_tokens", "max_completion_tokens"),
    )
    began_at, error = seconds(line.get("started")), reply.get("error")
    ended_at = began_at and began_at + (line.get("seconds") or 0.0)
    status = line.get("status", "not known")
    if reply and not error and 0 < line.get("status", 200) < 400:
        # Of several choices a client uses the first.
        given = (
            reply["choices"][:1] if "choices" in reply else reply.get("output", reply)
        )
        usage = _usage(as_object(reply.get("usage")))
        response = replied(
            said, given, request["model"], reply.get("stop_reason"), usage
        )
        response["id"] = reply.get("id")
        return ModelCall(request, response, began_at=began_at, ended_at=ended_at)
    detail = written(as_object(error).get("message", error)) or "no whole reply came"
    injected = f"; injected: {line['fault']}" if line.get("fault") else ""
    detail = f"{detail} (status {status}{injected})"
    return ModelCall(request, None, failure_of(status), detail, began_at, ended_at)


def _usage(given: Json) -> Json:
    """Returns the usage of a reply; OpenAI includes cached tokens in the input, and adds a total."""
    if "total_tokens" not in given:
        return given
    details = first(given, "prompt_tokens_details", "input_tokens_details")
    return counted(
        first(given, "prompt_tokens", "input_tokens"),
        first(given, "completion_tokens", "output_tokens"),
        as_object(details).get("cached_tokens"),
    )
