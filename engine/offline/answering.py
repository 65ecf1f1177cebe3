"""Answers by extraction: the sentences of the sources that answer best, each with its citation; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from antiphon.engine.offline.catalogue_answers import (
    answer_from_catalogue,
    cite_lesson,
    heading_of,
    talk_back,
    with_remarks,
)
from antiphon.engine.offline.elsewhere import elsewhere, nothing_elsewhere
from antiphon.engine.offline.intents import Inquiry
from antiphon.engine.offline.task import Source, Task, extract_from
from antiphon.engine.offline.wire import Draft
from antiphon.language.evidence import Weigh, telling_words
from antiphon.language.extract import Extraction, Pick, extract
from antiphon.language.markup import Material
from antiphon.language.sentences import sentences
from antiphon.vocabulary.events import NOT_SEARCHED, NOTHING_FOUND
from antiphon.vocabulary.ports import Json

WEAK = 0.32
"""Evidence below this answers nothing. Chosen on samples/questions.jsonl and fourteen questions of our own that sound
as if the courses could answer them: every answerable question lies above, twelve of these and all others below."""
MOST_ELSEWHERE = 2
LEAST_FOR_SUMMARY = 0.1
SUMMARY_SENTENCES = 5
MATERIAL_SENTENCES = 4
MOST_MATERIAL = 100

IRRELEVANT = "The answer is not in these courses: what was found in them does not speak to this question."
NO_MATCH = (
    "The answer is not in these courses: nothing was found in them for this question."
)
ALL_FAILED = "Nothing could be looked up in the courses for this question, because every tool call failed."
NO_CALL = "Nothing was searched for this question, and without course material there is no answer to give."
NOTHING_TO_NOTE = "Nothing to note."


class _CourseAnswer(NamedTuple):
    course: str
    passages: list[Source]
    found: Extraction


def answer(task: Task, weigh: Weigh | None = None) -> Draft:
    """Writes the answer, or a statement that there is none."""
    inquiry = task.inquiry
    draft = Draft()
    if inquiry.kind == "greeting":
        draft.say(talk_back(inquiry, task))
    elif not task.sources:
        _decline(task, draft)
    elif inquiry.parts:
        _answer_parts(inquiry, task, weigh, draft)
    else:
        _answer_from_sources(inquiry, task, weigh, draft)
    # Nothing in the sources was evidence enough.
    if not draft.blocks:
        draft.decline(IRRELEVANT, NOTHING_FOUND)
    return with_remarks(inquiry, task, draft)


def summary(
    question: str, material: Sequence[Material], weigh: Weigh | None = None
) -> list[Json]:
    """Sums the material up by the sentences that answer most of the question, each with its source, in one block."""
    material = material[:MOST_MATERIAL]
    passages = [sentences(each.said) for each in material]
    labels = [each.source for each in material]
    found = extract(question, passages, weigh, limit=MATERIAL_SENTENCES, titles=labels)
    if found.evidence < LEAST_FOR_SUMMARY:
        return [{"type": "text", "text": NOTHING_TO_NOTE}]
    noted: list[str] = []
    for pick in found.picks:
        quoted = "".join(passages[pick.passage][pick.first : pick.end]).strip()
        noted.append(f"{labels[pick.passage]}: {quoted}")
    return [{"type": "text", "text": " ".join(noted)}]


def _answer_parts(
    inquiry: Inquiry, task: Task, weigh: Weigh | None, draft: Draft
) -> None:
    """Answers each question of several in its turn; one that nothing was found for is named."""
    is_answered = False
    answers = Draft()
    for part in inquiry.parts:
        of_part = Draft()
        _answer_from_sources(part, task, weigh, of_part)
        answers.paragraph(heading_of(part))
        if of_part.blocks:
            answers.add(of_part)
            is_answered = True
        else:
            answers.say("Nothing that answers this was found in these courses.")
    # Where none is answered, the general statement is truer than several that nothing was found.
    if is_answered:
        draft.add(answers)


def _decline(task: Task, draft: Draft) -> None:
    """Says why nothing is there to answer from."""
    outcomes = {attempt.outcome for attempt in task.attempts}
    if not outcomes:
        draft.decline(NO_CALL, NOT_SEARCHED)
    elif task.unknown_course:
        draft.decline(task.unknown_course, NOTHING_FOUND)
    elif outcomes == {"failed"}:
        draft.decline(ALL_FAILED, NOT_SEARCHED)
    else:
        draft.decline(NO_MATCH, NOTHING_FOUND)


def _answer_from_sources(
    inquiry: Inquiry, task: Task, weigh: Weigh | None, draft: Draft
) -> None:
    # An outline answers where one is asked for, and also where there is nothing else.
    if task.has_catalogue and (inquiry.kind == "outline" or not task.passages):
        answer_from_catalogue(inquiry, task, draft)
        return
    match inquiry.kind:
        case "find":
            if extract_from(task.passages, inquiry.topic, weigh).evidence >= WEAK:
                answer_from_catalogue(inquiry, task, draft)
        case "look_up" if task.outlines:
            _answer_elsewhere(inquiry, task, weigh, draft)
        case "compare":
            _answer_sides(inquiry, task, weigh, draft)
        case "across":
            _answer_by_course(inquiry.focus, task.passages, weigh, draft)
        case _:
            _answer_in_place(inquiry, task, weigh, draft)


def _answer_in_place(
    inquiry: Inquiry, task: Task, weigh: Weigh | None, draft: Draft
) -> None:
    """Answers from the course and lesson that are named; of a lesson the outline says what it is called."""
    passages = task.passages_of(inquiry.course, inquiry.lesson)
    line = task.lesson_line(inquiry.lesson)
    if line is not None and line.outline.course == inquiry.course and passages:
        cite_lesson(line, draft)
        draft.paragraph()
    _answer_plainly(inquiry, passages, weigh, draft)


def _answer_plainly(
    inquiry: Inquiry, passages: Sequence[Source], weigh: Weigh | None, draft: Draft
) -> None:
    if inquiry.lesson is not None and not telling_words(inquiry.topic):
        _sum_lesson_up(passages, weigh, draft)
        return
    found = extract_from(passages, inquiry.focus, weigh)
    if found.evidence >= WEAK:
        _quote(found.picks, passages, draft)


def _quote(picks: Sequence[Pick], sources: Sequence[Source], draft: Draft) -> None:
    before: Pick | None = None
    for pick in picks:
        if before is None:
            separator = ""
        elif before.passage == pick.passage:
            separator = " "
        else:
            separator = "\n\n"
        draft.say(separator)
        draft.cite(sources[pick.passage], pick.first, pick.end)
        before = pick


def _answer_sides(
    inquiry: Inquiry, task: Task, weigh: Weigh | None, draft: Draft
) -> None:
    """Answers each side in turn; a side that nothing was found for is named as such."""
    # Where neither side is answered, the general statement is truer than two that nothing was found.
    is_answered = False
    answers = Draft()
    for side in inquiry.sides:
        passages = task.found_for(side.topic, side.course)
        found = extract_from(passages, side.topic, weigh, limit=3)
        answers.paragraph(f"On {side.topic}: ")
        if found.evidence < WEAK:
            answers.say("nothing that answers this was found in these courses.")
        else:
            _quote(found.picks, passages, answers)
            is_answered = True
    if is_answered:
        draft.blocks += answers.blocks


def _answer_by_course(
    topic: str,
    sources: Sequence[Source],
    weigh: Weigh | None,
    draft: Draft,
) -> None:
    """Writes one paragraph for each course that speaks of the topic, the most to the point first."""
    by_course: dict[str, list[Source]] = {}
    for source in sources:
        by_course.setdefault(source.course, []).append(source)
    answers: list[_CourseAnswer] = []
    for course, passages in by_course.items():
        found = extract_from(passages, topic, weigh, limit=2)
        if found.evidence >= WEAK:
            answers.append(_CourseAnswer(course, passages, found))
    # Sorting is stable: of two with equal evidence the course that was found first comes first.
    answers.sort(key=lambda answer: answer.found.evidence, reverse=True)
    for answer in answers:
        draft.paragraph(f"In {answer.course}: ")
        _quote(answer.found.picks, answer.passages, draft)


def _answer_elsewhere(
    inquiry: Inquiry, task: Task, weigh: Weigh | None, draft: Draft
) -> None:
    """States a lesson's topic, and quotes other courses on it."""
    lesson = task.lesson_line(inquiry.lesson)
    if lesson is None:
        draft.say(f"The outline names no lesson {inquiry.lesson}.")
        return
    course = lesson.outline.course
    cite_lesson(lesson, draft)
    places = elsewhere(lesson.title, course, inquiry.lesson, task, weigh)
    for place in places[:MOST_ELSEWHERE]:
        draft.paragraph(f"In {place.passage.place}: ")
        found = extract_from([place.passage], lesson.title, weigh, limit=2)
        if found.picks:
            _quote(found.picks, [place.passage], draft)
        else:
            draft.cite(place.passage, 0, min(2, len(place.passage.blocks)))
    if not places:
        draft.say(f" {nothing_elsewhere(course, task)}")


def _sum_lesson_up(
    sources: Sequence[Source], weigh: Weigh | None, draft: Draft
) -> None:
    """Quotes the beginning of the passage that holds most of its lesson's title, where nothing closer is asked."""
    # One run of sentences reads better than the beginnings of several passages.
    best: Source | None = None
    most = (-1.0, 0)
    for source in sources:
        # Of passages that hold the title equally well, the longer one.
        fit = (
            extract_from([source], source.title, weigh, limit=1).evidence,
            len(source.blocks),
        )
        if fit > most:
            best = source
            most = fit
    if best is not None:
        draft.cite(best, 0, min(SUMMARY_SENTENCES, len(best.blocks)))
