"""Turns the result of an MCP tool into passages that an answer can cite."""

from __future__ import annotations

from mcp_types import (
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from pydantic_core import to_json

from antiphon.dispatcher.output import MAX_PASSAGES, MAX_TEXT, quotable
from antiphon.vocabulary.errors import RemoteError
from antiphon.vocabulary.ports import ToolOutput
from antiphon.vocabulary.values import Passage


def output_of(tool: str, result: CallToolResult) -> ToolOutput:
    """Returns the result's blocks, each as a passage; for images and the like only a note that there were some.

    Raises:
        RemoteError: The tool says that it failed.
    """
    # One block and one character more than is kept, so that the common bounds (output.py) cut them and note the cut.
    blocks = result.content[: MAX_PASSAGES + 1]
    passages = [_passage(tool, block) for block in blocks]
    if not passages and result.structured_content is not None:
        written = to_json(result.structured_content, indent=2).decode()
        passages = [quotable(tool, written[: MAX_TEXT + 1])]
    text = "\n\n".join([passage.text.text for passage in passages])
    if result.is_error:
        raise RemoteError(text or "it says that it failed, and not why")
    return ToolOutput(text=text, passages=tuple(passages))


def _passage(tool: str, block: ContentBlock) -> Passage:
    link: str | None = None
    match block:
        case TextContent(text=text):
            pass
        case ResourceLink(uri=link):
            text = f"{block.title or block.name}: {link} {block.description or ''}"
        case EmbeddedResource(resource=TextResourceContents(uri=link, text=text)):
            pass
        case _:
            text = f"[{block.type}: not shown, for it is no text]"
    return quotable(tool, text[: MAX_TEXT + 1], title=link, link=link)
