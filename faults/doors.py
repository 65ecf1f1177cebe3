"""A port with faults at every method of it, whichever methods it has: so a new port is broken without being named."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from antiphon.faults.kinds import FOREVER_S
from antiphon.faults.passage import Meeting
from antiphon.faults.plan import Fault
from antiphon.faults.virtual import block
from antiphon.vocabulary.errors import SequenceError
from antiphon.vocabulary.ports import Clock

SLOW_S = 20.0
JUMP_S = 10.0
LOCKED_FOR = 3
"""Calls that a lock holds up after the first."""


class Door:
    """Stands before `inner`; satisfies whatever `inner` satisfies.

    Args:
        clock: What time passes on; None is the event loop's own.
        error: What a failing method of this port raises.
    """

    def __init__(
        self, inner: object, meeting: Meeting, prefix: str, clock: Clock | None, error: type[Exception]
    ) -> None:
        self._inner = inner
        self._meeting = meeting
        self._prefix = prefix
        self._sleep: Callable[[float], Any] = clock.sleep if clock is not None else asyncio.sleep
        self._error = error
        self._refusals = 0
        self._ahead_s = 0.0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found):
            return found
        if inspect.iscoroutinefunction(found):
            return self._later(name, found)
        return self._at_once(name, found)

    def _later(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        point = f"{self._prefix}.{name}"

        async def call(*args: Any, **named: Any) -> Any:
            fault = self._meeting.meet(point)
            if self._refusals:
                self._refusals -= 1
                raise self._error(f"{point}: injected: it is still refused")
            if fault is not None:
                await self._before(fault, point, args)
            return await method(*args, **named)

        return call

    async def _before(self, fault: Fault, point: str, args: tuple[Any, ...]) -> None:
        match fault.kind:
            case "hang" | "slow" | "late":
                default = {"hang": FOREVER_S, "slow": SLOW_S, "late": JUMP_S}[fault.kind]
                await self._sleep(fault.for_s or default)
            case "cancel":
                raise asyncio.CancelledError(f"injected at {point}")
            case "wrong_id" if args:
                raise SequenceError(str(args[0]), -1, 0)
            case _:
                self._raise(fault, point)

    def _at_once(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        point = f"{self._prefix}.{name}"

        def call(*args: Any, **named: Any) -> Any:
            fault = self._meeting.meet(point)
            if fault is not None:
                return self._spoiled(fault, point, method, args, named)
            return self._told(method(*args, **named))

        return call

    def _spoiled(
        self, fault: Fault, point: str, method: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]
    ) -> Any:
        match fault.kind:
            case "hang" | "slow":
                block(fault.for_s or (FOREVER_S if fault.kind == "hang" else SLOW_S))
            case "late":
                self._ahead_s += fault.for_s or JUMP_S
            case "empty":
                return []
            case "malformed":
                return [[float("nan")] * 3]
            case _:
                self._raise(fault, point)
        return self._told(method(*args, **named))

    def _told(self, value: Any) -> Any:
        """What comes back: a clock that jumped ahead stays ahead."""
        return value + self._ahead_s if self._ahead_s else value

    def _raise(self, fault: Fault, point: str) -> None:
        if fault.kind == "disk_full":
            self._refusals = 1_000_000
        elif fault.kind == "locked":
            self._refusals = LOCKED_FOR
        raise self._error(f"{point}: injected: {fault.kind}")
