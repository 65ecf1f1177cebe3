"""Answers from the course and lesson that a question names, or from wherever it was found."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.engine.offline.catalogue_answers import answer_from_catalogue, of_found
from antiphon.engine.offline.excerpts import Found, look, quote_all
from antiphon.engine.offline.intents import Inquiry
from antiphon.engine.offline.lesson_overview import sum_lesson_up
from antiphon.engine.offline.outline import Outline
from antiphon.engine.offline.remarks import CLOSEST
from antiphon.engine.offline.statements import cite_lesson, state
from antiphon.engine.offline.task import PART, Source, Task
from antiphon.engine.offline.wire import Draft
from antiphon.language.certainty import (
    LEVELS,
    MEDIUM_IN_LESSON,
    Certainty,
    probability,
)
from antiphon.language.evidence import Measures, telling_words

LEAST_OF_TOPIC = 0.35
_SAYS_PART = {"beginning": "begins", "end": "ends"}
FROM_CATALOGUE = "The catalogue says:"


def answer_in_place(
    inquiry: Inquiry, task: Task, measures: Measures, draft: Draft
) -> None:
    """Answers from the course and lesson that are named; of a lesson the outline says what it is called."""
    if inquiry.part is not None and answer_part(inquiry, task, draft):
        return
    passages = task.passages_of(inquiry.course, inquiry.lesson)
    of_texts = Draft()
    _answer_plainly(inquiry, passages, measures, of_texts)
    line = task.lesson_line(inquiry.lesson)
    if of_texts.is_sure and line is not None and line.outline.course == inquiry.course:
        cite_lesson(line, draft)
        draft.paragraph()
    draft.add(of_texts)
    draft.doubt(of_texts.certainty)


def answer_part(inquiry: Inquiry, task: Task, draft: Draft) -> bool:
    """Quotes how a lesson begins or ends; False where that was not to be had."""
    source = _part_that_was_read(inquiry, task)
    if source is None:
        return False
    line = task.lesson_line(inquiry.lesson)
    if line is not None and line.outline.course == inquiry.course:
        cite_lesson(line, draft)
        if "teacher" in inquiry.asks:
            state(inquiry, Outline(line.outline), draft)
    draft.paragraph(f"It {_SAYS_PART[inquiry.part or 'beginning']}: ")
    draft.cite(source, 0, len(source.blocks))
    return True


def _part_that_was_read(inquiry: Inquiry, task: Task) -> Source | None:
    """Returns the passage that the call for the beginning or the end of the lesson brought."""
    for attempt in task.attempts:
        if PART not in attempt.arguments:
            continue
        for source in task.numbered(attempt.facts):
            if (source.course, source.lesson) == (inquiry.course, inquiry.lesson):
                return source
    return None


def answer_beside(inquiry: Inquiry, task: Task, of_texts: Draft, draft: Draft) -> None:
    """Says what the catalogue knows beside the texts, which may not answer: one of the two may be what is meant."""
    asked = inquiry
    if not inquiry.has_course:
        asked = of_found(inquiry, task)
    of_catalogue = Draft()
    answer_from_catalogue(asked, task, of_catalogue)
    in_order = [of_texts, of_catalogue]
    if inquiry.asks:
        in_order.reverse()
    for part in in_order:
        if not part.blocks:
            continue
        if part is of_catalogue:
            draft.paragraph(FROM_CATALOGUE)
        draft.paragraph()
        draft.add(part)
    draft.doubt("low")


def _answer_plainly(
    inquiry: Inquiry, passages: Sequence[Source], measures: Measures, draft: Draft
) -> None:
    names_lesson = inquiry.lesson is not None
    if names_lesson and not telling_words(inquiry.topic):
        sum_lesson_up(passages, measures, draft)
        return
    found = look(passages, inquiry.focus, measures)
    # "What is taught in it, before I approve the budget": the other words ask for nothing.
    if names_lesson and inquiry.asks == {"overview"} and not _speaks_to(found):
        sum_lesson_up(passages, measures, draft)
    # Whoever names the lesson knows that it speaks of what is asked, in whatever words.
    elif found.extraction.excerpts and (found.answers or names_lesson):
        named = found
        if names_lesson:
            named = in_known_lesson(found)
        _quote_found(inquiry, named, draft)


def _speaks_to(found: Found) -> bool:
    """Returns True where what was found holds some of the words that stand beside a lesson's name."""
    return found.is_likely and found.extraction.fit.share >= LEAST_OF_TOPIC


def in_known_lesson(found: Found) -> Found:
    """Returns what was found in the lesson that is asked about as what is likely there: less has to show it."""
    fit = found.extraction.fit
    # By words alone a place is not known well enough.
    if found.is_likely or fit.likeness is None:
        return found
    if probability(fit) < MEDIUM_IN_LESSON:
        return found
    return found._replace(certainty="medium")


def _quote_found(inquiry: Inquiry, found: Found, draft: Draft) -> None:
    """Writes what was found, under a remark where it may not be the answer."""
    if not found.is_likely:
        draft.paragraph(inquiry.tongue.closest or CLOSEST)
    quote_all(found, draft)
    draft.doubt(max(found.certainty, "low", key=LEVELS.index))


def answer_second_step(
    inquiry: Inquiry, passages: Sequence[Source], measures: Measures, draft: Draft
) -> Certainty:
    """Quotes what is asked of a lesson that a first step has found; returns how sure the quotation is by itself.

    That the lesson is the right one says nothing of whether the excerpt is. Where nothing stands there it is `none`.
    """
    found = in_known_lesson(look(passages, inquiry.wanted, measures))
    if not found.extraction.excerpts:
        return "none"
    if not found.is_likely:
        draft.paragraph(inquiry.tongue.closest or CLOSEST)
    quote_all(found, draft, with_course=True)
    return max(found.certainty, "low", key=LEVELS.index)
