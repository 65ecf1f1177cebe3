"""The layer of facts: what was found, each passage once, numbered in order of discovery.

Discovery follows the order in which calls were requested and the order of passages within a call, never the order in
which tools happened to finish. So concurrency changes no number, and a replay gives the same ones.

Passages of one lesson that touch or overlap are one fact (synthesizer/merging.py). One that is found beside an
earlier round's fact makes a new fact, which has the earlier one in it: what a fact's id means never changes, for
replies that were given may have cited it.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from antiphon.synthesizer.grouping import Group, grouped
from antiphon.synthesizer.likeness import Likeness, shingles
from antiphon.vocabulary.events import Event, ToolRequested, ToolsSettled, ToolSucceeded
from antiphon.vocabulary.values import Fact, Value


class Facts(Value, frozen=True, kw_only=True):
    """What is known, and what the open round has brought so far.

    Attributes:
        known: Every fact of the settled rounds, in order of discovery; those merged into later ones included.
        passages: For each passage found, its id and that of the fact that holds it now.
        requested: Calls of the open round, in the order in which they were asked for.
        waiting: Their results; they become facts when the round settles.
        merging: Whether passages are joined; a transcript shows them as they came.
    """

    known: tuple[Fact, ...] = ()
    passages: tuple[tuple[str, str], ...] = ()
    requested: tuple[str, ...] = ()
    waiting: tuple[ToolSucceeded, ...] = ()
    merging: bool = True


class Discovery(Value, frozen=True, kw_only=True):
    """What one settled round brought.

    Attributes:
        new: Facts that were not known before.
        repeated: Ids of known facts that were found again.
        by_call: For each call that brought something, the ids of all its facts, best first.
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
    results = _confirmed_in_order(facts, settled)
    held = dict(facts.passages)
    fresh = {passage.id: (passage, result.tool_call_id) for result in reversed(results) for passage in result.passages}
    order = dict.fromkeys(p.id for result in results for p in result.passages if p.id not in held)
    groups = grouped([fresh[id_] for id_ in order], living(facts.known) if facts.merging else (), facts.merging)
    new = _facts(groups, facts, settled.round)
    moved = {old: fact.id for fact in new for old in fact.merged}
    held = {passage: moved.get(fact_id, fact_id) for passage, fact_id in held.items()}
    seen = set(held)
    held |= {member: fact.id for fact, group in zip(new, groups, strict=True) for member in group.members}
    repeated = [held[id_] for id_ in _again(results, seen)]
    by_call = tuple((each.tool_call_id, tuple(dict.fromkeys(held[p.id] for p in each.passages))) for each in results)
    discovery = Discovery(new=new, repeated=tuple(dict.fromkeys(repeated)), by_call=by_call)
    return Facts(known=(*facts.known, *new), passages=tuple(held.items()), merging=facts.merging), discovery


def living(known: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """The facts that are in no later one."""
    gone = {old for fact in known for old in fact.merged}
    return tuple(fact for fact in known if fact.id not in gone)


def _facts(groups: list[Group], facts: Facts, round_: int) -> tuple[Fact, ...]:
    likeness = Likeness(living(facts.known))
    new: list[Fact] = []
    for number, group in enumerate(groups, start=len(facts.known) + 1):
        runs = shingles(group.passage.text.text)
        like = likeness.like(runs) if facts.merging and not group.olds else None
        fact = Fact(
            id=f"f{number}",
            passage=group.passage,
            tool_call_id=group.tool_call_id,
            round=round_,
            merged=group.olds,
            like=like,
        )
        if like is None:
            likeness.add(fact.id, runs)
        new.append(fact)
    return tuple(new)


def _again(results: list[ToolSucceeded], seen: set[str]) -> Iterator[str]:
    """The ids of passages found again, be it in the same round."""
    for passage in (passage for result in results for passage in result.passages):
        if passage.id in seen:
            yield passage.id
        seen.add(passage.id)


def _confirmed_in_order(facts: Facts, settled: ToolsSettled) -> list[ToolSucceeded]:
    results = {result.tool_call_id: result for result in facts.waiting}
    confirmed = frozenset(settled.succeeded)
    order = dict.fromkeys(facts.requested)
    return [results[call_id] for call_id in order if call_id in confirmed and call_id in results]
