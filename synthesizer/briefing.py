"""Builds the briefing of one reasoning call out of memory: one message, what is stable first.

Collect, number, score, select, render: each step is a plain function over the values of the one before. The message's
blocks, in order: the conversation (where there was one), the question, one `search_result` for each fact in order of
discovery, and last the notes. So successive requests of a query share their beginning up to the first new fact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from antiphon.synthesizer.facts import living, numbered
from antiphon.synthesizer.memory import Memory
from antiphon.synthesizer.notes import Notes, write_notes
from antiphon.synthesizer.rendering import render
from antiphon.synthesizer.scoring import Aim, Candidate, score
from antiphon.synthesizer.selection import select
from antiphon.vocabulary.events import BriefingPrepared, RoundOpened


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
    numbers = numbered(memory.facts.known, [block.fact.id for block in selection.sources])
    notes = draft.notes
    if numbers != draft.numbers:
        notes = write_notes(memory, opened, numbers)
    return render(memory, opened, selection, notes)


def draft_briefing(memory: Memory, opened: RoundOpened) -> Draft:
    """Collects all that may be shown, numbers and scores it, and writes the notes that would go with all of it."""
    known = memory.facts.known
    # A fact that says nearly the same as another is not shown; the notes tell of it.
    standing = {fact.id for fact in living(known) if fact.like is None}
    sources = [block for block in memory.sources if block.sentences and block.fact.id in standing]
    numbers = numbered(known, [block.fact.id for block in sources])
    aim = Aim(
        asked=memory.intent.asked,
        sought=tuple([sought.terms for sought in memory.intent.sought]),
        found=tuple([settled.attempt.facts for settled in memory.usage.settled if settled.attempt.facts]),
    )
    return Draft(score(aim, sources), numbers, write_notes(memory, opened, numbers))
