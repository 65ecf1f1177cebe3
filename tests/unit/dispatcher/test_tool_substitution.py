"""What stands in for a tool that fails, and with what arguments."""

from __future__ import annotations

from antiphon.dispatcher import Tool, tool_from_function
from antiphon.vocabulary.events import (
    ToolFailed,
)
from antiphon.vocabulary.ports import Json
from tests.unit.dispatcher.fakes import Session


async def search(query: str, course: str | None = None) -> str:
    """Searches, and fails."""
    raise OSError(f"no index for {query}")


async def outline(course: str) -> str:
    """Gives an outline."""
    return f"outline of {course}"


OUTLINE = tool_from_function(outline)


def _adapted(adapt: object) -> Tool:
    return tool_from_function(search, substitutes=("outline",), adapt=adapt)  # type: ignore[arg-type]  # wrong on purpose


async def test_an_adapter_that_fails_is_a_failure_of_the_substitute() -> None:
    def adapt(substitute: str, arguments: Json) -> Json:
        raise LookupError(substitute)

    outcome = await Session(_adapted(adapt), OUTLINE).call(
        "search", '{"query": "rank"}'
    )

    assert isinstance(outcome, ToolFailed)
    assert outcome.detail.endswith("outline failed: LookupError: outline")
