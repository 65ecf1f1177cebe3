"""Answers what is asked of several courses: which speak of a topic, and which of the topic of a lesson."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.engine.offline.catalogue_answers import cite_listed
from antiphon.engine.offline.elsewhere import (
    Elsewhere,
    elsewhere,
    nothing_elsewhere,
    subject_of,
)
from antiphon.engine.offline.excerpts import Found, look, place_of, quote
from antiphon.engine.offline.in_place import answer_in_place, answer_second_step
from antiphon.engine.offline.intents import EXACT, Inquiry
from antiphon.engine.offline.statements import cite_lesson
from antiphon.engine.offline.task import Source, Task
from antiphon.engine.offline.wire import Draft
from antiphon.language.certainty import LEVELS, Certainty, least, probability
from antiphon.language.evidence import Measures, telling_words
from antiphon.language.extract import Excerpt
from antiphon.language.words import terms

MOST_ELSEWHERE = 2
_CLOSE = 0.5
"""A further course is worth naming where it is this much as likely to speak of the topic as the likeliest one."""


def answer_by_course(
    inquiry: Inquiry, task: Task, measures: Measures, draft: Draft
) -> None:
    """Writes one excerpt for each course that speaks of the topic, the most to the point first.

    Those that the question names are the ones it leaves out: "Which course besides X …".
    """
    topic = inquiry.focus
    by_course: dict[str, list[Source]] = {}
    for source in task.passages:
        if source.course not in inquiry.courses:
            by_course.setdefault(source.course, []).append(source)
    answers: list[Found] = []
    for passages in by_course.values():
        found = look(passages, topic, measures, limit=1)
        if found.answers and found.extraction.excerpts:
            answers.append(found)
    # Sorting is stable: of two that are equally likely the course that was found first comes first.
    answers.sort(key=_likely, reverse=True)
    close = _CLOSE * max(map(_likely, answers), default=0.0)
    answers = [found for found in answers if _likely(found) >= close]
    for found in answers:
        excerpt = found.extraction.excerpts[0]
        source = found.sources[excerpt.passage]
        draft.paragraph(f"In {place_of(source, with_course=True)}: ")
        quote(excerpt, source, draft)
    levels = [_sure_of_course(found, topic) for found in answers]
    draft.doubt(max(levels, key=LEVELS.index, default="none"))


def _likely(found: Found) -> float:
    return probability(found.extraction.fit)


def _sure_of_course(found: Found, topic: str) -> Certainty:
    """Returns how sure it is that a course speaks of a topic: a lesson that is called after it is about it."""
    named = frozenset(terms(" ".join(telling_words(topic))))
    source = found.sources[found.extraction.excerpts[0].passage]
    if found.certainty == "low" and named and named <= frozenset(terms(source.title)):
        return "medium"
    return found.certainty


def answer_elsewhere(
    inquiry: Inquiry, task: Task, measures: Measures, draft: Draft
) -> None:
    """States a lesson's topic, and quotes other courses on it."""
    if not task.outlines:
        answer_in_place(inquiry, task, measures, draft)
        return
    lesson = task.lesson_line(inquiry.lesson)
    if lesson is None:
        draft.say(f"The outline names no lesson {inquiry.lesson}.")
        return
    course = lesson.outline.course
    cite_lesson(lesson, draft)
    subject = subject_of(lesson.title, inquiry.topic)
    places = elsewhere(subject, course, inquiry.lesson, task, measures.weigh)
    if inquiry.wanted and _answer_wanted(inquiry, places, task, measures, draft):
        return
    for place in places[:MOST_ELSEWHERE]:
        found = look([place.passage], place.topic, measures, limit=1)
        excerpt = Excerpt(0, 0, min(2, len(place.passage.blocks)), 0, 1.0)
        if found.extraction.excerpts:
            excerpt = found.extraction.excerpts[0]
        draft.paragraph(f"In {place_of(place.passage, with_course=True)}: ")
        quote(excerpt, place.passage, draft)
    if places:
        draft.doubt(places[0].certainty)
        if inquiry.asks & EXACT:
            cite_listed(places[0].passage.course, task, draft)
    else:
        draft.say(f" {nothing_elsewhere(course, task)}")
        draft.doubt("medium")


def _answer_wanted(
    inquiry: Inquiry,
    places: Sequence[Elsewhere],
    task: Task,
    measures: Measures,
    draft: Draft,
) -> bool:
    """Quotes what the lessons that were found say of what is asked of them; False where they say nothing of it."""
    passages: list[Source] = []
    for place in places[:MOST_ELSEWHERE]:
        found = place.passage
        passages += task.passages_of(found.course, found.lesson)
    sure = answer_second_step(inquiry, passages, measures, draft)
    if sure == "none":
        return False
    draft.doubt(least([sure, places[0].certainty]))
    return True
