"""What clients of OpenAI's API send: read leniently, and turned into a question with the conversation before it.

They send much that no answer of ours depends on, such as a temperature: that is passed over. What would promise
something that Antiphon does not do is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool

from antiphon.api.query_schemas import QueryRequest
from antiphon.api.schemas import Text
from antiphon.doors.openai.writing import without_marks
from antiphon.service import Question, refers_back
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.values import Exchange

Exchanges = tuple[tuple[str, str], ...]
"""Questions and their answers, oldest first."""

_SPOKEN = ("text", "input_text", "output_text")
"""The types of parts that hold what was said."""

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


def _as_parts(content: object) -> object:
    if content is None:
        return []
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


class _Sent(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ContentPart(_Sent):
    """A part of a message; only text is read."""

    type: Text
    text: Text = ""


class _Content(_Sent):
    content: Annotated[list[ContentPart], BeforeValidator(_as_parts)] = Field(
        default=[], description="A text, or parts of the type `text`."
    )


Role = Literal["system", "developer", "user", "assistant", "tool", "function"]


class ChatMessage(_Content):
    """One message of the conversation."""

    role: Role


class InputItem(_Content):
    """One item of the conversation; what is no message has no role."""

    role: Role | None = None


class StreamOptions(_Sent):
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
                    f"`{name}` cannot be had as it was sent, for {why}: leave it out."
                )


class ChatBody(_Body):
    """A request for a chat completion."""

    messages: list[ChatMessage] = Field(min_length=1)
    stream_options: StreamOptions | None = None


def _as_items(sent: object) -> object:
    return [{"role": "user", "content": sent}] if isinstance(sent, str) else sent


class ResponsesBody(_Body):
    """A request for a response."""

    input: Annotated[list[InputItem], BeforeValidator(_as_items)] = Field(min_length=1)
    previous_response_id: Text | None = Field(None, max_length=200)


class ToldQuestion(QueryRequest):
    """A question with the conversation before it, which its caller keeps."""

    told: Exchanges = ()

    def question(self) -> Question:
        """Returns the question as the service takes it."""
        told = [Exchange(question=asked, answer=said) for asked, said in self.told]
        return Question(query=self.query, told=told)


def last_text(messages: Sequence[ChatMessage | InputItem]) -> str:
    """Returns the text of the last message.

    Raises:
        BadInputError: It is no question.
    """
    last = messages[-1]
    if last.role != "user":
        raise BadInputError(
            "The last message must be the user's question: send it with the role `user`."
        )
    for part in last.content:
        if part.type not in _SPOKEN:
            raise BadInputError(
                f"The last message holds a part of the type `{part.type[:40]}`, and only text is read here: "
                "send what it shows in words, or index it as a document."
            )
    text = _text_of(last)
    if not text.strip():
        raise BadInputError("The last message is empty: send a question.")
    return text


def exchanges_in(messages: Sequence[ChatMessage | InputItem]) -> Exchanges:
    """Returns what was asked and answered before the last message; what was not answered is left out."""
    exchanges: list[tuple[str, str]] = []
    asked = ""
    for message in messages[:-1]:
        text = _text_of(message)
        if message.role == "user":
            asked = text
        elif message.role == "assistant" and asked.strip() and text.strip():
            exchanges.append((asked, without_marks(text)))
            asked = ""
    return tuple(exchanges)


def told_question(
    text: str, told: Exchanges, course: str | None, *, strict: bool
) -> ToldQuestion:
    """Returns the question; that of a course's model names the course, as each before it did."""
    if course is not None:
        told = tuple((_about(asked, course), said) for asked, said in told)
        # What refers back is understood by the question before it, which names the course.
        if not told or not refers_back(text):
            text = _about(text, course)
    asked = {"query": text, "told": told, "strict": strict}
    return ToldQuestion.model_validate(asked)


def _about(question: str, course: str) -> str:
    named = f" (course: {course})"
    return question if question.endswith(named) else f"{question}{named}"


def _text_of(message: ChatMessage | InputItem) -> str:
    return "\n".join(part.text for part in message.content if part.type in _SPOKEN)
