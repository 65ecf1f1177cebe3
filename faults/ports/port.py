"""A port with faults at every method of it, whichever methods it has: so a new port is broken without being named."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from antiphon.faults.plan import Fault, Kind
from antiphon.faults.ports.injection import WAITS_S, QueryFaults
from antiphon.faults.ports.virtual_time import block
from antiphon.vocabulary.errors import SequenceError
from antiphon.vocabulary.ports import Clock

JUMP_S = 10.0
"""How far a clock that is `late` jumps ahead, in seconds."""
LOCKED_CALLS = 3
"""Calls that a lock holds up after the first."""
_ALL_CALLS = 1_000_000
_WRONG_RESULTS: dict[Kind, list[list[float]]] = {"empty": [], "malformed": [[float("nan")] * 3]}

query_faults: ContextVar[QueryFaults | None] = ContextVar("query_faults", default=None)
"""The faults of the query that runs in this context; None in one that nothing breaks."""


class FaultyPort:
    """Stands before `inner`; satisfies whatever `inner` satisfies.

    Args:
        prefix: The points of the port are called `prefix.method`.
        clock: What time passes on; None is the event loop's own.
        error: What a failing method of this port raises.
    """

    def __init__(
        self, inner: object, faults: QueryFaults, prefix: str, clock: Clock | None, error: type[Exception]
    ) -> None:
        self._inner = inner
        self._faults = faults
        self._prefix = prefix
        self._sleep: Callable[[float], Any] = asyncio.sleep if clock is None else clock.sleep
        self._error = error
        self._refusals = 0
        self._ahead_s = 0.0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found):
            return found
        if inspect.iscoroutinefunction(found):
            return self._asynchronous(name, found)
        return self._synchronous(name, found)

    def _asynchronous(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        point = f"{self._prefix}.{name}"

        async def call(*args: Any, **named: Any) -> Any:
            fault = self._faults.traverse(point)
            # A lock or a full disk outlasts the call that met it first.
            if self._refusals:
                self._refusals -= 1
                raise self._error(f"{point}: injected: it is still refused")
            if fault is not None:
                await self._break(fault, point, args)
            return await method(*args, **named)

        return call

    async def _break(self, fault: Fault, point: str, args: tuple[Any, ...]) -> None:
        """Breaks an asynchronous call before it begins."""
        if fault.kind in WAITS_S:
            await self._sleep(fault.for_s or WAITS_S[fault.kind])
        elif fault.kind == "late":
            await self._sleep(fault.for_s or JUMP_S)
        elif fault.kind == "cancel":
            raise asyncio.CancelledError(f"injected at {point}")
        elif fault.kind == "wrong_id" and args:
            raise SequenceError(str(args[0]), -1, 0)
        else:
            self._raise(fault, point)

    def _synchronous(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        point = f"{self._prefix}.{name}"

        def call(*args: Any, **named: Any) -> Any:
            fault = self._faults.traverse(point)
            if fault is not None and fault.kind in _WRONG_RESULTS:
                return _WRONG_RESULTS[fault.kind]
            if fault is not None:
                self._break_now(fault, point)
            result = method(*args, **named)
            # A clock that jumped ahead stays ahead: time never runs backwards.
            if self._ahead_s:
                result += self._ahead_s
            return result

        return call

    def _break_now(self, fault: Fault, point: str) -> None:
        """Breaks a call that returns at once before it begins."""
        if fault.kind in WAITS_S:
            block(fault.for_s or WAITS_S[fault.kind])
        elif fault.kind == "late":
            self._ahead_s += fault.for_s or JUMP_S
        else:
            self._raise(fault, point)

    def _raise(self, fault: Fault, point: str) -> None:
        if fault.kind == "disk_full":
            self._refusals = _ALL_CALLS
        elif fault.kind == "locked":
            self._refusals = LOCKED_CALLS
        raise self._error(f"{point}: injected: {fault.kind}")


class SharedPort:
    """A port that all queries share, broken only for the query that is to be broken."""

    def __init__(self, inner: object, prefix: str, error: type[Exception] = RuntimeError) -> None:
        self._inner = inner
        self._prefix = prefix
        self._error = error

    def __getattr__(self, name: str) -> object:
        # Looked up at each access, since the same object serves every query.
        faults = query_faults.get()
        if faults is None:
            return getattr(self._inner, name)
        return getattr(FaultyPort(self._inner, faults, self._prefix, None, self._error), name)
