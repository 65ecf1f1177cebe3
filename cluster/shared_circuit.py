"""The provider's circuit, shared by all processes: failures of any process open it, and one query of one probes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

from antiphon.cluster.shared_state import SharedValue
from antiphon.vocabulary.circuit import Circuit
from antiphon.vocabulary.errors import RemoteError

log = structlog.get_logger(__name__)

LOOK_S = 1.0
"""Seconds between two reads of what other processes have noted."""

Rule = Callable[[Circuit], Circuit]


class SharedCircuit:
    """The shared circuit as one process holds it; satisfies `CircuitHolder`.

    A success or failure counts here at once, and for the others as soon as the servers have it. If the servers do not
    answer, each process uses its own circuit.

    Args:
        shared: The value that all share.
        new: A closed circuit.
    """

    def __init__(
        self, shared: SharedValue[Circuit], new: Circuit, look_s: float = LOOK_S
    ) -> None:
        self.value = new
        self._shared = shared
        self._new = new
        self._look_s = look_s
        self._may_probe = False
        self._asks = False
        self._alone = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._watch: asyncio.Task[None] | None = None

    def enter(self, now: float) -> bool:
        """Lets a call through; through an open circuit only a probe for which this process has won the right.

        The first call after the circuit's rest asks for that right and is kept out itself; the process that gets it
        lets its next call through.
        """
        self.start()
        if not self.value.is_open:
            return True
        if self._may_probe:
            self._may_probe = False
            return True
        if self.value.allows(now) and not self._asks:
            self._asks = True
            self._begin(self._win_probe(now))
        return False

    def succeeded(self) -> None:
        """Notes a success, which changes nothing in a closed circuit without failures."""
        self.start()
        if self.value.failures:
            self.value = self.value.succeeded()
            self._begin(self._apply(Circuit.succeeded))

    def failed(self, now: float) -> None:
        """Notes a failure."""
        self.start()
        self.value = self.value.failed(now)
        self._begin(self._apply(lambda circuit: circuit.failed(now)))

    def start(self) -> None:
        """Begins to read what other processes note."""
        if self._watch is None:
            self._watch = asyncio.get_running_loop().create_task(
                self._look(), name="watch the provider's circuit"
            )

    async def close(self) -> None:
        """Ends all tasks."""
        tasks = [*self._tasks]
        if self._watch is not None:
            tasks.append(self._watch)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _look(self) -> None:
        while True:
            try:
                newest = await self._shared.read()
                # A change by this process that is still under way is newer than the value just read.
                if not self._tasks:
                    self.value = newest or self._new
                self._alone = False
            except RemoteError as error:
                self._note_alone(error)
            await asyncio.sleep(self._look_s)

    async def _apply(self, rule: Rule) -> None:
        try:
            self.value = await self._shared.change(
                lambda circuit: rule(circuit or self._new)
            )
        except RemoteError as error:
            self._note_alone(error)

    async def _win_probe(self, now: float) -> None:
        won = False

        def enter(circuit: Circuit | None) -> Circuit:
            nonlocal won
            before = circuit or self._new
            won = before.allows(now)
            if not won:
                return before
            return before.entered(now)

        try:
            self.value = await self._shared.change(enter)
        # Without the servers each process probes for itself.
        except RemoteError as error:
            self._note_alone(error)
            won = self.value.allows(now)
            self.value = self.value.entered(now)
        # If the circuit has closed meanwhile, calls need no right.
        self._may_probe = won and self.value.is_open
        self._asks = False

    def _note_alone(self, error: RemoteError) -> None:
        """Logs, once for each outage, that this process uses its own circuit."""
        if not self._alone:
            log.warning("circuit_alone", error=str(error))
        self._alone = True

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
