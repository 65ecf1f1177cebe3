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


async def test_calls_run_at_once_finish_in_any_order_and_settle_once_in_the_confirmed_order() -> (
    None
):
    gates = Gates()
    session = Session(tool_from_function(gates.wait))
    for name in ("a", "b", "c"):
        session.request(name, "wait", f'{{"name": "{name}"}}')
    session.confirm("a", "b", "c")

    for name in ("c", "a", "b"):
        await turn()
        assert session.settled() == []
        gates.gate(name).set()
    await session.done()

    assert [event.name for event in session.heard(ToolStarted)] == ["wait"] * 3
    outcomes = {
        event.tool_call_id: event.output.text for event in session.heard(ToolSucceeded)
    }
    assert list(outcomes) == ["c", "a", "b"]
    assert outcomes == {name: f"{name} is open" for name in ("a", "b", "c")}
    (settled,) = session.settled()
    assert (settled.succeeded, settled.failed) == (("a", "b", "c"), ())
    assert session.running() == 0


async def test_outcomes_that_came_before_the_confirmation_settle_at_the_confirmation() -> (
    None
):
    session = Session(tool_from_function(Broken().broken))
    session.request("t1", "broken")
    session.request("t2", "no_such_tool")
    await session.done()

    session.confirm("t2", "t1")

    (settled,) = session.settled()
    assert (settled.succeeded, settled.failed) == (("t1",), ("t2",))


def test_a_round_of_no_calls_is_settled_at_once() -> None:
    session = Session()

    session.confirm(round_number=2)

    (settled,) = session.settled()
    assert (settled.round, settled.succeeded, settled.failed) == (2, (), ())


async def test_a_call_that_the_reply_took_back_does_not_hold_the_round_up() -> None:
    gates = Gates()
    session = Session(
        tool_from_function(gates.wait), tool_from_function(Broken().broken)
    )
    session.request("streamed", "wait", '{"name": "never"}')
    session.request("t1", "broken")
    await turn()

    session.confirm("t1")

    assert session.settled()[0].succeeded == ("t1",)
    await session.close()


async def test_a_repeated_call_id_runs_once() -> None:
    session = Session(tool_from_function(Broken().broken))

    for _ in range(2):
        session.request("t1", "broken")
        session.request("t1", "broken")
        await session.done()

    assert len(session.heard(ToolStarted)) == len(session.heard(ToolSucceeded)) == 1


@pytest.mark.parametrize(
    ("asked_s", "own_s", "limit_s"), [(10, 3, 3), (2, 3, 2), (2, None, 2)]
)
async def test_a_call_times_out_at_the_sooner_of_its_two_limits(
    asked_s: float, own_s: float | None, limit_s: float
) -> None:
    session = Session(tool_from_function(Gates().wait, timeout_s=own_s))
    session.request("t1", "wait", '{"name": "never"}', timeout_s=asked_s)
    session.confirm("t1")
    await turn()

    session.clock.advance(limit_s - 0.01)
    await turn()
    assert session.heard(ToolFailed) == []
    session.clock.advance(0.01)
    await session.done()

    (failed,) = session.heard(ToolFailed)
    assert (failed.failure, failed.detail) == (
        "timeout",
        f"wait took longer than {limit_s} s and was stopped.",
    )
    assert failed.duration_ms == pytest.approx(limit_s * 1000)
    assert session.settled()[0].failed == ("t1",)
    assert session.running() == 0


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


async def test_duration_is_measured_by_the_clock() -> None:
    gates = Gates()
    session = Session(tool_from_function(gates.wait))
    session.request("t1", "wait", '{"name": "a"}')
    await turn()

    session.clock.advance(1.25)
    gates.gate("a").set()
    await session.done()

    assert session.heard(ToolSucceeded)[0].duration_ms == 1250.0


async def test_abandoned_calls_are_stopped_and_end_as_failed_and_other_ids_are_ignored() -> (
    None
):
    gates = Gates()
    session = Session(tool_from_function(gates.wait))
    for name in ("a", "b"):
        session.request(name, "wait", f'{{"name": "{name}"}}')
    session.confirm("a", "b")
    await turn()

    session.abandon("a", "c1", "nobody")
    session.abandon("a")
    gates.gate("b").set()
    await session.done()

    (failed,) = session.heard(ToolFailed)
    assert (failed.tool_call_id, failed.failure) == ("a", "abandoned")
    assert failed.detail == "wait was stopped: the deadline is near"
    (settled,) = session.settled()
    assert (settled.succeeded, settled.failed) == (("b",), ("a",))
    assert session.running() == 0


async def test_a_call_abandoned_before_it_could_begin_still_ends() -> None:
    session = Session(tool_from_function(Broken().broken))
    session.request("t1", "broken")

    session.abandon("t1")
    await session.done()

    assert [event.failure for event in session.heard(ToolFailed)] == ["abandoned"]
    assert session.heard(ToolSucceeded) == []


async def test_a_tool_that_will_not_be_cancelled_changes_nothing_afterwards() -> None:
    async def stubborn() -> str:
        """Makes an error of its cancellation."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as error:
            raise ValueError("not now") from error
        return ""

    spare = tool_from_function(Broken().broken)
    session = Session(
        tool_from_function(stubborn, retry_safe=True, substitutes=("broken",)), spare
    )
    session.request("t1", "stubborn")
    await turn()

    session.abandon("t1")
    await session.done()

    assert [type(event).__name__ for event in session.published] == [
        "ToolStarted",
        "ToolFailed",
    ]


async def test_cancelling_the_session_says_nothing_and_leaves_nothing() -> None:
    session = Session(tool_from_function(Gates().wait))
    session.request("t1", "wait", '{"name": "never"}')
    await turn()

    await session.close()

    assert session.heard(ToolFailed) == []
    assert session.running() == 0


class Stop(BaseException):
    pass


@pytest.mark.parametrize(
    ("raised", "detail"),
    [
        (SystemExit(3), "it tried to end the process (SystemExit: 3)"),
        (KeyboardInterrupt(), "it tried to end the process (KeyboardInterrupt)"),
        (GeneratorExit(), "GeneratorExit"),
        (
            asyncio.CancelledError(),
            "work that it had started was cancelled (CancelledError)",
        ),
        (Stop("now"), "Stop: now"),
        (RecursionError("too deep"), "RecursionError: too deep"),
        (MemoryError(), "MemoryError"),
    ],
)
async def test_whatever_a_tool_raises_is_a_failure_of_its_call(
    raised: BaseException, detail: str
) -> None:
    outcome = await Session(tool_from_function(Broken(raised).broken)).call("broken")

    assert isinstance(outcome, ToolFailed)
    assert (outcome.failure, outcome.detail) == ("error", f"broken failed: {detail}")


async def test_what_a_tool_makes_of_its_cancellation_keeps_no_task_alive() -> None:
    async def stubborn() -> str:
        """Tries to end the process when it is stopped."""
        try:
            await asyncio.Event().wait()
        finally:
            sys.exit(3)

    session = Session(tool_from_function(stubborn, retry_safe=True))
    session.request("t1", "stubborn")
    await turn()

    await session.close()

    assert session.heard(ToolFailed) == []
    assert len(session.heard(ToolStarted)) == 1
    assert session.running() == 0


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


async def test_an_error_is_told_by_type_and_message_on_one_bounded_line() -> None:
    outcome = await Session(
        tool_from_function(Broken(ValueError("bad\nvalue " + "x" * 10_000)).broken)
    ).call("broken")

    assert isinstance(outcome, ToolFailed)
    assert outcome.failure == "error"
    assert outcome.detail.startswith("broken failed: ValueError: bad value xxx")
    assert len(outcome.detail) < 700


async def test_an_error_that_cannot_even_be_printed_is_told() -> None:
    class Unprintable(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    outcome = await Session(tool_from_function(Broken(Unprintable()).broken)).call(
        "broken"
    )

    assert isinstance(outcome, ToolFailed)
    assert "Unprintable" in outcome.detail


async def test_a_tool_that_is_safe_to_retry_is_run_once_more_at_once() -> None:
    session = Session(
        tool_from_function(Broken(OSError("reset")).broken, retry_safe=True)
    )

    outcome = await session.call("broken")

    assert isinstance(outcome, ToolSucceeded)
    assert [event.name for event in session.heard(ToolStarted)] == ["broken", "broken"]


async def test_a_tool_that_is_not_safe_to_retry_runs_once() -> None:
    session = Session(tool_from_function(Broken(OSError("reset")).broken))

    outcome = await session.call("broken")

    assert isinstance(outcome, ToolFailed)
    assert len(session.heard(ToolStarted)) == 1


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (NotFoundError("No such lake."), "not_found"),
        (BadInputError("The day is past."), "invalid_arguments"),
    ],
)
async def test_a_tool_may_say_that_the_question_is_at_fault_and_nothing_else_is_tried(
    error: Exception, failure: str
) -> None:
    tool = tool_from_function(
        Broken(error).broken, name="first", retry_safe=True, substitutes=("second",)
    )
    session = Session(tool, tool_from_function(Broken().broken, name="second"))

    outcome = await session.call("first")

    assert isinstance(outcome, ToolFailed)
    assert (outcome.failure, outcome.detail) == (failure, str(error))
    assert len(session.heard(ToolStarted)) == 1


async def test_two_sessions_with_the_same_call_ids_never_mix() -> None:
    gates = Gates()
    tool = tool_from_function(gates.wait)
    sessions = [Session(tool), Session(tool)]
    for number, session in enumerate(sessions):
        session.request("t1", "wait", f'{{"name": "{number}"}}')
    for number in (1, 0):
        gates.gate(str(number)).set()
    for session in sessions:
        await session.done()

    texts = [session.heard(ToolSucceeded)[0].output.text for session in sessions]
    assert texts == ["0 is open", "1 is open"]


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
