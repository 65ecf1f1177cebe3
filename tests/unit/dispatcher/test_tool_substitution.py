"""What stands in for a tool that fails, and with what arguments."""

from __future__ import annotations

import asyncio
import json
import sys

from antiphon.dispatcher import Tool, tool_from_function
from antiphon.vocabulary.events import (
    ToolFailed,
    ToolStarted,
    ToolSubstituted,
    ToolSucceeded,
)
from antiphon.vocabulary.ports import Json
from tests.unit.dispatcher.fakes import Session, turn


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


async def test_a_substitute_that_lacks_its_arguments_is_passed_over() -> None:
    outcome = await Session(SEARCH, OUTLINE, GREP).call("search", '{"query": "rank"}')

    assert isinstance(outcome, ToolSucceeded)
    assert (outcome.name, outcome.output.text) == ("grep", "lines with rank")


async def test_when_every_substitute_fails_each_failure_is_told_under_the_name_asked_for() -> (
    None
):
    async def grep(query: str) -> str:
        """Fails too."""
        raise KeyError(query)

    session = Session(SEARCH, OUTLINE, tool_from_function(grep))

    outcome = await session.call("search", '{"query": "rank"}')

    assert isinstance(outcome, ToolFailed)
    assert (outcome.name, outcome.failure) == ("search", "error")
    assert (
        outcome.detail
        == "search failed: OSError: no index for rank; grep failed: KeyError: 'rank'"
    )


async def test_a_substitute_that_is_safe_to_retry_is_retried_and_announced_once() -> (
    None
):
    errors = [OSError("first time")]

    async def grep(query: str) -> str:
        """Fails once."""
        if errors:
            raise errors.pop()
        return query

    session = Session(SEARCH, OUTLINE, tool_from_function(grep, retry_safe=True))

    outcome = await session.call("search", '{"query": "rank"}')

    assert isinstance(outcome, ToolSucceeded)
    assert len(session.heard(ToolSubstituted)) == 1
    assert [event.name for event in session.heard(ToolStarted)] == [
        "search",
        "grep",
        "grep",
    ]


def _adapted(adapt: object) -> Tool:
    return tool_from_function(search, substitutes=("outline",), adapt=adapt)  # type: ignore[arg-type]  # wrong on purpose


async def test_a_tool_may_adapt_the_arguments_itself() -> None:
    def adapt(substitute: str, arguments: Json) -> Json:
        return {"course": f"{arguments['query']} for {substitute}"}

    outcome = await Session(_adapted(adapt), OUTLINE).call(
        "search", '{"query": "rank"}'
    )

    assert isinstance(outcome, ToolSucceeded)
    assert outcome.output.text == "outline of rank for outline"


async def test_an_adapter_that_fails_is_a_failure_of_the_substitute() -> None:
    def adapt(substitute: str, arguments: Json) -> Json:
        raise LookupError(substitute)

    outcome = await Session(_adapted(adapt), OUTLINE).call(
        "search", '{"query": "rank"}'
    )

    assert isinstance(outcome, ToolFailed)
    assert outcome.detail.endswith("outline failed: LookupError: outline")


async def test_a_substitute_has_its_own_limit_within_what_the_call_has_left() -> None:
    session = Session(
        SEARCH, tool_from_function(hanging, timeout_s=4, name="grep"), OUTLINE
    )
    session.request("t1", "search", '{"query": "rank"}', timeout_s=10)
    await turn()

    session.clock.advance(4)
    await session.done()

    (failed,) = session.heard(ToolFailed)
    assert (failed.name, failed.failure) == ("search", "timeout")
    assert failed.detail == "grep took longer than 4 s and was stopped."
    assert session.running() == 0


async def hanging(query: str) -> str:
    """Never answers."""
    await Session().clock.sleep(1)
    return query


async def test_a_substitute_has_no_more_time_than_the_call_has_left() -> None:
    failing = asyncio.Event()

    async def search(query: str) -> str:
        """Fails late."""
        await failing.wait()
        raise OSError(query)

    first = tool_from_function(search, substitutes=("grep",))
    session = Session(first, tool_from_function(hanging, timeout_s=4, name="grep"))
    session.request("t1", "search", '{"query": "rank"}', timeout_s=10)
    await turn()

    session.clock.advance(8)
    failing.set()
    await turn()
    session.clock.advance(2)
    await session.done()

    (failed,) = session.heard(ToolFailed)
    assert (failed.failure, failed.duration_ms) == ("timeout", 10_000.0)
    assert failed.detail == "grep took longer than 2 s and was stopped."


async def test_an_adapter_that_ends_the_process_only_passes_its_substitute_over() -> (
    None
):
    def adapt(_name: str, _arguments: Json) -> Json:
        sys.exit(3)

    tool = tool_from_function(search, substitutes=("outline",), adapt=adapt)

    outcome = await Session(tool, OUTLINE).call("search", '{"query": "rank"}')

    assert isinstance(outcome, ToolFailed)
    assert (
        "outline failed: it tried to end the process (SystemExit: 3)" in outcome.detail
    )
