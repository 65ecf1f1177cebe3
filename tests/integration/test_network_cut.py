"""If the network is cut, the side with most of the servers goes on, the other refuses, and nothing stored is lost."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.nats_servers import BINARY
from tests.network import Network, NotAllowedError, address, network

WITHIN_S = 300.0
"""TCP tries again as long after a cut as the cut lasted, at most 120 s."""
MORE = 40
"""Appends of the majority in which the minority must not have made one."""


@pytest.fixture
def machines() -> Iterator[Network]:
    with ExitStack() as stack:
        try:
            made = stack.enter_context(network(3))
        except NotAllowedError as error:
            reason = f"the cut of a network is NOT tested: no namespaces here ({error})"
            warnings.warn(reason, stacklevel=1)
            pytest.skip(reason)
        yield made


def until(holds: Callable[[], bool], what: str, writer: Writer | None = None) -> None:
    limit = time.monotonic() + WITHIN_S
    while not holds():
        if time.monotonic() > limit:
            said: list[str] = []
            if writer is not None:
                # Each once: thousands of refusals alike would hide the first one.
                said = list(dict.fromkeys(writer.file.read_text().splitlines()))[-40:]
            pytest.fail("\n".join([f"not within {WITHIN_S} s: {what}", *said]))
        time.sleep(0.05)


def url(*numbers: int) -> str:
    return ",".join(f"nats://{address(number)}:4222" for number in numbers)


def start_servers(stack: ExitStack, machines: Network, folder: Path) -> None:
    routes = ",".join(f"nats://{address(each)}:6222" for each in machines.machines)
    for machine in machines.machines:
        command = machines.on(
            machine, str(BINARY), "--addr", address(machine), "--port", "4222", "--jetstream",
            "--server_name", f"n{machine}", "--store_dir", str(folder / f"n{machine}"),
            "--cluster_name", "cut", "--cluster", f"nats://{address(machine)}:6222", "--routes", routes,
        )  # fmt: skip
        _run(stack, command)


def _run(stack: ExitStack, command: list[str]) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process


class Writer:
    """A process on one machine that appends to a trace of its own."""

    def __init__(
        self, stack: ExitStack, machines: Network, on: int, servers: str, file: Path
    ) -> None:
        self.file = file
        file.touch()
        self.process = _run(
            stack,
            machines.on(
                on, sys.executable, "-m", "tests.cut_writer", "write", servers, file.stem, str(file)
            ),
        )  # fmt: skip

    def numbers(self, said: str) -> list[int]:
        # One that is being written has no end yet.
        whole, _, _ = self.file.read_text().rpartition("\n")
        lines = [line.split() for line in whole.splitlines()]
        return [int(line[1]) for line in lines if line[0] == said]

    @property
    def stored(self) -> int:
        return len(self.numbers("stored"))

    def stop(self) -> None:
        self.file.with_suffix(".stop").touch()
        self.process.wait(WITHIN_S)


def test_a_cut_network_stops_the_minority_alone_and_loses_nothing(
    machines: Network, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        start_servers(stack, machines, tmp_path)
        few = Writer(stack, machines, 1, url(1), tmp_path / "few.txt")
        many = Writer(stack, machines, 2, url(2, 3), tmp_path / "many.txt")
        until(lambda: few.stored > 10 and many.stored > 10, "both write at first")

        machines.cut(1)
        # Not counted: one whose answer was on its way, and those from when the servers had no leader yet.
        refused = len(few.numbers("refused"))
        until(lambda: len(few.numbers("refused")) > refused + 1, "the minority refuses")
        before = few.stored
        reached = many.stored
        until(lambda: many.stored > reached + MORE, "the majority goes on")
        after = few.stored
        machines.heal(1)
        until(lambda: few.stored > after + MORE, "the minority comes back", few)

        for writer in (few, many):
            writer.stop()
        found = {
            writer.file.stem: read(machines, writer.file.stem) for writer in (few, many)
        }

    assert after == before
    for writer in (few, many):
        stored = found[writer.file.stem]
        assert stored == list(range(1, len(stored) + 1))
        assert set(writer.numbers("stored")) <= set(stored)


def read(machines: Network, trace: str) -> list[int]:
    command = machines.on(
        3, sys.executable, "-m", "tests.cut_writer", "read", url(3, 2), trace
    )
    run = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=WITHIN_S
    )
    found: list[int] = json.loads(run.stdout)
    return found
