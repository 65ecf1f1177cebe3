"""What a tool may return, and how it becomes words and evidence."""

from __future__ import annotations

import msgspec
from pydantic_core import to_json

from antiphon.dispatcher.bounds import MAX_PASSAGE, bounded, clean, content_id
from antiphon.language.sentences import sentence_starts
from antiphon.vocabulary.ports import ToolOutput
from antiphon.vocabulary.values import Passage, StoredText

NOTHING = "The tool returned nothing."


def to_output(tool: str, returned: object) -> ToolOutput:
    """A tool's return value as bounded words and passages.

    A `ToolOutput` is taken as it is. A string, or any value that JSON can say, becomes its words and one passage,
    so that an answer can cite it; the passage's sentences are those of the string, or the lines of the JSON.

    Raises:
        PydanticSerializationError: The value cannot be said in JSON.
    """
    if isinstance(returned, ToolOutput):
        return bounded(returned)
    if returned is None:
        return ToolOutput(text=NOTHING)
    if isinstance(returned, str):
        return _one(quotable(tool, returned))
    passage = quotable(tool, to_json(returned, indent=2).decode())
    return _one(msgspec.structs.replace(passage, starts=line_starts(passage.text.text[: MAX_PASSAGE + 1])))


def quotable(source: str, text: str, *, title: str | None = None, link: str | None = None) -> Passage:
    """A passage of any tool's words, which an answer can cite sentence by sentence.

    Args:
        source: What a reader is shown as its origin.
        link: A web address where it stands, or None.
    """
    text = clean(text)
    return Passage(
        id=content_id(clean(source), text),
        source=source,
        text=StoredText(text),
        starts=sentence_starts(text[: MAX_PASSAGE + 1]),
        title=title,
        link=link,
        kind="text",
    )


def line_starts(text: str) -> tuple[int, ...]:
    """Offsets at which the lines of `text` begin, the first being 0."""
    ends = [at + 1 for at, character in enumerate(text) if character == "\n"]
    return (0, *(end for end in ends if end < len(text)))


def _one(passage: Passage) -> ToolOutput:
    text = passage.text.text
    return bounded(ToolOutput(text=text, passages=(passage,))) if text.strip() else ToolOutput(text=NOTHING)
