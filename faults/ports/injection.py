"""The faults of one query while it runs, and the port that breaks any object's methods with them.

Counts the traversals of points, so that a plan has the same effect every time. Breaks a port at all its methods, so
that new ports need no entry here.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from antiphon.bus import handled_seq
from antiphon.dispatcher import run_in_threads
from antiphon.faults.plan import Fault, Kind, When, point_type
from antiphon.faults.ports.virtual_time import block, block_loop
from antiphon.vocabulary.errors import SequenceError, ServiceError
from antiphon.vocabulary.events import Event
from antiphon.vocabulary.ports import Clock
from antiphon.vocabulary.values import Value

FOREVER_S = 3_600.0
"""Longer than any deadline."""
WAITS_S: dict[Kind, float] = {"hang": FOREVER_S, "slow": 20.0}
"""Seconds that tools and ports wait: for `slow` longer than the time limit of a tool call."""
BLOCK_S = 2.0
"""Seconds for which `block` blocks the event loop."""


class InjectedError(ServiceError):
    """An injected `raise` at a point that has no error of its own."""

    code = "injected"


RAISED: Mapping[Kind, Callable[[str], BaseException]] = {
    "raise": InjectedError,
    "cancel": asyncio.CancelledError,
    "exit": SystemExit,
}
"""The exceptions of kinds of faults that raise at any point."""


class Fired(Value, frozen=True, kw_only=True):
    """A fault that fired, and the part of the query in which it fired."""

    point: str
    kind: str
    when: When


class QueryFaults:
    """The faults of one query, and their effects.

    Attributes:
        part: The current part of the query.
        traversed: Every traversed point, with the part of the query.
        fired: Every fault that fired, in order.
        lost: Events that a fault kept out of the trace or duplicated.
        undelivered: Events that a fault kept from a component, as pairs of kind and component.
        raised: Points at which an injected error was really raised, which work that ends before it begins does not do.
        delayed: Work with a delayed start; the harness closes it after the query in case it never began.
        closing: True once the end of the query was published.
        stored_seq: The last event that the store has accepted.
        blocked_s: Seconds for which the faults blocked the event loop.
        unimplemented: Faults that fired at a point that cannot carry them out, in words: a bug of the harness.
        acted_unstored: The first event that was acted on before it was stored; 0 if there is none.
    """

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.part: When = "start"
        self.traversed: set[tuple[str, When]] = set()
        self.fired: list[Fired] = []
        self.lost: list[Event] = []
        self.undelivered: set[tuple[str, str]] = set()
        self.raised: list[str] = []
        self.delayed: list[Coroutine[Any, Any, None]] = []
        self.closing = False
        self.stored_seq = 0
        self.acted_unstored = 0
        self.blocked_s = 0.0
        self.unimplemented: list[str] = []
        self._counted = list(map(_CountedFault, faults))

    def traverse(self, point: str) -> Fault | None:
        """Counts a traversal of `point`; returns the fault that fires there now, or None."""
        self.traversed.add((point, self.part))
        first: Fault | None = None
        for counted in self._counted:
            # All faults count the traversal, even if an earlier one fires, so that faults do not shift each other.
            fires = counted.fires_at(point, self.part)
            if fires and first is None:
                first = counted.fault
        if first is not None:
            self.fired.append(Fired(point=point, kind=first.kind, when=self.part))
        return first

    def count_past(self, point: str, when: When) -> None:
        """Counts a traversal from before the query was resumed or forked, without firing a fault."""
        for counted in self._counted:
            counted.fires_at(point, when)

    def note_call(self) -> None:
        """Notes a call of a model or tool; the event that led to it should already be stored."""
        seq = handled_seq()
        # Keeps only the first one, from which the later ones follow.
        if seq > self.stored_seq and self.acted_unstored == 0:
            self.acted_unstored = seq

    def error_of(self, fault: Fault, point: str) -> BaseException:
        """Returns the exception of a fault that has no other effect at its point."""
        raised = RAISED.get(fault.kind)
        if raised is None:
            self.unimplemented.append(f"{fault.kind} at {point}")
            raised = InjectedError
        return raised(f"{point}: injected: {fault.kind}")

    def block(self, fault: Fault) -> None:
        """Blocks the event loop."""
        seconds = fault.seconds(BLOCK_S)
        self.blocked_s += seconds
        block_loop(seconds)

    async def break_call(
        self,
        fault: Fault,
        point: str,
        sleep: Callable[[float], Awaitable[None]],
        waits_s: Mapping[Kind, float] = WAITS_S,
    ) -> None:
        """Breaks a call in a way that suits any asynchronous port: waits, blocks, or raises.

        Args:
            waits_s: Seconds of wait by kind of fault, unless the fault names its own.
        """
        if fault.kind in waits_s:
            await sleep(fault.seconds(waits_s[fault.kind]))
        elif fault.kind == "block":
            self.block(fault)
        elif fault.kind == "stuck":
            await run_in_threads(block)(seconds=fault.seconds(FOREVER_S))
        else:
            raise self.error_of(fault, point)

    def note_raised(self, point: str) -> None:
        """Notes an injected error if the query can still record it."""
        if not self.closing:
            self.raised.append(point)


class _CountedFault:
    """A fault, with the number of traversals of its point."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self._traversals = 0

    def fires_at(self, point: str, when: When) -> bool:
        """Counts a traversal of the fault's own point; returns True if the fault fires at it."""
        if self.fault.when not in ("any", when):
            return False
        # A pattern may also match points that do not know the kind, which it does not mean.
        if (
            not self.fault.is_at(point)
            or self.fault.kind not in point_type(point).kinds
        ):
            return False
        self._traversals += 1
        first = self.fault.nth
        if self._traversals < first:
            return False
        if self.fault.times == 0:
            return True
        return self._traversals < first + self.fault.times


JUMP_S = 10.0
"""The seconds by which a clock that is `late` jumps ahead."""
_PORT_WAITS_S: dict[Kind, float] = {**WAITS_S, "late": JUMP_S}
"""Seconds that an asynchronous method of a port waits; includes a late return from a clock's sleep."""
LOCKED_CALLS = 3
"""Calls that a lock holds up after the first."""
_ALL_CALLS = 1_000_000
_REFUSALS: Mapping[Kind, int] = {
    "raise": 0,
    "disk_full": _ALL_CALLS,
    "locked": LOCKED_CALLS,
}
"""Kinds that raise a port's own error, and the number of further calls that also get it."""
_WRONG_RESULTS: dict[Kind, list[list[float]]] = {
    "empty": [],
    "malformed": [[float("nan")] * 3],
}

query_faults: ContextVar[QueryFaults | None] = ContextVar("query_faults", default=None)
"""The faults of the query that runs in this context; None for an unbroken one."""


class FaultyPort:
    """A proxy of `inner` that satisfies all of its protocols, with faults.

    Args:
        prefix: The points of the port are named `prefix.method`.
        clock: The clock for waits; None: the event loop's own.
        error: The exception of a failing method of this port.
    """

    def __init__(
        self,
        inner: object,
        faults: QueryFaults,
        prefix: str,
        clock: Clock | None,
        error: type[Exception],
    ) -> None:
        self._inner = inner
        self._faults = faults
        self._prefix = prefix
        self._sleep: Callable[[float], Any] = (
            clock.sleep if clock is not None else asyncio.sleep
        )
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

    def _asynchronous(
        self, name: str, method: Callable[..., Any]
    ) -> Callable[..., Any]:
        point = f"{self._prefix}.{name}"

        async def call(*args: Any, **named: Any) -> Any:
            fault = self._faults.traverse(point)
            # A lock or a full disk outlasts the first call that meets it.
            if self._refusals:
                self._refusals -= 1
                raise self._error(f"{point}: injected: it is still refused")
            if fault is not None:
                await self._break(fault, point, args)
            return await method(*args, **named)

        return call

    async def _break(self, fault: Fault, point: str, args: tuple[Any, ...]) -> None:
        """Breaks an asynchronous call before it begins."""
        if fault.kind in _PORT_WAITS_S:
            await self._sleep(fault.seconds(_PORT_WAITS_S[fault.kind]))
        elif fault.kind == "wrong_id" and args:
            raise SequenceError(str(args[0]), -1, 0)
        else:
            raise self._error_of(fault, point)

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
        """Breaks a synchronous call before it begins."""
        if fault.kind in WAITS_S:
            block(fault.seconds(WAITS_S[fault.kind]))
        elif fault.kind == "late":
            self._ahead_s += fault.seconds(JUMP_S)
        else:
            raise self._error_of(fault, point)

    def _error_of(self, fault: Fault, point: str) -> BaseException:
        if fault.kind not in _REFUSALS:
            return self._faults.error_of(fault, point)
        self._refusals = _REFUSALS[fault.kind]
        return self._error(f"{point}: injected: {fault.kind}")


class SharedPort:
    """A port that all queries share; breaks calls only for queries with faults."""

    def __init__(
        self, inner: object, prefix: str, error: type[Exception] = RuntimeError
    ) -> None:
        self._inner = inner
        self._prefix = prefix
        self._error = error

    def __getattr__(self, name: str) -> object:
        # Looked up at each access, because one object serves all queries.
        faults = query_faults.get()
        if faults is None:
            return getattr(self._inner, name)
        return getattr(
            FaultyPort(self._inner, faults, self._prefix, None, self._error), name
        )
