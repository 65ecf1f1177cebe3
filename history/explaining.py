"""Why two traces differ where they do: what differs of itself, and what only follows from that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec.structs import replace

from antiphon.history.alignment import Key
from antiphon.vocabulary.events import (
    DeadlineNeared,
    DeadlinePassed,
    Event,
    QueryCancelled,
    QueryReceived,
    QueryResumed,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRetried,
    Recorded,
    SummaryCompleted,
    SummaryFailed,
    ToolAnsweredLate,
    ToolCallStreamed,
    ToolFailed,
    ToolStarted,
    ToolSubstituted,
    ToolSucceeded,
)
from antiphon.vocabulary.values import Value

Cause = Literal["model", "tool", "code", "order", "settings", "time"]
"""`model`: it said something else; `tool`: it brought something else; `settings`: other settings or versions; `time`:
somebody waited, or went away; `order`: the same, in another order; `code`: nothing before it differs, so rules do."""

_OWN: tuple[tuple[tuple[type[Event], ...], Cause], ...] = (
    ((QueryReceived,), "settings"),
    ((ReasoningCompleted, ReasoningFailed, ReasoningRetried, ToolCallStreamed), "model"),
    ((SummaryCompleted, SummaryFailed), "model"),
    ((ToolSucceeded, ToolFailed, ToolAnsweredLate, ToolStarted, ToolSubstituted), "tool"),
    ((DeadlineNeared, DeadlinePassed, QueryResumed, QueryCancelled), "time"),
)
"""What comes from outside the rules, and from where."""

Trace = Sequence[Recorded[Event]]


class Difference(Value, frozen=True, kw_only=True):
    """One event that is not the same in both, or that only one has (the other `seq` is then None).

    Attributes:
        because: What differs of itself; an event that only follows from an earlier difference has that one's.
    """

    kind: str
    left: int | None
    right: int | None
    because: Cause
    field: str
    detail: str


def explained(
    left: Trace, right: Trace, found: Mapping[Key, Difference], reordered: Difference | None
) -> list[Difference]:
    """The differences in their order, each with why it is one."""
    todo = sorted([*found.values(), *([reordered] if reordered else [])], key=_place)
    causes: tuple[dict[int, Cause], dict[int, Cause]] = ({}, {})
    done: list[Difference] = []
    for each in todo:
        if each is not reordered:
            each = replace(each, because=_because(each, (left, right), causes, done))
        for seqs, seq in zip(causes, (each.left, each.right), strict=True):
            if seq is not None:
                seqs.setdefault(seq, each.because)
        done.append(each)
    return done


def _place(each: Difference) -> tuple[int, int]:
    seqs = [seq for seq in (each.left, each.right) if seq is not None]
    return min(seqs), max(seqs)


def _because(
    each: Difference,
    traces: tuple[Trace, Trace],
    causes: tuple[Mapping[int, Cause], Mapping[int, Cause]],
    earlier: Sequence[Difference],
) -> Cause:
    """What an event that led to it differs by; else what it differs by itself; for one that follows from rules over all
    that came before: what the last difference before it differs by."""
    for trace, known, seq in zip(traces, causes, (each.left, each.right), strict=True):
        above = _inherited(trace, known, seq)
        if above is not None:
            return above
    side = 0 if each.left is not None else 1
    event = traces[side][(each.left or each.right or 1) - 1].event
    own = next((cause for kinds, cause in _OWN if isinstance(event, kinds)), None)
    if own in ("model", "tool") and None in (each.left, each.right):
        # Asked for in both and told of in one: it was given up, or asked for again, because of something earlier.
        return earlier[-1].because if earlier else own
    return own or (earlier[-1].because if earlier else "code")


def _inherited(trace: Trace, known: Mapping[int, Cause], seq: int | None) -> Cause | None:
    """What the nearest event that led to `seq` and differs, differs by."""
    while seq:
        cause = trace[seq - 1].cause
        if cause in known:
            return known[cause]
        if cause >= seq:
            return None
        seq = cause
    return None
