"""What differs between a briefing and the one before it, fact by fact, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from antiphon.synthesizer.blocks import SourceBlock
from antiphon.vocabulary.values import Change, Dropped, ShownSource, Value

RETURNED = "worth more now than before"
_KINDS: dict[str, Literal["decayed", "dropped", "repeated"]] = {
    "decay": "decayed",
    "budget": "dropped",
    "repeated": "repeated",
}


class Before(Value, frozen=True, kw_only=True):
    """The briefing before: what it showed, and how many facts were known then."""

    shown: tuple[ShownSource, ...] = ()
    known: int = 0


def changes(
    blocks: Sequence[SourceBlock],
    before: Before,
    now: Sequence[ShownSource],
    dropped: Sequence[Dropped],
) -> tuple[Change, ...]:
    """The changes in order of discovery.

    Args:
        blocks: The whole block of every fact ever found, in order of discovery.
    """
    was = {row.fact_id: frozenset(row.sentences) for row in before.shown}
    shown = {row.fact_id: frozenset(row.sentences) for row in now}
    heirs = {old: block.fact.id for block in blocks for old in block.fact.merged}
    reasons: dict[str, list[Dropped]] = {}
    for item in dropped:
        reasons.setdefault(item.what, []).append(item)
    found: list[Change] = []
    for number, block in enumerate(blocks):
        id_ = block.fact.id
        had, has = was.get(id_, frozenset()), shown.get(id_, frozenset())
        if id_ in heirs:
            found += _merged(block, had, heirs[id_])
        elif number >= before.known:
            found += _arrived(block, has)
            found += _lost(block, frozenset(block.sentences) - has, reasons)
        else:
            found += _returned(block, has - had)
            found += _lost(block, had - has, reasons)
    return tuple(found)


def _merged(block: SourceBlock, had: frozenset[int], heir: str) -> Iterator[Change]:
    if had:
        yield Change(what=block.fact.id, change="merged", why=f"stands in {heir} now", tokens=_tokens(block, had))


def _arrived(block: SourceBlock, has: frozenset[int]) -> Iterator[Change]:
    if has:
        yield Change(
            what=block.fact.id,
            change="came",
            why=f"found in round {block.fact.round} by {block.fact.tool_call_id}",
            tokens=_tokens(block, has),
            sentences=_named(block, has),
        )


def _returned(block: SourceBlock, back: frozenset[int]) -> Iterator[Change]:
    if back:
        yield Change(
            what=block.fact.id,
            change="returned",
            why=RETURNED,
            tokens=_tokens(block, back),
            sentences=_named(block, back),
        )


def _lost(block: SourceBlock, lost: frozenset[int], reasons: Mapping[str, list[Dropped]]) -> Iterator[Change]:
    for item in reasons.get(block.fact.id, []):
        gone = lost.intersection(item.sentences) if item.sentences else lost
        if gone:
            yield Change(
                what=block.fact.id,
                change=_KINDS[item.rule],
                why=item.why,
                tokens=_tokens(block, gone),
                sentences=_named(block, gone),
            )


def _tokens(block: SourceBlock, numbers: frozenset[int]) -> int:
    return sum(count for number, count in zip(block.sentences, block.tokens, strict=True) if number in numbers)


def _named(block: SourceBlock, numbers: frozenset[int]) -> tuple[int, ...]:
    """The sentences in order; none are named where they are all of the fact's."""
    return () if len(numbers) == len(block.sentences) else tuple(sorted(numbers))
