"""Builds the briefing of one reasoning call from memory: one message, the passages first and the question last.

Order, score, select, number, render: each step is a plain function over the values of the one before; settling a round
has collected the material already. The message's blocks, in order: one `search_result` for each fact, best search
scores first; the notes; the conversation, if there was one; the question. In traces of rules 1 the question and the
conversation come first, and the facts in order of discovery.
"""

from __future__ import annotations

from typing import NamedTuple

from antiphon.synthesizer.memory import Memory
from antiphon.synthesizer.notes import Notes, write_notes
from antiphon.synthesizer.rendering import render
from antiphon.synthesizer.scoring import Aim, Candidate, best_first, score
from antiphon.synthesizer.selection import select
from antiphon.vocabulary.events import BriefingPrepared, RoundOpened


class Draft(NamedTuple):
    """Everything that a briefing could show, before anything is left out.

    Attributes:
        candidates: Every sentence with its score, in the order of the facts in the request.
        notes: The notes that go with all of them; leaving some out never makes the notes longer.
    """

    candidates: list[Candidate]
    notes: Notes


def brief(memory: Memory, opened: RoundOpened) -> BriefingPrepared:
    """Builds the briefing for the call of `opened`, without decayed sentences and within the budget."""
    # The length of the notes decides how much room the sources have, so the notes come first.
    draft = draft_briefing(memory, opened)
    selection = select(
        draft.candidates,
        memory.intent,
        memory.settings.briefing_tokens,
        draft.notes.room,
        memory.least_scores,
    )
    if len(selection.sources) == len(memory.showable):
        return render(memory, opened, selection, draft.notes)
    # Leaving a source out renumbers those after it, and the notes refer to sources by number.
    notes = write_notes(memory, opened, selection.sources)
    return render(memory, opened, selection, notes)


def draft_briefing(memory: Memory, opened: RoundOpened) -> Draft:
    """Scores everything that the briefing may show, and writes the notes that would go with all of it."""
    sought = tuple([call.terms for call in memory.intent.sought])
    brought = [settled.attempt.facts for settled in memory.usage.settled]
    found = tuple(filter(None, brought))
    aim = Aim(asked=memory.intent.asked, sought=sought, found=found)
    # Sorted before the notes are written: leaving sources out afterwards makes numbers smaller, and notes no longer.
    known = memory.showable
    showable = best_first(aim, known) if memory.question_last else known
    return Draft(score(aim, showable), write_notes(memory, opened, showable))
