"""From what an MCP tool returns to passages that an answer can cite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
    """Returns the result's texts, each a passage; of images and the like, that there were some.

    Raises:
        RemoteError: The tool says that it failed.
    """
    # One more than is kept, so that the note on what is cut comes from where all tools are cut.
    passages = list(_passages(tool, result.content[: MAX_PASSAGES + 1]))
    if not passages and result.structured_content is not None:
        passages = [
            quotable(tool, to_json(result.structured_content, indent=2).decode())
        ]
    text = "\n\n".join([passage.text.text for passage in passages])
    if result.is_error:
        raise RemoteError(text or "it says that it failed, and not why")
    return ToolOutput(text=text, passages=tuple(passages))


def _passages(tool: str, blocks: Sequence[ContentBlock]) -> Iterator[Passage]:
    for block in blocks:
        match block:
            case TextContent(text=text):
                yield quotable(tool, _beginning(text))
            case ResourceLink(uri=uri, title=title, name=name):
                about = block.description or ""
                yield quotable(
                    tool, _beginning(f"{title or name}: {uri} {about}"), link=uri
                )
            case EmbeddedResource(resource=TextResourceContents() as resource):
                yield quotable(
                    tool,
                    _beginning(resource.text),
                    title=resource.uri,
                    link=resource.uri,
                )
            case _:
                yield quotable(tool, f"[{block.type}: not shown, for it is no text]")


def _beginning(text: str) -> str:
    """Cuts what is sure to be cut later, before its sentences are looked for; the cut is seen and noted there."""
    return text[: MAX_TEXT + 1]
