"""Merges passages of one lesson that overlap or touch into one passage that holds each sentence once.

Their places in the lesson (`Passage.start`) decide, so only overlaps are compared. The joined text is the lesson's own,
so every citation of it is still word for word in the lesson.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from antiphon.vocabulary.values import Fact, Passage, Place, StoredText

_GAPS = ("", " ", "\n\n")
"""The white space that the chunker strips from the end of a chunk, by its length."""
_LINE = re.compile(r"[ \t]*(?:\||[-*+] |[0-9]{1,3}[.)] |```|~~~)")
"""The start of a text that needs a line of its own: a row of a table, an item of a list, a fence."""
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_WHITE = re.compile(r"\s")
MOST_GAP = len(_GAPS) - 1
MOST_CHARS = 2_400
"""Passages that touch are joined up to this length, about two chunks: otherwise a passage could grow to a whole lesson.
Those that overlap are always joined, so that no sentence appears twice."""


class FoundPassage(NamedTuple):
    """A new passage and the call that found it first."""

    passage: Passage
    tool_call_id: str


class Group(NamedTuple):
    """Passages that become one.

    Attributes:
        passage: All of them joined.
        tool_call_id: The call that found the first of them.
        at: Index of its first new passage in the order of discovery.
        members: Ids of its new passages.
        merged: Ids of facts of earlier rounds that it includes.
    """

    passage: Passage
    tool_call_id: str
    at: int = sys.maxsize
    members: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()


def grouped(
    found: Sequence[FoundPassage], known: Sequence[Fact], merging: bool
) -> list[Group]:
    """Groups passages, in order of their first passage; each group becomes one fact.

    Args:
        found: New passages in order of discovery.
        known: Facts that new passages may touch.
        merging: False leaves each passage alone.
    """
    new = [
        Group(passage, call_id, at, (passage.id,))
        for at, (passage, call_id) in enumerate(found)
    ]
    if not merging:
        return new
    by_lesson = _groups_by_lesson(known)
    groups: list[Group] = []
    for group in new:
        place = place_of(group.passage)
        if place is None:
            groups.append(group)
        else:
            by_lesson[place] = _with_group(by_lesson.get(place, []), group)
    for of_lesson in by_lesson.values():
        for group in of_lesson:
            # A group without members is a known fact that no new passage touched.
            if group.members:
                groups.append(group)
    return sorted(groups, key=lambda group: group.at)


def _groups_by_lesson(known: Sequence[Fact]) -> dict[Hashable, list[Group]]:
    """Returns each known fact as a group of its own, by lesson, except facts without a place, which touch nothing."""
    by_lesson: dict[Hashable, list[Group]] = {}
    for fact in known:
        place = place_of(fact.passage)
        if place is not None:
            earlier = Group(fact.passage, fact.tool_call_id, merged=(fact.id,))
            by_lesson.setdefault(place, []).append(earlier)
    return by_lesson


def _with_group(groups: Sequence[Group], group: Group) -> list[Group]:
    """Adds a group to those of its lesson, and merges it with all that it touches, directly or through another."""
    apart = list(groups)
    touching = _first_touching(group, apart)
    while touching is not None:
        other, passage = touching
        apart.remove(other)
        # The part that was found first gives the whole its call and its place.
        first = other if other.at < group.at else group
        group = Group(
            passage=passage,
            tool_call_id=first.tool_call_id,
            at=first.at,
            members=(*group.members, *other.members),
            merged=(*group.merged, *other.merged),
        )
        # A larger group may touch further ones.
        touching = _first_touching(group, apart)
    return [*apart, group]


def _first_touching(
    group: Group, others: Sequence[Group]
) -> tuple[Group, Passage] | None:
    for other in others:
        if joined := join(group.passage, other.passage):
            return other, joined
    return None


def place_of(passage: Passage) -> Hashable:
    """Returns the key that passages must share to be joined; None for a passage of unknown place."""
    if passage.start is None or passage.kind != "passage":
        return None
    return passage.course, passage.lesson, passage.title, passage.source


def join(one: Passage, other: Passage) -> Passage | None:
    """Joins two passages; None if they neither touch nor overlap, or differ in their overlap."""
    if one.start is None or other.start is None or place_of(one) != place_of(other):
        return None
    if other.start < one.start:
        return _join_in_order(other, one, one.start - other.start)
    return _join_in_order(one, other, other.start - one.start)


def _join_in_order(first: Passage, second: Passage, offset: int) -> Passage | None:
    """Joins passages of which the second begins `offset` characters after the first."""
    text, more = first.text.text, second.text.text
    gap = offset - len(text)
    if gap < 0:
        if not _agree(text[offset:], more):
            return None
        joined = text + more[-gap:]
    else:
        if gap > MOST_GAP or len(text) + len(more) > MOST_CHARS:
            return None
        joined = text + _gap(gap, text, more) + more
    starts = set(first.starts)
    for start in second.starts:
        starts.add(offset + start)
    # A link to another place in the file would be wrong for the beginning.
    may_lend = first.place == second.place and not first.link
    link = second.link if may_lend else first.link
    return replace(
        first,
        id=_passage_id(first, joined),
        text=StoredText(joined),
        starts=tuple(sorted(starts)),
        score=max(first.score, second.score),
        link=link,
        places=_places(first, second, offset),
    )


def _gap(length: int, before: str, behind: str) -> str:
    """Returns the white space between passages that touch; programs, tables and lists keep their lines apart."""
    if length == 1:
        last_line = before[before.rfind("\n") + 1 :]
        is_code = len(_FENCE.findall(before)) % 2 == 1 or _FENCE.match(last_line)
        if is_code or _LINE.match(behind) or last_line.lstrip().startswith("|"):
            return "\n"
    return _GAPS[length]


def _places(first: Passage, second: Passage, offset: int) -> tuple[Place, ...]:
    """Returns the places of the joined passage after its first, each once."""
    places = list(first.places)
    ahead = [replace(place, start=offset + place.start) for place in second.places]
    if second.place is not None:
        begin = Place(start=offset, name=second.place, link=second.link)
        ahead.insert(0, begin)
    last = first.place_at(offset)
    for place in ahead:
        is_new = last is None or place.name != last.name
        if is_new and place.start >= offset and place not in places:
            places.append(place)
            last = place
    return tuple(sorted(places, key=lambda place: place.start))


def _agree(end: str, beginning: str) -> bool:
    """True if the overlap is the same text in both, even if one lies within the other; all white space is alike."""
    shared = min(len(end), len(beginning))
    return _WHITE.sub(" ", end[:shared]) == _WHITE.sub(" ", beginning[:shared])


def _passage_id(passage: Passage, text: str) -> str:
    """Returns the joined passage's content address, so that the same text found twice has one id."""
    address = "\0".join((passage.source, passage.title or "", text))
    return hashlib.sha256(address.encode(errors="replace")).hexdigest()[:32]
