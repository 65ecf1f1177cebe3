"""What a tool may return, and how it becomes words and evidence."""

from __future__ import annotations

from pydantic_core import to_json

from dispatcher.bounds import MAX_PASSAGE, bounded, clean, content_id
from language.sentences import sentence_starts
from vocabulary.ports import ToolOutput
from vocabulary.values import Kept, Passage

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
    if isinstance(returned, str):
        return _quotable(tool, clean(returned), None)
    if returned is None:
        return ToolOutput(text=NOTHING)
    text = to_json(returned, indent=2).decode()
    return _quotable(tool, text, line_starts(text[: MAX_PASSAGE + 1]))


def line_starts(text: str) -> tuple[int, ...]:
    """Offsets at which the lines of `text` begin, the first being 0."""
    ends = [at + 1 for at, character in enumerate(text) if character == "\n"]
    return (0, *(end for end in ends if end < len(text)))


def _quotable(tool: str, text: str, starts: tuple[int, ...] | None) -> ToolOutput:
    if not text.strip():
        return ToolOutput(text=NOTHING)
    passage = Passage(
        id=content_id(tool, text),
        source=tool,
        text=Kept(text),
        starts=sentence_starts(text[: MAX_PASSAGE + 1]) if starts is None else starts,
        kind="text",
    )
    return bounded(ToolOutput(text=text, passages=(passage,)))
