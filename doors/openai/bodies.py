"""What clients of OpenAI's API send.

They send much that no answer of ours depends on, such as a temperature: that is passed over. What would promise
something that Antiphon does not do is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool

from antiphon.api.schemas import Text
from antiphon.doors.conversation import Sent, ToldMessage
from antiphon.vocabulary.errors import BadInputError

_KNOWN: dict[str, tuple[tuple[object, ...], str]] = {
    "n": ((1,), "a question gets one answer"),
    "logprobs": ((False,), "there are no probabilities of tokens"),
    "modalities": ((["text"],), "answers are text"),
    "response_format": (({"type": "text"},), "answers are Markdown"),
    "tool_choice": (("auto", "none"), "it calls tools of its own alone"),
    "function_call": (("auto", "none"), "it calls tools of its own alone"),
    "background": ((False,), "an answer is waited for"),
    "conversation": ((), "send `previous_response_id` or the messages"),
    "prompt": ((), "it has instructions of its own"),
}
"""The values of a parameter that change nothing, and why others cannot be had."""


class ChatMessage(ToldMessage):
    """One message of the conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]


class StreamOptions(Sent):
    """What a stream is to hold."""

    include_usage: StrictBool | None = None


class _Body(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)

    model: Text = Field(examples=["antiphon"])
    stream: StrictBool | None = None

    def refuse_what_is_not_done(self) -> None:
        """Refuses what cannot be had. Raises BadInputError if it is asked for."""
        asked: dict[str, Any] = dict(self.model_extra or {})
        text = asked.get("text")
        if isinstance(text, Mapping):
            asked["response_format"] = text.get("format")
        for name, (accepted, why) in _KNOWN.items():
            value = asked.get(name)
            if value is not None and value not in accepted:
                raise BadInputError(
                    f"`{name}` is not possible as it was sent, because {why}: leave it out."
                )


class ChatBody(_Body):
    """A request for a chat completion."""

    messages: list[ChatMessage] = Field(min_length=1)
    stream_options: StreamOptions | None = None


def _as_items(sent: object) -> object:
    return [{"role": "user", "content": sent}] if isinstance(sent, str) else sent


class ResponsesBody(_Body):
    """A request for a response."""

    input: Annotated[list[ToldMessage], BeforeValidator(_as_items)] = Field(
        min_length=1
    )
    previous_response_id: Text | None = Field(None, max_length=200)
