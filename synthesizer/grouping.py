"""A round's new passages as groups, of which each becomes one fact."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from antiphon.synthesizer.merging import join, place_of
from antiphon.vocabulary.values import Fact, Passage


@dataclass(frozen=True)
class Group:
    """Passages that are shown as one.

    Attributes:
        passage: All of them joined.
        tool_call_id: The call that found the first of them.
        at: Place of its first new passage in the order of discovery.
        members: Ids of its new passages.
        olds: Facts of earlier rounds that are in it.
    """

    passage: Passage
    tool_call_id: str
    at: int = sys.maxsize
    members: tuple[str, ...] = ()
    olds: tuple[str, ...] = ()


def grouped(found: Sequence[tuple[Passage, str]], known: Sequence[Fact], merging: bool) -> list[Group]:
    """The groups in order of their first passage.

    Args:
        found: New passages in order of discovery, each with its call.
        known: Facts that new passages may touch.
    """
    new = [Group(passage, call_id, at, (passage.id,)) for at, (passage, call_id) in enumerate(found)]
    if not merging:
        return new
    placed: dict[Hashable, list[Group]] = {}
    for fact in known:
        old = Group(fact.passage, fact.tool_call_id, olds=(fact.id,))
        placed.setdefault(place_of(fact.passage), []).append(old)
    loose = [group for group in new if place_of(group.passage) is None]
    for group in new:
        if (place := place_of(group.passage)) is not None:
            placed[place] = _with(placed.get(place, []), group)
    whole = [group for place, row in placed.items() if place is not None for group in row if group.members]
    return sorted((*loose, *whole), key=lambda group: group.at)


def _with(row: list[Group], group: Group) -> list[Group]:
    """The groups of one lesson with another among them: those that it touches, directly or through one, are one."""
    left = list(row)
    while (
        touched := next(((other, j) for other in left if (j := join(group.passage, other.passage))), None)
    ) is not None:
        other, passage = touched
        left.remove(other)
        first = min(group, other, key=lambda each: each.at)
        group = Group(
            passage, first.tool_call_id, first.at, (*group.members, *other.members), (*group.olds, *other.olds)
        )
    return [*left, group]


def _touched(row: list[Group], group: Group) -> tuple[Group, Passage] | None:
    joined = ((other, join(group.passage, other.passage)) for other in row)
    return next(((other, passage) for other, passage in joined if passage is not None), None)
