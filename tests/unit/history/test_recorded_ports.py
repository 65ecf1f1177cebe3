"""The tools of a fork."""

from __future__ import annotations

from antiphon.dispatcher import Registry, tool_from_function
from antiphon.history.recorded_ports import without_passages
from antiphon.vocabulary.ports import ToolOutput
from antiphon.vocabulary.values import Passage, StoredText


def _passage(name: str) -> Passage:
    return Passage(id=name, source="Course", text=StoredText(f"All of {name}."))


async def find(word: str) -> ToolOutput:
    """Finds three passages."""
    return ToolOutput(text=f"Of {word}.", passages=tuple(map(_passage, "abc")))


async def say(word: str) -> str:
    """Says a word."""
    return word


async def test_a_dropped_passage_is_brought_by_no_tool_and_the_rest_is() -> None:
    tools = Registry([tool_from_function(find), tool_from_function(say)])

    left = without_passages(tools, frozenset({"b"}))

    run = {tool.name: tool.run for tool in left.tools}
    found = await run["find"](word="trees")
    assert found == ToolOutput(
        text="Of trees.", passages=(_passage("a"), _passage("c"))
    )
    assert await run["say"](word="trees") == "trees"
