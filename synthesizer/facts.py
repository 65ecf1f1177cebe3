"""The layer of facts: what was found, each passage once, numbered in order of discovery.

Discovery follows the order in which calls were requested and the order of passages within a call, never the order in
which tools happened to finish. So concurrency changes no number, and a replay gives the same ones.
"""

from __future__ import annotations

from msgspec.structs import replace

from vocabulary.events import Event, ToolRequested, ToolsSettled, ToolSucceeded
from vocabulary.values import Fact, Value


class Facts(Value, frozen=True, kw_only=True):
    """What is known, and what the open round has brought so far.

    Attributes:
        known: Every fact of the settled rounds, in order of discovery.
        requested: Calls of the open round, in the order in which they were asked for.
        waiting: Their results; they become facts when the round settles.
    """

    known: tuple[Fact, ...] = ()
    requested: tuple[str, ...] = ()
    waiting: tuple[ToolSucceeded, ...] = ()


class Discovery(Value, frozen=True, kw_only=True):
    """What one settled round brought.

    Attributes:
        new: Facts that were not known before.
        repeated: Ids of known facts that were found again.
        by_call: For each call that brought something, the ids of all its facts.
    """

    new: tuple[Fact, ...] = ()
    repeated: tuple[str, ...] = ()
    by_call: tuple[tuple[str, tuple[str, ...]], ...] = ()


def fold(facts: Facts, event: Event) -> Facts:
    """The layer after `event`; results of calls that the open round did not request are kept out."""
    if isinstance(event, ToolRequested):
        return replace(facts, requested=(*facts.requested, event.call.id))
    if isinstance(event, ToolSucceeded) and event.tool_call_id in facts.requested:
        return replace(facts, waiting=(*facts.waiting, event))
    return facts


def settle(facts: Facts, settled: ToolsSettled) -> tuple[Facts, Discovery]:
    """The layer with the round's confirmed results in it, and what they brought."""
    known = list(facts.known)
    ids = {fact.passage.id: fact.id for fact in known}
    repeated: list[str] = []
    by_call: list[tuple[str, tuple[str, ...]]] = []
    for result in _confirmed_in_order(facts, settled):
        brought: list[str] = []
        for passage in result.passages:
            fact_id = ids.get(passage.id)
            if fact_id is None:
                fact_id = ids[passage.id] = f"f{len(known) + 1}"
                known.append(Fact(id=fact_id, passage=passage, tool_call_id=result.tool_call_id, round=settled.round))
            else:
                repeated.append(fact_id)
            brought.append(fact_id)
        by_call.append((result.tool_call_id, tuple(dict.fromkeys(brought))))
    new = tuple(known[len(facts.known) :])
    discovery = Discovery(new=new, repeated=tuple(dict.fromkeys(repeated)), by_call=tuple(by_call))
    return Facts(known=tuple(known)), discovery


def _confirmed_in_order(facts: Facts, settled: ToolsSettled) -> list[ToolSucceeded]:
    results = {result.tool_call_id: result for result in facts.waiting}
    confirmed = frozenset(settled.succeeded)
    order = dict.fromkeys(facts.requested)
    return [results[call_id] for call_id in order if call_id in confirmed and call_id in results]
