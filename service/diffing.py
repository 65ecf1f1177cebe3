"""Two traces side by side: aligned by cause, the first difference, what kind each is, and the answers beside one
another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal

from language.sentences import sentence_starts
from service.divergence import first_difference, kind_of
from traces import plain
from vocabulary.events import (
    AnyEvent,
    DeadlineNeared,
    DeadlinePassed,
    QueryReceived,
    QueryResumed,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRetried,
    Recorded,
    ResponseAssembled,
    SentencesScored,
    SummaryCompleted,
    SummaryFailed,
    ToolCallStreamed,
    ToolFailed,
    ToolStarted,
    ToolSubstituted,
    ToolSucceeded,
)
from vocabulary.values import ToolCall, Usage, Value

Cause = Literal["model", "tool", "code", "order", "settings", "time"]

_MODEL = (ReasoningCompleted, ReasoningFailed, ReasoningRetried, SummaryCompleted, SummaryFailed, ToolCallStreamed)
_TOOL = (ToolSucceeded, ToolFailed, ToolStarted, ToolSubstituted, SentencesScored)
_TIME = (DeadlineNeared, DeadlinePassed, QueryResumed)
_TIMES = frozenset({"duration_ms", "timeout_s", "left_s", "wait_s", "away_s"})
_PLACES = frozenset({"event_seq"})
_LINEAGE = frozenset({"parent", "parent_seq", "change"})

Key = tuple[object, ...]


class Difference(Value, frozen=True, kw_only=True):
    """One event that is not the same in both, or that only one has (the other `seq` is then None).

    Attributes:
        because: What differs of itself; what only follows from an earlier difference is `code`.
    """

    kind: str
    left: int | None
    right: int | None
    because: Cause
    field: str
    detail: str


class Side(Value, frozen=True, kw_only=True):
    """One of the two: what it came to."""

    query_id: str
    events: int
    status: str
    answer: str
    confidence: str
    calls: int
    rounds: int
    usage: Usage
    duration_ms: float


class Diff(Value, frozen=True, kw_only=True):
    """Two traces compared.

    Attributes:
        same: Events that both have alike.
        differences: In the order in which they are met; times alone are no difference.
        sentences: The answers' sentences: `=` in both, `-` only left, `+` only right.
    """

    left: Side
    right: Side
    same: int
    differences: tuple[Difference, ...]
    sentences: tuple[tuple[str, str], ...]


def diff(left: Sequence[Recorded[AnyEvent]], right: Sequence[Recorded[AnyEvent]]) -> Diff:
    """Compares two traces."""
    ours, theirs = _keyed(left), _keyed(right)
    differences: list[Difference] = []
    same = 0
    for key in sorted({**ours, **theirs}, key=lambda key: _first_seq(key, ours, theirs)):
        found = _difference(ours.get(key), theirs.get(key))
        if found is None:
            same += 1
        else:
            differences.append(found)
    if not differences and [kind_of(said.event) for said in left] != [kind_of(said.event) for said in right]:
        differences.append(_reordered(left, right))
    sides = _side(left), _side(right)
    return Diff(
        left=sides[0],
        right=sides[1],
        same=same,
        differences=tuple(differences),
        sentences=tuple(_sentences(sides[0].answer, sides[1].answer)),
    )


def _keyed(events: Sequence[Recorded[AnyEvent]]) -> dict[Key, Recorded[AnyEvent]]:
    """Each event by what it is: its kind, the call or round that it is about, or else its cause's kind, and which of
    several it is. Tool calls count by their order, for their ids are the model's."""
    tools: dict[str, int] = {}
    seen: Counter[Key] = Counter()
    found: dict[Key, Recorded[AnyEvent]] = {}
    for said in events:
        about = _about(said.event, tools)
        above = kind_of(events[said.cause - 1].event) if about is None and 0 < said.cause <= len(events) else ""
        key: Key = (kind_of(said.event), about, above)
        seen[key] += 1
        found[(*key, seen[key])] = said
    return found


def _about(event: AnyEvent, tools: dict[str, int]) -> object:
    call = getattr(event, "call", None)
    tool_call_id = call.id if isinstance(call, ToolCall) else getattr(event, "tool_call_id", None)
    if tool_call_id is not None:
        return "tool", tools.setdefault(tool_call_id, len(tools))
    return getattr(event, "call_id", None) or getattr(event, "round", None)


def _first_seq(key: Key, ours: dict[Key, Recorded[AnyEvent]], theirs: dict[Key, Recorded[AnyEvent]]) -> tuple[int, int]:
    seqs = [said.seq for said in (ours.get(key), theirs.get(key)) if said is not None]
    return min(seqs), max(seqs)


def _difference(left: Recorded[AnyEvent] | None, right: Recorded[AnyEvent] | None) -> Difference | None:
    said = left or right
    assert said is not None
    field, detail = "", "only in the left one" if right is None else "only in the right one"
    if left is not None and right is not None:
        was, now = _told(left.event), _told(right.event)
        if was == now:
            return None
        field, one, other = first_difference(was, now)
        detail = f"{field}: {_short(one)} | {_short(other)}"
    return Difference(
        kind=kind_of(said.event),
        left=left.seq if left else None,
        right=right.seq if right else None,
        because=_because(said.event),
        field=field,
        detail=detail,
    )


def _because(event: AnyEvent) -> Cause:
    if isinstance(event, QueryReceived):
        return "settings"
    if isinstance(event, _MODEL):
        return "model"
    if isinstance(event, _TOOL):
        return "tool"
    return "time" if isinstance(event, _TIME) else "code"


def _told(event: AnyEvent) -> object:
    """What an event says, without times and places, which are never the same twice."""
    return _without(plain(event), _TIMES | _PLACES | _LINEAGE)


def _without(value: object, names: frozenset[str]) -> object:
    if isinstance(value, dict):
        return {name: _without(each, names) for name, each in value.items() if name not in names}
    if isinstance(value, list | tuple):
        return [_without(each, names) for each in value]
    return value


def _reordered(left: Sequence[Recorded[AnyEvent]], right: Sequence[Recorded[AnyEvent]]) -> Difference:
    at = next(
        n for n, pair in enumerate(zip(left, right, strict=False)) if type(pair[0].event) is not type(pair[1].event)
    )
    kinds = kind_of(left[at].event), kind_of(right[at].event)
    return Difference(
        kind=kinds[0], left=at + 1, right=at + 1, because="order", field="", detail=f"{kinds[0]} | {kinds[1]}"
    )


def _side(events: Sequence[Recorded[AnyEvent]]) -> Side:
    answers = [said.event for said in events if isinstance(said.event, ResponseAssembled)]
    response = answers[-1] if answers else None
    away_s = sum(said.event.away_s for said in events if isinstance(said.event, QueryResumed))
    return Side(
        query_id=events[0].query_id,
        events=len(events),
        status=str(getattr(events[-1].event, "status", "open")),
        answer=response.answer if response else "",
        confidence=response.confidence if response else "",
        calls=response.calls if response else 0,
        rounds=response.rounds if response else 0,
        usage=response.usage if response else Usage(),
        duration_ms=(events[-1].at - events[0].at - away_s) * 1000,
    )


def _sentences(left: str, right: str) -> list[tuple[str, str]]:
    ours, theirs = sentences_of(left), sentences_of(right)
    told: list[tuple[str, str]] = []
    for what, a, b, c, d in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if what == "equal":
            told += [("=", each) for each in ours[a:b]]
            continue
        told += [("-", each) for each in ours[a:b]]
        told += [("+", each) for each in theirs[c:d]]
    return told


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, without what surrounds them."""
    starts = sentence_starts(text)
    pieces = (text[start:end].strip() for start, end in zip(starts, (*starts[1:], len(text)), strict=True))
    return [piece for piece in pieces if piece]


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 80 else text[:79] + "…"
