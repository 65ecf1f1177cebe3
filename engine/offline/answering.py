"""Answers by extraction: the sentences of the sources that answer best, each with its citation; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from antiphon.engine.offline.intents import Inquiry, understand
from antiphon.engine.offline.task import Source, Task, extract_from
from antiphon.engine.offline.wire import Draft
from antiphon.language.evidence import Weigh, telling_words
from antiphon.language.extract import Excerpt as Pick, Extraction, extract
from antiphon.language.markup import Material
from antiphon.language.sentences import sentences
from antiphon.vocabulary.events import NOT_SEARCHED, NOTHING_FOUND
from antiphon.vocabulary.ports import Json

WEAK = 0.32
"""Evidence below this answers nothing. Chosen on samples/questions.jsonl and fourteen questions of our own that sound
as if the courses could answer them: every answerable question lies above, twelve of these and all others below."""
LEAST_ELSEWHERE = 0.1
"""A search for a lesson's title in another course found these passages by meaning: few shared words are enough."""
LEAST_FOR_SUMMARY = 0.1
SUMMARY_SENTENCES = 5
MATERIAL_SENTENCES = 4
MOST_MATERIAL = 100
MOST_OUTLINES = 3

IRRELEVANT = "The answer is not in these courses: what was found in them does not speak to this question."
NO_MATCH = (
    "The answer is not in these courses: nothing was found in them for this question."
)
ALL_FAILED = "Nothing could be looked up in the courses for this question, because every tool call failed."
NO_CALL = "Nothing was searched for this question, and without course material there is no answer to give."
GREETING = "Hello. Ask me about the courses: what they teach, in which lesson, or how a course is built."
NOTHING_TO_NOTE = "Nothing to note."

_TEACHER_ONLY = re.compile(r"(?i)\bwho\b")
_ITEM = re.compile(r"Lesson (\d+): ")
_INSTRUCTOR = "Instructor: "


class _CourseAnswer(NamedTuple):
    course: str
    passages: list[Source]
    found: Extraction


def answer(task: Task, weigh: Weigh | None = None) -> Draft:
    """Writes the answer, or a statement that there is none."""
    inquiry = understand(task.question, task.earlier)
    draft = Draft()
    if inquiry.kind == "greeting":
        draft.say(GREETING)
    elif not task.sources:
        _decline(task, draft)
    else:
        _answer_from_sources(inquiry, task, weigh, draft)
    # Nothing in the sources was evidence enough.
    if not draft.blocks:
        draft.decline(IRRELEVANT, NOTHING_FOUND)
    return draft


def summary(
    question: str, material: Sequence[Material], weigh: Weigh | None = None
) -> list[Json]:
    """Sums the material up by the sentences that answer most of the question, each with its source, in one block."""
    material = material[:MOST_MATERIAL]
    passages = [sentences(each.said) for each in material]
    labels = [each.source for each in material]
    found = extract(question, passages, weigh, titles=labels)
    if found.evidence < LEAST_FOR_SUMMARY:
        return [{"type": "text", "text": NOTHING_TO_NOTE}]
    noted: list[str] = []
    for pick in found.picks:
        quoted = "".join(passages[pick.passage][pick.first : pick.end]).strip()
        noted.append(f"{labels[pick.passage]}: {quoted}")
    return [{"type": "text", "text": " ".join(noted)}]


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
    if task.outlines and (inquiry.kind == "outline" or not task.passages):
        _answer_from_outlines(inquiry.question, task.outlines, draft)
    elif task.outlines and inquiry.kind == "look_up":
        _answer_elsewhere(inquiry, task, weigh, draft)
    elif inquiry.kind == "compare":
        _answer_sides(inquiry, task, weigh, draft)
    elif inquiry.kind == "across":
        _answer_by_course(inquiry.focus, task.passages, weigh, draft, WEAK)
    else:
        _answer_plainly(inquiry, task.passages_of(inquiry.course), weigh, draft)


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
    least_evidence: float,
) -> None:
    """Writes one paragraph for each course that speaks of the topic, the most to the point first."""
    by_course: dict[str, list[Source]] = {}
    for source in sources:
        by_course.setdefault(source.course, []).append(source)
    answers: list[_CourseAnswer] = []
    for course, passages in by_course.items():
        found = extract_from(passages, topic, weigh, limit=2)
        if found.evidence >= least_evidence:
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
    statement = f"Lesson {inquiry.lesson} of {course} is \u201c{lesson.title}\u201d."
    draft.cite(lesson.outline, lesson.block, lesson.block + 1, statement)
    others = [source for source in task.passages if source.course != course]
    # Citing adds blocks, so that no further block means that no other course had evidence.
    written = len(draft.blocks)
    _answer_by_course(lesson.title, others, weigh, draft, LEAST_ELSEWHERE)
    if len(draft.blocks) == written:
        draft.say(" Nothing on that topic was found in another course.")


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


def _answer_from_outlines(
    question: str, outlines: Sequence[Source], draft: Draft
) -> None:
    asks_for_teacher = _TEACHER_ONLY.search(question) is not None
    for outline in outlines[:MOST_OUTLINES]:
        draft.paragraph()
        if not _name_teacher(outline, draft):
            _list_lessons(outline, draft, f"{outline.course}: ")
        elif not asks_for_teacher:
            _list_lessons(outline, draft, " ")


def _name_teacher(outline: Source, draft: Draft) -> bool:
    for at, block in enumerate(outline.blocks):
        if block.startswith(_INSTRUCTOR):
            name = block.removeprefix(_INSTRUCTOR).strip()
            draft.cite(outline, 0, at + 1, f"{outline.course} is taught by {name}.")
            return True
    return False


def _list_lessons(outline: Source, draft: Draft, opening: str) -> None:
    """Cites the list of lessons as one, then each other line of the outline that is not shown already."""
    items = [at for at, block in enumerate(outline.blocks) if _ITEM.match(block)]
    if not items:
        if draft.blocks:
            draft.say(" ")
        draft.say(f"The outline of {outline.course} names no lessons.")
        return
    counted = "one lesson"
    if len(items) > 1:
        counted = f"{len(items)} lessons"
    draft.say(f"{opening}It has {counted}:\n\n")
    lines = [f"- {outline.blocks[at].strip()}" for at in items]
    draft.cite(outline, items[0], items[-1] + 1, "\n".join(lines))
    _cite_other_lines(outline, items, draft)


def _cite_other_lines(outline: Source, items: Sequence[int], draft: Draft) -> None:
    for at, block in enumerate(outline.blocks):
        # The first line is the course's title, which the opening names.
        if at == 0 or at in items:
            continue
        text = block.strip()
        if text and not text.startswith(_INSTRUCTOR):
            draft.paragraph()
            draft.cite(outline, at, at + 1)
