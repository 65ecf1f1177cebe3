"""A trace of thousands of events, made from a recorded one by repeating its first round."""

from __future__ import annotations

import json
from typing import Any

from antiphon.service import file_of_lines

Event = dict[str, Any]


def long_trace(events: list[Event], length: int, query_id: str) -> bytes:
    """Returns a trace file of about `length` events for `POST /api/traces/import`."""
    opened = _first(events, "round_opened")
    synthesized = _first(events, "context_synthesized")
    before, rest = events[:opened], events[synthesized + 1 :]
    block = events[opened : synthesized + 1]
    times = max(1, (length - len(before) - len(rest)) // len(block))
    whole = list(before)
    for number in range(times):
        whole += _repeated(block, number, len(block), block[-1]["at"] - block[0]["at"])
    shift = (times - 1) * len(block)
    later = (times - 1) * (block[-1]["at"] - block[0]["at"])
    for event in rest:
        whole.append(_moved(event, shift, later, block[0]["seq"]))
    lines = [json.dumps(each | {"query_id": query_id}).encode() for each in whole]
    return file_of_lines(query_id, lines)


def _first(events: list[Event], kind: str) -> int:
    for place, recorded in enumerate(events):
        if recorded["event"]["kind"] == kind:
            return place
    raise LookupError(f"the trace holds no {kind}")


def _repeated(
    block: list[Event], number: int, size: int, takes_s: float
) -> list[Event]:
    """Returns a copy of the round with its own call and fact ids."""
    moved: list[Event] = []
    for event in block:
        text = json.dumps(
            _moved(event, number * size, number * takes_s, block[0]["seq"])
        )
        if number:
            for name in ("call-1", "toolu_"):
                text = text.replace(name, f"{name}r{number}-")
        moved.append(json.loads(text))
    return moved


def _moved(event: Event, by: int, later_s: float, first: int) -> Event:
    cause = event["cause"]
    if cause >= first:
        cause += by
    return event | {
        "seq": event["seq"] + by,
        "cause": cause,
        "at": event["at"] + later_s,
    }
