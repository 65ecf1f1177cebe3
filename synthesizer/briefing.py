"""Builds the briefing of one reasoning call out of memory: one message, what is stable first.

Its blocks, in order: the conversation (where there was one), the question, one `search_result` for each fact in order
of discovery, and last the notes. So successive requests of a query share their beginning up to the first new fact.
"""

from __future__ import annotations

from collections.abc import Sequence

from synthesizer.blocks import SourceBlock, text_block
from synthesizer.decay import Shown, contested, drop_order, fit
from synthesizer.memory import Memory
from synthesizer.notes import Notes, most_tokens, write_notes
from synthesizer.tokens import tokens_of
from synthesizer.worth import worths
from vocabulary.events import BriefingPrepared, RoundOpened, SentencesToScore
from vocabulary.values import Kept, Message, ShownSource


def brief(memory: Memory, opened: RoundOpened) -> BriefingPrepared | SentencesToScore:
    """The briefing for the call of `opened` where everything fits; else the sentences whose meaning may decide."""
    sources = _showable(memory)
    notes = write_notes(memory, opened, _numbers(sources))
    room = _room(memory, notes)
    if _tokens(sources) <= room:
        return _briefing(memory, opened, Shown(sources=sources), notes)
    order = drop_order(sources, worths(memory.intent.question, sources), room)
    texts = [block.fact.passage.sentence(number) for block in sources for number in block.sentences]
    asked = tuple(Kept(texts[place]) for place in _asked(sources, order, room))
    return SentencesToScore(call_id=opened.call_id, query=memory.intent.question, sentences=asked)


def brief_by_worth(memory: Memory, opened: RoundOpened, meaning: Sequence[float]) -> BriefingPrepared:
    """The briefing for the call of `opened`, with what is worth least left out until the rest fits.

    Args:
        meaning: Likeness to the question of every sentence that was to be scored, in order; empty where it could not
            be had.
    """
    sources = _showable(memory)
    room = _room(memory, write_notes(memory, opened, _numbers(sources)))
    by_words = worths(memory.intent.question, sources)
    order = drop_order(sources, by_words, room)
    asked = _asked(sources, order, room)
    if len(meaning) == len(asked):
        likeness = dict(zip(asked, meaning, strict=True))
        band = contested(sources, order, room)
        order[band.start : band.stop] = sorted(asked, key=lambda place: (by_words[place] + likeness[place], -place))
    shown = fit(sources, order, room)
    return _briefing(memory, opened, shown, write_notes(memory, opened, _numbers(shown.sources)))


def _asked(sources: Sequence[SourceBlock], order: Sequence[int], room: int) -> list[int]:
    """The places of the sentences whose meaning may decide, in order of discovery."""
    band = contested(sources, order, room)
    return sorted(order[band.start : band.stop])


def _showable(memory: Memory) -> tuple[SourceBlock, ...]:
    return tuple(block for block in memory.sources if block.sentences)


def _room(memory: Memory, notes: Notes) -> int:
    """The tokens that `notes` on all sources leave for them.

    Notes on fewer sources are never longer, save where some were dropped: then others may come back in their place.
    """
    return memory.settings.briefing_tokens - (most_tokens(memory) if notes.dropped else tokens_of(notes.text))


def _tokens(sources: Sequence[SourceBlock]) -> int:
    return sum(block.all_tokens for block in sources)


def _numbers(sources: Sequence[SourceBlock]) -> dict[str, int]:
    return {block.fact.id: number for number, block in enumerate(sources, start=1)}


def _briefing(memory: Memory, opened: RoundOpened, shown: Shown, notes: Notes) -> BriefingPrepared:
    blocks = (*memory.head, *(block.kept for block in shown.sources), text_block(notes.text))
    return BriefingPrepared(
        call_id=opened.call_id,
        round=opened.round,
        messages=(Message(role="user", content=blocks),),
        sources=tuple(ShownSource(fact_id=block.fact.id, sentences=block.sentences) for block in shown.sources),
        facts=tuple(block.fact.id for block in shown.sources),
        tokens=memory.head_tokens + _tokens(shown.sources) + tokens_of(notes.text),
        dropped=(*shown.dropped, *notes.dropped),
    )
