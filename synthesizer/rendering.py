"""Renders a briefing: its one message, its table of sources, and its changes since the one before, with reasons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from antiphon.synthesizer.blocks import SourceBlock, text_block
from antiphon.synthesizer.memory import LastBriefing, Memory
from antiphon.synthesizer.notes import Notes
from antiphon.synthesizer.selection import Selection
from antiphon.vocabulary.events import BriefingPrepared, RoundOpened
from antiphon.vocabulary.values import (
    Change,
    Dropped,
    Message,
    ShownSource,
    StoredText,
)

REPEATED = "says nearly the same as {fact}"
RETURNED = "worth more now than before"
_CHANGES_BY_RULE: dict[str, Literal["decayed", "dropped", "repeated"]] = {
    "decay": "decayed",
    "budget": "dropped",
    "repeated": "repeated",
}

Numbers = frozenset[int]
"""Numbers of sentences of one fact."""


def render(
    memory: Memory, opened: RoundOpened, selection: Selection, notes: Notes
) -> BriefingPrepared:
    """Builds the event for the call of `opened` from the selection and the notes."""
    shown: list[ShownSource] = []
    blocks: list[StoredText] = []
    for block in selection.sources:
        shown.append(ShownSource(fact_id=block.fact.id, sentences=block.numbers))
        blocks.append(block.json)
    blocks.append(text_block(notes.text))
    if memory.question_last:
        blocks += memory.head
    else:
        blocks = [*memory.head, *blocks]
    dropped = (*selection.dropped, *_repeated(memory.sources), *notes.dropped)
    changes = _changes(memory.sources, memory.last, shown, dropped)
    return BriefingPrepared(
        call_id=opened.call_id,
        round=opened.round,
        messages=(Message(role="user", content=tuple(blocks)),),
        sources=tuple(shown),
        facts=tuple([source.fact_id for source in shown]),
        tokens=memory.head_tokens + selection.tokens + notes.tokens,
        dropped=dropped,
        changes=changes,
        summary=notes.summary,
    )


def _repeated(sources: Sequence[SourceBlock]) -> list[Dropped]:
    """Lists the facts that the briefing leaves out because another says nearly the same."""
    rows: list[Dropped] = []
    for block in sources:
        if block.fact.like is not None and block.sentences:
            why = REPEATED.format(fact=block.fact.like)
            rows.append(
                Dropped(
                    what=block.fact.id, why=why, tokens=block.tokens, rule="repeated"
                )
            )
    return rows


def _changes(
    blocks: Sequence[SourceBlock],
    last: LastBriefing,
    shown: Sequence[ShownSource],
    dropped: Sequence[Dropped],
) -> tuple[Change, ...]:
    """Lists the changes in order of discovery.

    Args:
        blocks: The whole block of every fact ever found, in order of discovery.
        shown: The sources of the new briefing.
    """
    before = _numbers_by_fact(last.shown)
    now = _numbers_by_fact(shown)
    merged_into: dict[str, str] = {}
    for block in blocks:
        merged_into.update(dict.fromkeys(block.fact.merged, block.fact.id))
    # A fact may lose some sentences by one rule and some by another: each rule is a change of its own.
    dropped_of: dict[str, list[Dropped]] = {}
    for item in dropped:
        dropped_of.setdefault(item.what, []).append(item)
    found: list[Change] = []
    for number, block in enumerate(blocks):
        fact_id = block.fact.id
        had = before.get(fact_id, Numbers())
        has = now.get(fact_id, Numbers())
        reasons = dropped_of.get(fact_id, [])
        if fact_id in merged_into:
            if had:
                found.append(_merged(block, had, merged_into[fact_id]))
        elif number >= last.known:
            # No earlier briefing showed a new fact, so the sentences that it lacks were lost from the start.
            found += _gained(
                block,
                "came",
                f"found in round {block.fact.round} by {block.fact.tool_call_id}",
                has,
            )
            found += _lost(block, Numbers(block.numbers) - has, reasons)
        else:
            found += _gained(block, "returned", RETURNED, has - had)
            found += _lost(block, had - has, reasons)
    return tuple(found)


def _numbers_by_fact(shown: Sequence[ShownSource]) -> dict[str, Numbers]:
    return {row.fact_id: Numbers(row.sentences) for row in shown}


def _merged(block: SourceBlock, had: Numbers, into: str) -> Change:
    # The change names the whole fact, because no request shows a sentence under its id any more.
    return Change(
        what=block.fact.id,
        change="merged",
        why=f"stands in {into} now",
        tokens=_tokens(block, had),
    )


def _gained(
    block: SourceBlock, change: Literal["came", "returned"], why: str, gained: Numbers
) -> list[Change]:
    if not gained:
        return []
    return [_change(block, change, why, gained)]


def _lost(
    block: SourceBlock, lost: Numbers, reasons: Sequence[Dropped]
) -> list[Change]:
    found: list[Change] = []
    for item in reasons:
        # A rule that names no sentences dropped the whole fact.
        gone = lost.intersection(item.sentences) if item.sentences else lost
        if gone:
            found.append(_change(block, _CHANGES_BY_RULE[item.rule], item.why, gone))
    return found


def _change(
    block: SourceBlock,
    change: Literal["came", "returned", "decayed", "dropped", "repeated"],
    why: str,
    numbers: Numbers,
) -> Change:
    """Builds one change; it names no sentences if they are all of the fact's."""
    is_whole = len(numbers) == len(block.sentences)
    named = () if is_whole else tuple(sorted(numbers))
    return Change(
        what=block.fact.id,
        change=change,
        why=why,
        tokens=_tokens(block, numbers),
        sentences=named,
    )


def _tokens(block: SourceBlock, numbers: Numbers) -> int:
    return sum([each.tokens for each in block.sentences if each.number in numbers])
