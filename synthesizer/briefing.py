"""Builds the briefing of one reasoning call out of memory: one message, what is stable first.

Its blocks, in order: the conversation (where there was one), the question, one `search_result` for each fact in order
of discovery, and last the notes. So successive requests of a query share their beginning up to the first new fact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from antiphon.synthesizer import decay
from antiphon.synthesizer.blocks import SourceBlock, text_block
from antiphon.synthesizer.budget import Ground, drop_order, first_to_go
from antiphon.synthesizer.changes import changes
from antiphon.synthesizer.facts import living
from antiphon.synthesizer.memory import Memory
from antiphon.synthesizer.notes import Notes, most_tokens, write_notes
from antiphon.synthesizer.shown import Shown, shown
from antiphon.synthesizer.tokens import tokens_of
from antiphon.synthesizer.worth import Aim, worths
from antiphon.vocabulary.events import BriefingPrepared, RoundOpened
from antiphon.vocabulary.values import Dropped, Message, ShownSource

REPEATED = "says nearly the same as {fact}"


def brief(memory: Memory, opened: RoundOpened) -> BriefingPrepared:
    """The briefing for the call of `opened`: without what has decayed, and within the budget."""
    draft = _draft(memory, opened)
    return _briefing(memory, opened, draft, within_budget(*_ground(memory, draft)))


def within_budget(ground: Ground, worth: Sequence[float]) -> Shown:
    """What is shown of the ground: without what has decayed, and as much of the rest as there is room for."""
    decayed = shown(ground)
    return decayed if decayed.tokens <= ground.room else shown(ground, first_to_go(ground, drop_order(ground, worth)))


def ground_of(memory: Memory, opened: RoundOpened, reserve: int = 0) -> tuple[Ground, list[float]]:
    """What may be shown, and what each sentence of it is worth.

    Args:
        reserve: Tokens that are kept free for more notes.
    """
    return _ground(memory, _draft(memory, opened), reserve)


class _Draft(NamedTuple):
    """Everything that could be shown, and the notes that would go with all of it."""

    sources: tuple[SourceBlock, ...]
    numbers: Mapping[str, int]
    notes: Notes


def _draft(memory: Memory, opened: RoundOpened) -> _Draft:
    sources = _showable(memory)
    numbers = _numbers(memory, sources)
    return _Draft(sources, numbers, write_notes(memory, opened, numbers))


def _ground(memory: Memory, draft: _Draft, reserve: int = 0) -> tuple[Ground, list[float]]:
    by_words = worths(aim_of(memory), draft.sources)
    gone = decay.decayed(memory.intent, draft.sources, by_words, memory.settings.briefing_tokens)
    room = _room(memory, draft.notes) - reserve
    return Ground(draft.sources, gone, decay.protected(memory.intent, draft.sources), room), by_words


def aim_of(memory: Memory) -> Aim:
    """What sentences are weighed against."""
    return Aim(
        asked=memory.intent.asked,
        sought=tuple(sought.terms for sought in memory.intent.sought),
        found=tuple(tried.facts for tried in memory.usage.settled if tried.facts),
    )


def _showable(memory: Memory) -> tuple[SourceBlock, ...]:
    """The blocks of the facts that stand for themselves; the notes tell of those that say nearly the same."""
    alive = {fact.id for fact in living(memory.facts.known)}
    return tuple(
        block for block in memory.sources if block.sentences and block.fact.id in alive and block.fact.like is None
    )


def _heir(memory: Memory, fact_id: str) -> str:
    """The fact in which another stands now: itself, where it was merged into none."""
    heirs = {old: fact.id for fact in memory.facts.known for old in fact.merged}
    while fact_id in heirs:
        fact_id = heirs[fact_id]
    return fact_id


def _room(memory: Memory, notes: Notes) -> int:
    """The tokens that `notes` on all sources leave for them.

    Notes on fewer sources are never longer, save where some were dropped: then others may come back in their place.
    """
    return memory.settings.briefing_tokens - (most_tokens(memory) if notes.dropped else tokens_of(notes.text))


def _numbers(memory: Memory, sources: Sequence[SourceBlock]) -> Mapping[str, int]:
    """Each fact's number in the request; one that says nearly the same as another has that one's."""
    numbers = {block.fact.id: number for number, block in enumerate(sources, start=1)}
    for fact in memory.facts.known:
        if fact.like is not None and (original := numbers.get(_heir(memory, fact.like))) is not None:
            numbers[fact.id] = original
        for old in fact.merged:
            if fact.id in numbers:
                numbers[old] = numbers[fact.id]
    return numbers


def _repeated(memory: Memory) -> tuple[Dropped, ...]:
    return tuple(
        Dropped(
            what=block.fact.id,
            why=REPEATED.format(fact=block.fact.like),
            tokens=block.all_tokens,
            rule="repeated",
        )
        for block in memory.sources
        if block.fact.like is not None and block.sentences
    )


def _briefing(memory: Memory, opened: RoundOpened, draft: _Draft, kept: Shown) -> BriefingPrepared:
    numbers = _numbers(memory, kept.sources)
    notes = draft.notes if numbers == draft.numbers else write_notes(memory, opened, numbers)
    blocks = (*memory.head, *(block.kept for block in kept.sources), text_block(notes.text))
    table = tuple(ShownSource(fact_id=block.fact.id, sentences=block.sentences) for block in kept.sources)
    dropped = (*kept.dropped, *_repeated(memory), *notes.dropped)
    return BriefingPrepared(
        call_id=opened.call_id,
        round=opened.round,
        messages=(Message(role="user", content=blocks),),
        sources=table,
        facts=tuple(block.fact.id for block in kept.sources),
        tokens=memory.head_tokens + kept.tokens + tokens_of(notes.text),
        dropped=dropped,
        changes=changes(memory.sources, memory.before, table, dropped),
        summary=notes.summary,
    )
