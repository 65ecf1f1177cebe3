"""Two traces laid beside one another: which event of one is which of the other, and what an event says apart from
times, places and the names that a model makes up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from antiphon.bus import PendingTable, fold_pending
from antiphon.history.divergence import kind_of
from antiphon.history.forking import FORKED
from antiphon.traces import plain
from antiphon.vocabulary.events import Event, QueryResumed, ReasoningStarted, Recorded, ToolCallStreamed, ToolStarted
from antiphon.vocabulary.values import ToolCall

Key = tuple[object, ...]
Keyed = dict[Key, Recorded[Event]]

_TIMES = frozenset({"duration_ms", "timeout_s", "left_s", "wait_s", "away_s", "elapsed_s"})
_PLACES = frozenset({"event_seq"})
_LINEAGE = frozenset({"parent", "parent_seq", "change"})


def keyed(events: Sequence[Recorded[Event]]) -> Keyed:
    """Each event by what it is: its kind, the call or round that it is about, or else its cause's kind, and which of
    several it is. Tool calls count by their order, for their ids are the model's.

    That a fork says where it begins is no difference: it is left out. Where a query is gone on with, what a call that
    was under way had said so far is said again, and only the second time counts.
    """
    tools: dict[str, int] = {}
    seen: Counter[Key] = Counter()
    found: Keyed = {}
    owed: PendingTable = {}
    for said in events:
        owed = fold_pending(owed, said)
        if isinstance(said.event, QueryResumed):
            seen.subtract(_said_again(found, {waiting.about for waiting in owed.values()}))
            if said.event.why.startswith(FORKED):
                continue
        about = _about(said.event, tools)
        above = kind_of(events[said.cause - 1].event) if about is None and 0 < said.cause <= len(events) else ""
        key: Key = (kind_of(said.event), about, above)
        seen[key] += 1
        found[(*key, seen[key])] = said
    return found


def _said_again(found: Keyed, owed: set[str]) -> Counter[Key]:
    """How often each event was said of calls that are asked again, without the number that makes it one of several."""
    began = (ReasoningStarted, ToolCallStreamed, ToolStarted)
    return Counter(
        key[:-1]
        for key, said in found.items()
        if isinstance(said.event, began)
        and (getattr(said.event, "call_id", None) or getattr(said.event, "tool_call_id", None)) in owed
    )


def names_in(events: Sequence[Recorded[Event]]) -> dict[str, str]:
    """A name for each tool call by its order, in the place of the model's own."""
    ids: dict[str, int] = {}
    for said in events:
        _about(said.event, ids)
    return {name: f"tool call {number + 1}" for name, number in ids.items()}


def told(event: Event, names: dict[str, str]) -> object:
    """What an event says, without times and places, which are never the same twice."""
    return _told(plain(event), names)


def _about(event: Event, tools: dict[str, int]) -> object:
    call = getattr(event, "call", None)
    tool_call_id = call.id if isinstance(call, ToolCall) else getattr(event, "tool_call_id", None)
    if tool_call_id is not None:
        return "tool", tools.setdefault(tool_call_id, len(tools))
    return getattr(event, "call_id", None) or getattr(event, "round", None)


def _told(value: object, names: dict[str, str]) -> object:
    if isinstance(value, dict):
        return {name: _told(each, names) for name, each in value.items() if name not in _TIMES | _PLACES | _LINEAGE}
    if isinstance(value, list | tuple):
        return [_told(each, names) for each in value]
    return _named(value, names) if isinstance(value, str) else value


def _named(text: str, names: dict[str, str]) -> str:
    """A text with the calls' names: where it is one, and where it is JSON that holds one."""
    if text in names:
        return names[text]
    for name, ours in names.items():
        if name in text:
            text = text.replace(f'"{name}"', f'"{ours}"')
    return text
