"""What code from outside raises ends that code alone; what is meant to end more than it still does."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from antiphon.vocabulary.containment import contained, failure_of, words_of


async def _raises(error: BaseException) -> None:
    raise error


async def test_a_plain_error_stays_what_it_is() -> None:
    error = ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await contained(_raises(error))
    assert failure_of(error) is error


async def test_a_real_cancellation_gets_through_whatever_the_code_makes_of_it() -> None:
    async def exits_when_stopped() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            sys.exit(3)

    for work in (asyncio.Event().wait(), exits_when_stopped()):
        task = asyncio.create_task(contained(work))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])

        assert task.cancelled()


async def test_a_coroutine_that_is_closed_from_outside_is_closed() -> None:
    coroutine = contained(asyncio.Event().wait())
    task = asyncio.create_task(coroutine)
    await asyncio.sleep(0)

    coroutine.close()

    task.cancel()
    await asyncio.wait([task])


def test_ctrl_c_gets_through_where_it_raises_and_ends_the_process() -> None:
    program = """
import os, signal
from antiphon.vocabulary.containment import failure_of
try:
    os.kill(os.getpid(), signal.SIGINT)
except BaseException as error:
    failure_of(error)
print("went on")
"""
    signal_of_shells = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        ended = subprocess.run(
            [sys.executable, "-c", program],
            env=dict(os.environ),
            capture_output=True,
            text=True,
        )
    finally:
        signal.signal(signal.SIGINT, signal_of_shells)

    assert ended.returncode == -signal.SIGINT
    assert ended.stdout == ""


def test_an_error_is_told_also_where_its_message_cannot_be_read() -> None:
    class Unreadable(Exception):
        def __str__(self) -> str:
            sys.exit(3)

    assert words_of(Unreadable()) == "Unreadable: its message cannot be read"
    assert words_of(ValueError()) == "ValueError"
    assert words_of(failure_of(SystemExit(3))) == (
        "it tried to end the process (SystemExit: 3)"
    )
