"""Answers a comparison: each side in turn, from what was found for it."""

from __future__ import annotations

from antiphon.engine.offline.excerpts import Found, look, place_of, quote
from antiphon.engine.offline.intents import Inquiry
from antiphon.engine.offline.task import Task
from antiphon.engine.offline.wire import Draft
from antiphon.language.certainty import Certainty, least
from antiphon.language.evidence import Measures

MOST_OF_A_SIDE = 2


def answer_sides(
    inquiry: Inquiry, task: Task, measures: Measures, draft: Draft
) -> None:
    """Answers each side in turn; a side that nothing was found for is named as such."""
    # Where neither side is answered, the general statement is truer than two that nothing was found.
    levels: list[Certainty] = []
    missing = nowhere = False
    answers = Draft()
    for side in inquiry.sides:
        passages = task.found_for(side.topic, side.course)
        # Before two things can be compared, each has to be known for what it is.
        asked = f"What is {side.topic}?"
        found = look(passages, asked, measures, MOST_OF_A_SIDE)
        if found.answers:
            _quote_part(f"On {side.topic}", found, answers)
            levels.append(found.certainty)
        else:
            answers.paragraph(f"On {side.topic}: {_nothing(side.topic, task)}")
            missing = True
            nowhere = nowhere or found.is_of_unknown
    if not levels:
        return
    if nowhere:
        # With what the courses have no word for, they compare nothing.
        levels.append("low")
    draft.blocks += answers.blocks
    draft.doubt(least(levels), part_missing=missing)


def _nothing(topic: str, task: Task) -> str:
    """Says that nothing was found on a topic, and no more than was looked into."""
    if task.was_searched_everywhere(topic):
        return "nothing that answers this was found in these courses."
    return "nothing that answers this was found where it was looked for."


def _quote_part(opening: str, found: Found, draft: Draft) -> None:
    """Writes the excerpts of one part of an answer, the part's name before the first."""
    for excerpt in found.extraction.excerpts:
        source = found.sources[excerpt.passage]
        if excerpt is found.extraction.excerpts[0]:
            draft.paragraph(f"{opening} ({place_of(source, with_course=True)}): ")
        else:
            draft.paragraph(f"{place_of(source, with_course=True)}: ")
        quote(excerpt, source, draft)
