"""A model with faults in its request, at four places of its stream, and in what a reply holds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import NoReturn

from antiphon.engine import SUMMARY_PROMPT
from antiphon.faults.content import spoiled
from antiphon.faults.kinds import FOREVER_S
from antiphon.faults.passage import InjectedError, Meeting
from antiphon.faults.plan import Fault
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Clock, Json, Model
from antiphon.vocabulary.values import Request

SUMMARY = "summary"
"""The doors of summarising calls, whichever model makes them."""
PLACES = ("before_first_token", "in_text", "in_tool_json", "before_end")


class FaultyModel:
    """Satisfies `vocabulary.ports.Model`."""

    def __init__(self, inner: Model, meeting: Meeting, prefix: str, clock: Clock) -> None:
        self._inner = inner
        self._meeting = meeting
        self._prefix = prefix
        self._clock = clock

    @property
    def name(self) -> str | None:
        return self._inner.name

    async def stream(self, request: Request, timeout_s: float) -> AsyncIterator[Json]:
        self._meeting.act()
        prefix = SUMMARY if request.system == SUMMARY_PROMPT else self._prefix
        fault = self._meeting.meet(f"{prefix}.request")
        if fault is not None:
            await self._refuse(fault, timeout_s)
            if fault.kind == "empty":
                return
        content = self._meeting.meet(f"{prefix}.content")
        events = self._inner.stream(request, timeout_s)
        if content is not None:
            whole = [event async for event in events]
            for event in spoiled(whole, content.kind):
                yield event
            return
        async for event in self._along(events, timeout_s, prefix):
            yield event

    async def _along(self, events: AsyncIterator[Json], timeout_s: float, prefix: str) -> AsyncIterator[Json]:
        """The stream's events, with faults at its places."""
        held: list[Json] = []
        passed: set[str] = set()
        async for event in events:
            fault = None
            for place in (place for place in _places(event) if place not in passed):
                passed.add(place)
                fault = fault or self._meeting.meet(f"{prefix}.stream.{place}")
            if fault is not None and fault.kind == "truncate":
                return
            if fault is not None and fault.kind == "reorder":
                held.append(event)
                continue
            for each in [event] if fault is None else await self._spoiled(event, fault, timeout_s):
                yield each
            while held:
                yield held.pop(0)
        for late in held:
            yield late

    async def _spoiled(self, event: Json, fault: Fault, timeout_s: float) -> list[Json]:
        """What comes in the place of an event, when the fault has had its way."""
        if fault.kind == "malformed":
            return [{"type": "content_block_delta", "index": "none", "delta": 7}]
        await self._break(fault, timeout_s)
        return [event, event] if fault.kind == "duplicate" else [event]

    async def _refuse(self, fault: Fault, timeout_s: float) -> None:
        match fault.kind:
            case "rate_limit":
                raise ModelError("rate_limit", "injected: too many requests", retryable=True, retry_after_s=1.0)
            case "overload":
                raise ModelError("overloaded", "injected: overloaded", retryable=True)
            case "oversized":
                raise ModelError("invalid_request", "injected: the prompt is too long")
            case "malformed":
                raise ModelError("no such kind", "injected: a page that is no JSON")
            case "empty":
                return
        await self._break(fault, timeout_s)

    async def _break(self, fault: Fault, timeout_s: float) -> None:
        match fault.kind:
            case "hang" | "slow":
                await self._clock.sleep(fault.for_s or (FOREVER_S if fault.kind == "hang" else timeout_s + 1.0))
            case "cancel":
                raise asyncio.CancelledError(f"{self._prefix}: injected: cancel")
            case "drop":
                raise ModelError("connection", "injected: the connection broke", retryable=True)
            case "raise":
                _raise(self._prefix)


def _raise(prefix: str) -> NoReturn:
    raise InjectedError(f"{prefix}: injected: raise")


def _places(event: Json) -> tuple[str, ...]:
    """The places of a stream at which an event stands; a block that comes whole, as from a recording, at several."""
    kind = event.get("type")
    if kind == "content_block_start":
        block = event.get("content_block")
        block = block if isinstance(block, dict) else {}
        inside = ("in_text",) * bool(block.get("text")) + ("in_tool_json",) * bool(block.get("input"))
        return ("before_first_token", *inside)
    if kind == "content_block_delta":
        delta = event.get("delta")
        told = delta.get("type") if isinstance(delta, dict) else None
        place = {"text_delta": "in_text", "input_json_delta": "in_tool_json"}.get(str(told))
        return () if place is None else (place,)
    return ("before_end",) if kind == "message_stop" else ()
