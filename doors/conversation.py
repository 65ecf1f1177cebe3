"""A conversation that its caller keeps: reads messages leniently; the last is the question, the others its context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from antiphon.api.query_schemas import QueryRequest
from antiphon.api.schemas import Text
from antiphon.doors.writing import without_marks
from antiphon.service import Question
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.values import Exchange

Exchanges = tuple[tuple[str, str], ...]
"""Questions and their answers, oldest first."""

_SPOKEN = ("text", "input_text", "output_text")
"""The types of parts that hold the text of a message."""


def _as_parts(content: object) -> object:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    # Content that is not text, such as an activity, says nothing here.
    return [] if content is None or isinstance(content, Mapping) else content


class Sent(BaseModel):
    """The base of clients' bodies: ignores unknown fields."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class ContentPart(Sent):
    """A part of a message; only text is read."""

    type: Text
    text: Text = ""


class ToldMessage(Sent):
    """One message of the conversation; an item that is not a message has no role."""

    role: Text | None = None
    content: Annotated[list[ContentPart], BeforeValidator(_as_parts)] = Field(
        default=[], description="A text, or parts of the type `text`."
    )

    @property
    def text(self) -> str:
        """The message's text."""
        return "\n".join(part.text for part in self.content if part.type in _SPOKEN)


class ToldQuestion(QueryRequest):
    """A question with the conversation before it, which its caller keeps."""

    told: Exchanges = ()

    def question(self) -> Question:
        """Returns the question in the form of the service."""
        told = [Exchange(question=asked, answer=said) for asked, said in self.told]
        return Question(query=self.query, told=told)


def told_question(text: str, told: Exchanges, *, strict: bool = False) -> ToldQuestion:
    """Returns the question with the exchanges before it."""
    asked = {"query": text, "told": told, "strict": strict}
    return ToldQuestion.model_validate(asked)


def last_text(messages: Sequence[ToldMessage]) -> str:
    """Returns the text of the last message.

    Raises:
        BadInputError: It is not a question.
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
    if not last.text.strip():
        raise BadInputError("The last message is empty: send a question.")
    return last.text


def exchanges_in(messages: Sequence[ToldMessage]) -> Exchanges:
    """Returns the questions before the last message with their answers; leaves out those without an answer."""
    exchanges: list[tuple[str, str]] = []
    asked = ""
    for message in messages[:-1]:
        text = message.text
        if message.role == "user":
            asked = text
        elif message.role == "assistant" and asked.strip() and text.strip():
            exchanges.append((asked, without_marks(text)))
            asked = ""
    return tuple(exchanges)
