"""Builds the briefing of one reasoning call out of memory: one message, what is stable first.

Collect, score, select, number, render: each step is a plain function over the values of the one before. The message's
blocks, in order: the conversation (where there was one), the question, one `search_result` for each fact in order of
discovery, and last the notes. So successive requests of a query share their beginning up to the first new fact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from antiphon.language.lengths import tokens_of
from antiphon.synthesizer.blocks import SourceBlock, text_block
from antiphon.synthesizer.changes import changes
from antiphon.synthesizer.facts import Facts, living
from antiphon.synthesizer.memory import Memory
from antiphon.synthesizer.notes import Notes, write_notes
from antiphon.synthesizer.scoring import Aim, Candidate, score
from antiphon.synthesizer.selection import Selection, select
from antiphon.vocabulary.events import BriefingPrepared, RoundOpened
from antiphon.vocabulary.values import Dropped, Message, ShownSource

REPEATED = "says nearly the same as {fact}"


class Draft(NamedTuple):
    """Everything that a briefing could show, before anything is left out.

    Attributes:
        candidates: Every sentence with its score, in order of discovery.
        numbers: Each fact's number in a request that shows all sources.
        notes: The notes that go with such a request.
    """

    candidates: list[Candidate]
    numbers: Mapping[str, int]
    notes: Notes


def brief(memory: Memory, opened: RoundOpened) -> BriefingPrepared:
    """Builds the briefing for the call of `opened`: without what has decayed, and within the budget."""
    draft = draft_briefing(memory, opened)
    selection = select(draft.candidates, memory.intent, memory.settings.briefing_tokens, draft.notes.room)
    numbers = _number(memory.facts, selection.sources)
    notes = draft.notes
    if numbers != draft.numbers:
        notes = write_notes(memory, opened, numbers)
    return _render(memory, opened, selection, notes)


def draft_briefing(memory: Memory, opened: RoundOpened) -> Draft:
    """Collects all that may be shown, scores it, and writes the notes that would go with all of it."""
    sources = _collect(memory)
    numbers = _number(memory.facts, sources)
    aim = Aim(
        asked=memory.intent.asked,
        sought=tuple([aim.terms for aim in memory.intent.sought]),
        found=tuple([attempt.facts for attempt in memory.usage.settled if attempt.facts]),
    )
    return Draft(score(aim, sources), numbers, write_notes(memory, opened, numbers))


def _collect(memory: Memory) -> list[SourceBlock]:
    """The blocks of the facts that stand for themselves; the notes tell of those that say nearly the same."""
    alive = {fact.id for fact in living(memory.facts.known) if fact.like is None}
    return [block for block in memory.sources if block.sentences and block.fact.id in alive]


def _number(facts: Facts, sources: Sequence[SourceBlock]) -> Mapping[str, int]:
    """Each fact's number in the request; one that says nearly the same as another has that one's."""
    numbers = {block.fact.id: number for number, block in enumerate(sources, start=1)}
    surviving: dict[str, str] = {}
    for fact in facts.known:
        surviving.update(dict.fromkeys(fact.merged, fact.id))
    for fact in facts.known:
        original = fact.like
        if original is not None:
            # The original may have been taken into a later fact, and that one into one later still.
            while original in surviving:
                original = surviving[original]
            if original in numbers:
                numbers[fact.id] = numbers[original]
        if fact.id in numbers:
            numbers.update(dict.fromkeys(fact.merged, numbers[fact.id]))
    return numbers


def _render(memory: Memory, opened: RoundOpened, selection: Selection, notes: Notes) -> BriefingPrepared:
    blocks = [*memory.head, *[block.json for block in selection.sources], text_block(notes.text)]
    shown = [ShownSource(fact_id=block.fact.id, sentences=block.numbers) for block in selection.sources]
    dropped = (*selection.dropped, *_repeated(memory.sources), *notes.dropped)
    source_tokens = sum([block.tokens for block in selection.sources])
    return BriefingPrepared(
        call_id=opened.call_id,
        round=opened.round,
        messages=(Message(role="user", content=tuple(blocks)),),
        sources=tuple(shown),
        facts=tuple([source.fact_id for source in shown]),
        tokens=memory.head_tokens + source_tokens + tokens_of(notes.text),
        dropped=dropped,
        changes=changes(memory.sources, memory.last, shown, dropped),
        summary=notes.summary,
    )


def _repeated(sources: Sequence[SourceBlock]) -> list[Dropped]:
    rows: list[Dropped] = []
    for block in sources:
        if block.fact.like is not None and block.sentences:
            why = REPEATED.format(fact=block.fact.like)
            rows.append(Dropped(what=block.fact.id, why=why, tokens=block.tokens, rule="repeated"))
    return rows
