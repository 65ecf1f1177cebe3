"""What stands in for a tool that fails, and with what arguments."""

from __future__ import annotations

import json

from antiphon.dispatcher import Tool, tool_from_function
from antiphon.vocabulary.events import (
    ToolFailed,
    ToolStarted,
    ToolSubstituted,
    ToolSucceeded,
)
from antiphon.vocabulary.ports import Json
from tests.unit.dispatcher.fakes import Session


async def search(query: str, course: str | None = None) -> str:
    """Searches, and fails."""
    raise OSError(f"no index for {query}")


async def outline(course: str) -> str:
    """Gives an outline."""
    return f"outline of {course}"


async def grep(query: str) -> str:
    """Searches by words."""
    return f"lines with {query}"


SEARCH = tool_from_function(search, substitutes=("outline", "grep"))
OUTLINE = tool_from_function(outline)
GREP = tool_from_function(grep, offered=False)


async def test_the_first_substitute_that_the_arguments_fit_answers() -> None:
    session = Session(SEARCH, OUTLINE, GREP)

    outcome = await session.call(
        "search", '{"query": "rank", "course": "IR", "why": "to know"}'
    )

    assert isinstance(outcome, ToolSucceeded)
    assert (outcome.name, outcome.output.text) == ("outline", "outline of IR")
    (substituted,) = session.heard(ToolSubstituted)
    assert (substituted.failed, substituted.substitute) == ("search", "outline")
    assert json.loads(substituted.arguments) == {"course": "IR", "why": "to know"}
    assert substituted.why == "search failed: OSError: no index for rank"
    assert [event.name for event in session.heard(ToolStarted)] == ["search", "outline"]


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
