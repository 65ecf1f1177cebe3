"""Processes that act as one part of the small service.

Their tools add a line to the file `calls` each time they run, so that tests can count the runs of each process.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import yaml

from antiphon.cluster import connect
from antiphon.dispatcher import Tool, tool_from_function
from antiphon.service.part_process import host_of
from antiphon.vocabulary.ports import ToolOutput
from antiphon.vocabulary.values import Passage, StoredText
from tests.small_service import house

STARTING_S = 60.0

# They fork from a process that has imported everything, because importing takes seconds.
_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["tests.acting_process"])


def found(word: str) -> ToolOutput:
    passage = Passage(
        id=f"p-{word}", source="Course", text=StoredText(f"All of {word}.")
    )
    return ToolOutput(text=f"Found {word}.", passages=(passage,))


def tools_in(folder: Path) -> tuple[Tool, ...]:
    """The same tools for sessions and acting processes."""

    def note(name: str) -> None:
        with (folder / "calls").open("a") as file:
            file.write(f"{name} {os.getpid()}\n")

    async def wait_for_go() -> None:
        while not (folder / "go").exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.02)

    async def lookup(word: str) -> ToolOutput:
        """Looks a word up.

        Args:
            word: The word.
        """
        note("lookup")
        return found(word)

    async def slow(word: str) -> ToolOutput:
        """Looks a word up slowly, until the test lets it go on.

        Args:
            word: The word.
        """
        note("slow")
        await wait_for_go()
        return found(word)

    async def fatal(word: str) -> str:
        """Ends the process.

        Args:
            word: Any.
        """
        note("fatal")
        os._exit(9)

    async def paying(word: str) -> str:
        """Changes something outside.

        Args:
            word: Any.
        """
        note("paying")
        await wait_for_go()
        return word

    made = [tool_from_function(tool) for tool in (lookup, slow, fatal)]
    return (*made, tool_from_function(paying, has_effects=True))


def calls(folder: Path) -> list[tuple[str, int]]:
    """The runs of tools, each with its process."""
    file = folder / "calls"
    if not file.exists():
        return []
    lines = [line.split() for line in file.read_text().splitlines()]
    return [(name, int(pid)) for name, pid in lines]


class ActingProcess:
    """A process that acts as one part of the service."""

    def __init__(self, room: str, url: str, folder: Path, prefix: str) -> None:
        self._ready, theirs = _forks.Pipe()
        self.process = _forks.Process(
            target=_act, args=(room, url, folder, prefix, theirs)
        )
        self.process.start()

    @property
    def pid(self) -> int:
        assert self.process.pid is not None
        return self.process.pid

    def wait_until_ready(self) -> None:
        assert self._ready.poll(STARTING_S)
        assert self._ready.recv() == "ready"

    def kill(self) -> None:
        self.process.kill()
        self.process.join(STARTING_S)

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)


@contextmanager
def acting(
    url: str, folder: Path, prefix: str, *rooms: str
) -> Iterator[list[ActingProcess]]:
    """Runs a process for each room, and kills them at the end."""
    started = [ActingProcess(room, url, folder, prefix) for room in rooms]
    try:
        for each in started:
            each.wait_until_ready()
        yield started
    finally:
        for each in started:
            each.kill()


async def until_called(folder: Path, name: str, times: int = 1) -> list[int]:
    """Waits until a tool has run `times` times, and returns the ids of the processes."""
    until = time.monotonic() + STARTING_S
    while time.monotonic() < until:
        pids = [pid for called, pid in calls(folder) if called == name]
        if len(pids) >= times:
            return pids
        await asyncio.sleep(0.02)
    raise AssertionError(f"{name} did not run {times} times: {calls(folder)}")


def _act(room: str, url: str, folder: Path, prefix: str, ready: Connection) -> None:
    asyncio.run(_main(room, url, folder, prefix, ready))


async def _main(
    room: str, url: str, folder: Path, prefix: str, ready: Connection
) -> None:
    script = yaml.safe_load((folder / "script.yaml").read_text())
    own = folder / f"acting-{os.getpid()}"
    own.mkdir()
    cluster = await connect(url, name="acting", prefix=prefix)
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    async with house(own, script, *tools_in(folder)) as small:
        host = host_of(room, small.resources, cluster)
        await host.start()
        ready.send("ready")
        await stopped.wait()
        await host.leave()
    await cluster.close()
