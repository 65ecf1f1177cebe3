"""Where a replay differs from its trace: which event, which field, why, and of what kind the difference is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from antiphon.traces import plain, to_json
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.values import Value

Class = Literal["code", "order", "schema", "settings"]
"""`code`: the rules say something else now; `order`: the same events in another order; `schema`: the trace is in a
form that this program does not write; `settings`: the trace has other settings or versions than this program."""


class Divergence(Value, frozen=True, kw_only=True):
    """The first difference between a trace and its replay.

    Attributes:
        seq: The recorded event; for one that nobody recorded, where it would have stood.
        kind: Its kind.
        field: The first field that differs, such as `facts[2].id`; empty where a whole event is missing.
        recorded: What the trace holds there, as JSON; empty where it holds nothing.
        now: What is said now, as JSON; empty where nothing is.
        chain: The events that led to it, the nearest first, each as `seq kind`.
        detail: The difference in a sentence.
    """

    seq: int
    kind: str
    difference: Class
    field: str
    recorded: str
    now: str
    chain: tuple[str, ...]
    detail: str


def kind_of(event: msgspec.Struct) -> str:
    """The event's kind, such as `round_opened`."""
    return str(event.__struct_config__.tag)


def chain_of(events: Sequence[Recorded[Event]], seq: int) -> tuple[str, ...]:
    """What led to `seq`, the nearest first."""
    chain: list[str] = []
    while 0 < seq <= len(events):
        chain.append(f"{seq} {kind_of(events[seq - 1].event)}")
        cause = events[seq - 1].cause
        if cause >= seq:
            break
        seq = cause
    return tuple(chain)


def first_difference(recorded: object, now: object, path: str = "") -> tuple[str, object, object]:
    """The path of the first field in which two plain values differ, and both its values."""
    if isinstance(recorded, dict) and isinstance(now, dict):
        for name in dict.fromkeys((*recorded, *now)):
            if recorded.get(name) != now.get(name):
                return first_difference(recorded.get(name), now.get(name), f"{path}.{name}" if path else str(name))
    if isinstance(recorded, list | tuple) and isinstance(now, list | tuple):
        for at, (left, right) in enumerate(zip(recorded, now, strict=False)):
            if left != right:
                return first_difference(left, right, f"{path}[{at}]")
        shorter = min(len(recorded), len(now))
        return f"{path}[{shorter}]", _at(recorded, shorter), _at(now, shorter)
    return path, recorded, now


def same(recorded: Event, now: Event, form: Mapping[str, object] | None = None) -> bool:
    """Whether an event is said again as it was recorded.

    Args:
        form: The event as the trace holds it; fields that it lacks were not there yet and are not compared.
    """
    if recorded == now:
        return True
    if form is None or type(recorded) is not type(now):
        return False
    return _cut(plain(now), form) == _cut(plain(recorded), form)


def shown(event: msgspec.Struct | None) -> str:
    """An event as JSON; empty for none."""
    return "" if event is None else msgspec.json.encode(plain(event)).decode()


def as_json(recorded: Recorded[Event]) -> str:
    """A recorded event as JSON."""
    return to_json(recorded).decode()


def _cut(value: object, form: object) -> object:
    """`value` with only those fields that `form` has too."""
    if isinstance(value, dict) and isinstance(form, Mapping) and "kept" not in form:
        return {name: _cut(each, form[name]) for name, each in value.items() if name in form}
    if isinstance(value, list | tuple) and isinstance(form, list | tuple) and len(value) == len(form):
        return [_cut(each, beside) for each, beside in zip(value, form, strict=True)]
    return list(value) if isinstance(value, tuple) else value


def _at(values: Sequence[object], at: int) -> object:
    return values[at] if at < len(values) else None
