"""Calls run at once, and each has exactly one outcome, whatever its tool does."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, NoReturn

import pytest
from pydantic import AfterValidator, BaseModel, model_serializer

from antiphon.dispatcher import ToolCircuits, tool_from_function
from antiphon.vocabulary.errors import BadInputError, NotFoundError
from antiphon.vocabulary.events import (
    ToolAnsweredLate,
    ToolFailed,
    ToolStarted,
    ToolSucceeded,
)
from tests.unit.dispatcher.fakes import Session, turn


class Gates:
    """Tools that wait until a test opens their gate."""

    def __init__(self) -> None:
        self._gates: dict[str, asyncio.Event] = {}

    def gate(self, name: str) -> asyncio.Event:
        return self._gates.setdefault(name, asyncio.Event())

    async def wait(self, name: str) -> str:
        """Waits for its gate."""
        await self.gate(name).wait()
        return f"{name} is open"


class Broken:
    """A tool that raises what it is given, until nothing is left; then it answers."""

    def __init__(self, *errors: BaseException) -> None:
        self.errors = list(errors)

    async def broken(self) -> str:
        """Fails."""
        if self.errors:
            raise self.errors.pop(0)
        return "Mended."


def test_a_round_of_no_calls_is_settled_at_once() -> None:
    session = Session()

    session.confirm(round_number=2)

    (settled,) = session.settled()
    assert (settled.round, settled.succeeded, settled.failed) == (2, (), ())


async def test_a_repeated_call_id_runs_once() -> None:
    session = Session(tool_from_function(Broken().broken))

    for _ in range(2):
        session.request("t1", "broken")
        session.request("t1", "broken")
        await session.done()

    assert len(session.heard(ToolStarted)) == len(session.heard(ToolSucceeded)) == 1


@pytest.mark.parametrize(
    ("given_s", "own_s", "kept_out"),
    [(10.0, None, True), (1e-6, None, False), (2.0, None, False), (2.0, 2.0, True)],
)
async def test_a_timeout_counts_for_the_tools_circuit_where_it_had_its_own_time(
    given_s: float, own_s: float | None, kept_out: bool
) -> None:
    circuits = ToolCircuits(failures=1, timeout_s=10.0)
    session = Session(
        tool_from_function(Gates().wait, timeout_s=own_s), circuits=circuits
    )
    session.request("t1", "wait", '{"name": "never"}', timeout_s=given_s)
    await turn()

    session.clock.advance(given_s)
    await session.done()

    assert session.heard(ToolFailed)[0].failure == "timeout"
    assert circuits.keeps_out("wait", session.clock.now()) is kept_out


def exit_now(_: object) -> NoReturn:
    sys.exit(3)


async def picky(day: Annotated[str, AfterValidator(exit_now)]) -> str:
    """Never likes its argument."""
    return day


class Result(BaseModel):
    """A result that ends the process when it is read."""

    @model_serializer
    def serialized(self) -> str:
        sys.exit(3)


async def odd() -> Result:
    """Returns what cannot be read."""
    return Result()


@pytest.mark.parametrize(("tool", "arguments"), [(picky, '{"day": "x"}'), (odd, "{}")])
async def test_what_reading_arguments_or_a_result_raises_is_a_failure_too(
    tool: Callable[..., Awaitable[object]], arguments: str
) -> None:
    outcome = await Session(tool_from_function(tool)).call(tool.__name__, arguments)

    assert isinstance(outcome, ToolFailed)
    assert "SystemExit: 3" in outcome.detail


@pytest.mark.parametrize("kind", [NotFoundError, BadInputError, ValueError])
async def test_an_error_whose_message_ends_the_process_is_told_without_it(
    kind: type[Exception],
) -> None:
    error = type("Odd", (kind,), {"__str__": exit_now})()
    outcome = await Session(tool_from_function(Broken(error).broken)).call("broken")

    assert isinstance(outcome, ToolFailed)
    assert outcome.detail.endswith("its message cannot be read")


async def test_an_answer_after_its_time_does_not_close_the_circuit_that_its_timeouts_open() -> (
    None
):
    async def late() -> str:
        """Answers all the same when it is stopped."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "too late"
        return ""

    session = Session(tool_from_function(late))
    for number in range(5):
        session.request(f"t{number}", "late", timeout_s=1.0)
        await turn()
        session.clock.advance(1.0)
        await session.done()

    session.request("t5", "late", timeout_s=1.0)
    await turn()
    # Of no account where the tool is left alone; one that runs after all must end.
    session.clock.advance(1.0)
    await session.done()

    assert len(session.heard(ToolAnsweredLate)) == 5
    *timeouts, passed_over = session.heard(ToolFailed)
    assert [event.failure for event in timeouts] == ["timeout"] * 5
    assert "left alone for a while" in passed_over.detail
