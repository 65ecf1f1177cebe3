"""Faults in the calls that leave the process: to a model (its request, its stream, its reply) and to tools."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple, TypeVar

from antiphon.dispatcher import Tool
from antiphon.engine import SUMMARY_PROMPT
from antiphon.faults.plan import SUMMARY, Fault, Kind
from antiphon.faults.ports.injection import FOREVER_S, QueryFaults
from antiphon.faults.ports.replies import CORRUPTIONS, corrupted_stream
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Clock, Json, Model
from antiphon.vocabulary.values import Request

Piece = TypeVar("Piece")
STUBBORN_S = 2.0
"""Seconds for which a `late` tool keeps running after its cancellation."""
OVERSIZED_CHARS = 3_000_000


class FaultyModel:
    """Satisfies `vocabulary.ports.Model`, with faults.

    Args:
        prefix: The prefix of this model's points.
    """

    def __init__(
        self, inner: Model, faults: QueryFaults, prefix: str, clock: Clock
    ) -> None:
        self._inner = inner
        self._faults = faults
        self._prefix = prefix
        self._clock = clock

    @property
    def name(self) -> str | None:
        return self._inner.name

    async def stream(self, request: Request, timeout_s: float) -> AsyncIterator[Json]:
        self._faults.note_call()
        prefix = SUMMARY if request.system == SUMMARY_PROMPT else self._prefix
        point = f"{prefix}.request"
        fault = self._faults.traverse(point)
        if fault is not None:
            if fault.kind == "empty":
                return
            await self._break(fault, point, timeout_s)
        content = self._faults.traverse(f"{prefix}.content")
        events = self._inner.stream(request, timeout_s)
        if content is not None and content.kind not in CORRUPTIONS:
            raise self._faults.error_of(content, f"{prefix}.content")
        # A reply that is wrong as a whole does not also break on its way.
        place = f"{prefix}.stream."
        broken = (
            broken_stream(
                events,
                places_of,
                lambda at: self._faults.traverse(f"{place}{at}"),
                lambda event, fault: self._replaced(event, fault, place, timeout_s),
            )
            if content is None
            else _corrupted(events, content.kind)
        )
        async for event in broken:
            yield event

    async def _replaced(
        self, event: Json, fault: Fault, point: str, timeout_s: float
    ) -> list[Json]:
        """Returns the events that replace `event`."""
        if fault.kind == "malformed":
            return [{"type": "content_block_delta", "index": "none", "delta": 7}]
        if fault.kind == "duplicate":
            return [event, event]
        await self._break(fault, point, timeout_s)
        return [event]

    async def _break(self, fault: Fault, point: str, timeout_s: float) -> None:
        if fault.kind in _REFUSALS:
            refusal = _REFUSALS[fault.kind]
            raise ModelError(
                refusal.failure,
                f"injected: {refusal.why}",
                retryable=refusal.retryable,
                retry_after_s=refusal.retry_after_s,
            )
        # A slow model answers just after the time limit of this call.
        waits_s: dict[Kind, float] = {"hang": FOREVER_S, "slow": timeout_s + 1.0}
        await self._faults.break_call(fault, point, self._clock.sleep, waits_s)


async def broken_stream(
    pieces: AsyncIterator[Piece],
    places: Callable[[Piece], Sequence[str]],
    traverse: Callable[[str], Fault | None],
    replaced: Callable[[Piece, Fault], Awaitable[Sequence[Piece]]],
) -> AsyncIterator[Piece]:
    """Passes the pieces of a stream on, with faults at its places.

    Args:
        places: Returns the places of the stream that a piece is at.
        traverse: Counts the traversal of a place; returns the fault that fires there.
        replaced: Returns the replacement of a piece; waits or raises itself if the fault demands it.
    """
    held: list[Piece] = []
    passed: set[str] = set()
    async for piece in pieces:
        reached = [place for place in places(piece) if place not in passed]
        passed.update(reached)
        # Only the first of several fires, because the stream does not reach the places after it.
        fault = next(filter(None, map(traverse, reached)), None)
        if fault is None:
            following: Sequence[Piece] = [piece]
        elif fault.kind == "truncate":
            return
        elif fault.kind == "reorder":
            held.append(piece)
            continue
        else:
            following = await replaced(piece, fault)
        for each in (*following, *held):
            yield each
        held.clear()
    # The stream ended without another piece that the held ones could follow.
    for piece in held:
        yield piece


async def _corrupted(events: AsyncIterator[Json], kind: Kind) -> AsyncIterator[Json]:
    # Reads the whole reply first, because most wrong replies are made from all of the right one.
    whole = [event async for event in events]
    for event in corrupted_stream(whole, kind):
        yield event


class _Refusal(NamedTuple):
    """A provider's refusal of a call, in the form that the engine's adapter reports."""

    failure: str
    why: str
    retryable: bool = False
    retry_after_s: float | None = None


_REFUSALS: dict[Kind, _Refusal] = {
    "rate_limit": _Refusal(
        "rate_limit", "too many requests", retryable=True, retry_after_s=1.0
    ),
    "overload": _Refusal("overloaded", "overloaded", retryable=True),
    "oversized": _Refusal("invalid_request", "the prompt is too long"),
    "malformed": _Refusal("no such kind", "a page that is no JSON"),
    "drop": _Refusal("connection", "the connection broke", retryable=True),
}
_DELTA_PLACES = {"text_delta": "in_text", "input_json_delta": "in_tool_json"}


def places_of(event: Json) -> list[str]:
    """Lists the places of a stream that an event is at; a block that comes whole is at several."""
    kind = event.get("type")
    if kind == "message_stop":
        return ["before_end"]
    if kind == "content_block_start":
        return ["before_first_token", *_places_in_block(event.get("content_block"))]
    delta = event.get("delta")
    if kind != "content_block_delta" or not isinstance(delta, dict):
        return []
    place = _DELTA_PLACES.get(delta.get("type", ""))
    if place is None:
        return []
    return [place]


def _places_in_block(block: object) -> list[str]:
    """Lists the places inside a block's start: a recorded reply has no deltas, so its blocks start complete."""
    places: list[str] = []
    if not isinstance(block, dict):
        return places
    if block.get("text"):
        places.append("in_text")
    if block.get("input"):
        places.append("in_tool_json")
    return places


def faulty_tool(tool: Tool, faults: QueryFaults, clock: Clock) -> Tool:
    """Returns the tool with faults between its start and its result."""
    run = tool.run

    @wraps(run)
    async def broken(**arguments: Any) -> object:
        faults.note_call()
        fault = faults.traverse(f"tool.{tool.name}")
        if fault is None:
            return await run(**arguments)
        if fault.kind in ("empty", "oversized", "malformed"):
            await run(**arguments)
            return _wrong_result(fault)
        if fault.kind == "late":
            await _sleep_past_cancellation(clock, fault.seconds(STUBBORN_S))
        else:
            await faults.break_call(fault, f"tool.{tool.name}", clock.sleep)
        return await run(**arguments)

    return dataclasses.replace(tool, run=broken)


def _wrong_result(fault: Fault) -> object:
    if fault.kind == "oversized":
        sentence = "A circuit breaker says much. "
        return sentence * (OVERSIZED_CHARS // len(sentence))
    if fault.kind == "empty":
        return None
    return object()


async def _sleep_past_cancellation(clock: Clock, seconds: float) -> None:
    """Sleeps through its cancellation, and returns normally a while later."""
    try:
        await clock.sleep(FOREVER_S)
    except asyncio.CancelledError:
        await clock.sleep(seconds)
