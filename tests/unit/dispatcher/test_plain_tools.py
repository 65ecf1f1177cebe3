"""A plain function is a tool like any other: it runs in a thread, with the same limits and the same arguments."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import pytest

from antiphon.dispatcher import tool_from_function
from antiphon.dispatcher.threads import MOST_THREADS
from antiphon.vocabulary.errors import ToolDefinitionError
from antiphon.vocabulary.events import ToolFailed, ToolStarted, ToolSucceeded
from antiphon.vocabulary.values import Passage
from tests.unit.dispatcher.fakes import Session, turn

LONG_S = 60.0
ROOT = Path(__file__).parents[3]


async def test_it_runs_in_a_thread_with_what_it_is_handed() -> None:
    threads: list[int] = []

    def enrol(student: str, key: str, known: Sequence[Passage]) -> str:
        """Enrols a student."""
        threads.append(threading.get_ident())
        return f"{student} {len(key)} {len(known)}"

    tool = tool_from_function(enrol, key_parameter="key", known_parameter="known")
    outcome = await Session(tool).call("enrol", '{"student": "Ada"}')

    assert isinstance(outcome, ToolSucceeded)
    assert outcome.output.text == "Ada 32 0"
    assert threading.get_ident() not in threads


async def test_what_an_undecorated_async_function_would_return_is_awaited() -> None:
    async def asked(name: str) -> str:
        await asyncio.sleep(0)
        return f"{name} was asked"

    def decorated(name: str) -> object:
        """Asks somebody."""
        return asked(name)

    outcome = await Session(tool_from_function(decorated)).call(
        "decorated", '{"name": "Ada"}'
    )

    assert isinstance(outcome, ToolSucceeded)
    assert outcome.output.text == "Ada was asked"


def exhausted() -> object:
    """Asks an iterator that has nothing more."""
    return next(iter(()))


def exits() -> NoReturn:
    """Ends the process."""
    raise SystemExit(3)


@pytest.mark.parametrize("fails", [exhausted, exits])
async def test_whatever_it_raises_fails_its_call(fails: Callable[[], object]) -> None:
    outcome = await Session(tool_from_function(fails)).call(fails.__name__)

    assert isinstance(outcome, ToolFailed)
    assert outcome.failure == "error"


async def test_calls_beyond_the_threads_wait_and_never_begin_once_their_time_is_up() -> (
    None
):
    over, begun = threading.Event(), threading.Semaphore(0)
    ran: list[int] = []

    def hangs(number: int) -> str:
        """Waits until the test is over."""
        ran.append(number)
        begun.release()
        over.wait(LONG_S)
        return "late"

    session = Session(tool_from_function(hangs))
    for number in range(MOST_THREADS + 2):
        session.request(f"t{number}", "hangs", f'{{"number": {number}}}')
    await turn()
    for _ in range(MOST_THREADS):
        assert begun.acquire(timeout=LONG_S)
    session.clock.advance(10.0)
    await session.done()
    over.set()

    assert len(session.heard(ToolStarted)) == MOST_THREADS + 2
    failures = [event.failure for event in session.heard(ToolFailed)]
    assert failures == ["timeout"] * (MOST_THREADS + 2)
    assert sorted(ran) == list(range(MOST_THREADS))
    # The threads are free again, for what they were at has ended; and the tool's circuit has rested.
    session.clock.advance(60.0)
    session.request("again", "hangs", '{"number": 99}')
    await session.done()
    assert [event.output.text for event in session.heard(ToolSucceeded)] == ["late"]


PROGRAM = """
import asyncio, threading
from antiphon import tool

def hangs() -> str:
    '''Never comes back.'''
    threading.Event().wait()
    return ""

async def main() -> None:
    try:
        await asyncio.wait_for(tool(hangs).run(), 0.1)
    except TimeoutError:
        print("given up", flush=True)

asyncio.run(main())
"""


def test_a_program_ends_though_one_never_comes_back() -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=LONG_S,
    )

    assert run.stdout == "given up\n"


def yields(name: str) -> Iterator[str]:
    """Yields."""
    yield name


async def yields_later(name: str) -> AsyncIterator[str]:
    """Yields."""
    yield name


@pytest.mark.parametrize("function", [yields, yields_later])
def test_a_function_that_yields_is_refused(function: Callable[..., object]) -> None:
    with pytest.raises(ToolDefinitionError, match="return them all, in a list"):
        tool_from_function(function)
