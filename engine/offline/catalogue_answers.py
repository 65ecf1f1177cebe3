"""Answers from the catalogue: of each course asked about, what its outline says; of all of them, the list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import eq, ge, gt, le, lt

from antiphon.engine.offline.intents import Inquiry, who_speaks
from antiphon.engine.offline.outline import Outline
from antiphon.engine.offline.statements import state
from antiphon.engine.offline.task import Source, Task
from antiphon.engine.offline.wire import Draft
from antiphon.language.lesson_position import LessonPlace
from antiphon.language.questions import NUMBER_WORDS, number_written

MOST_OUTLINES = 5
INTRODUCED = 3
"""Sentences of what a course says about itself."""

_COUNTED_TOGETHER = 3
_HALVED_AFTER = 2
"""So that the second and the third passage found outweigh the first together: 1/3 + 1/4 is more than 1/2."""

_FRAME = re.compile(
    r"\W*(?:the |course )?(?:introduction|intro|welcome|overview|conclusion|summary|recap|outro"
    r"|wrap(?:ping)?[ -]up)\W*",
    re.IGNORECASE,
)
_OF_FRAME = 0.5
"""A lesson that is called no more than an introduction or a conclusion names what others are about."""

_COUNT_OF_COURSES = re.compile(
    rf"\b(?P<count>\d{{1,2}}|{'|'.join(NUMBER_WORDS)})\s+(?:\w+\s+)?courses\b",
    re.IGNORECASE,
)
_LIST_HEAD = re.compile(r"Courses: (\d+), with (\d+) lessons")
_EXTREME = re.compile(
    r"\b(?:(?P<most>longest|biggest|largest(?: number of lessons)?|highest number of lessons|most lessons)"
    r"|shortest|smallest(?: number of lessons)?|lowest number of lessons|fewest lessons)\b",
    re.IGNORECASE,
)
_OF_COUNT = re.compile(
    r"\b(?:(?:exactly|just|only)\s+)?(?:(?P<than>more\s+than|over|fewer\s+than|less\s+than|under|at\s+least|at\s+most)"
    rf"\s+)?(?P<count>\d{{1,3}}|{'|'.join(NUMBER_WORDS)})\s+(?:lessons|lectures)\b",
    re.IGNORECASE,
)
_COMPARED = {
    "more than": gt,
    "over": gt,
    "fewer than": lt,
    "less than": lt,
    "under": lt,
    "at least": ge,
    "at most": le,
}
_LESSONS_OF = "Lessons of "
_LISTED_COURSE = re.compile(
    r"Course: (?P<title>.+?)\. Lessons: (?P<count>\d+)(?: \([^)]{1,40}\))?(?:\. Instructor: (?P<teacher>.+?))?"
    r"(?:\. Link: (?P<link>\S+))?$"
)


def answer_from_catalogue(inquiry: Inquiry, task: Task, draft: Draft) -> None:
    """Answers what is asked of the catalogue, course by course."""
    if inquiry.is_about_lesson and "courses" in inquiry.asks:
        # "Where in the courses is it taught": the lesson is known.
        inquiry = inquiry._replace(asks=inquiry.asks - {"courses"} | {"title"})
    outlines = _outlines_of(inquiry, task)
    if not outlines and task.lists:
        _answer_from_list(inquiry, task.lists[0], draft)
    elif "courses" in inquiry.asks:
        _name_courses(outlines, draft)
    else:
        for source in outlines[:MOST_OUTLINES]:
            outline = Outline(source)
            state(_placed_in(inquiry, outline), outline, draft)
        if inquiry.wants_introduction:
            _introduce(inquiry, task, draft)


def _placed_in(inquiry: Inquiry, outline: Outline) -> Inquiry:
    """Returns what is asked of "the last lesson", of whichever course, as asked of that of one course."""
    if inquiry.course is not None or inquiry.lesson is not None or not inquiry.place:
        return inquiry
    numbers = [lesson.number for lesson in outline.lessons]
    return inquiry._replace(lesson=inquiry.place.among(numbers))


def of_found(inquiry: Inquiry, task: Task) -> Inquiry:
    """Returns the question as one about the course, or the lesson, that was found for it."""
    best = task.best_found(inquiry.topic, inquiry.course)
    if best is None:
        return inquiry
    lesson = _lesson_meant(inquiry, best, task)
    if inquiry.reads_lesson:
        inquiry = inquiry._replace(step=0)
    asks = inquiry.asks - {"courses"}
    if lesson is not None and asks != inquiry.asks:
        # "Which course, and which lesson in it": both are named.
        asks |= {"title"}
    found = inquiry._replace(
        course=best.course,
        courses=(best.course,),
        lesson=lesson,
        missing_lesson=None,
        asks=asks,
    )
    return who_speaks(found, task.catalogue.course(best.course))


def _lesson_meant(inquiry: Inquiry, best: Source, task: Task) -> int | None:
    """Returns the lesson that was found, or that is named by its place in the course that was."""
    place = inquiry.place
    if inquiry.by_lesson:
        found = _lesson_found(best, task.found_for(inquiry.topic, inquiry.course))
        place = LessonPlace(found, step=inquiry.step)
    if place is None:
        return None
    if not inquiry.reads_lesson:
        # Of "the lesson after the introduction" the introduction: its neighbour is named beside it.
        place = place._replace(step=0)
    return place.among(task.catalogue.numbers_of(best.course))


def _lesson_found(best: Source, found: Sequence[Source]) -> int | None:
    """Returns the lesson of the best passage, or that of two behind it which together say more than it alone."""
    # One that is called after what is sought was chosen for its title.
    if not found or best != found[0]:
        return best.lesson
    scores: dict[int | None, float] = {}
    for rank, source in enumerate(found[:_COUNTED_TOGETHER]):
        if source.course == best.course:
            score = 1 / (_HALVED_AFTER + rank)
            if _FRAME.fullmatch(source.title):
                score *= _OF_FRAME
            scores[source.lesson] = scores.get(source.lesson, 0.0) + score
    return max(scores, key=lambda lesson: scores[lesson])


def _outlines_of(inquiry: Inquiry, task: Task) -> list[Source]:
    """Returns the outlines of the courses that are asked about; all where none of them is."""
    wanted = {*inquiry.courses, inquiry.course}
    of_courses = [outline for outline in task.outlines if outline.course in wanted]
    return of_courses or list(task.outlines)


def _introduce(inquiry: Inquiry, task: Task, draft: Draft) -> None:
    """Quotes the beginning of what a course says about itself."""
    for number in task.catalogue.numbers_of(inquiry.course)[:1]:
        passages = task.passages_of(inquiry.course, number)
        if passages:
            draft.paragraph(f"Its lesson {number} says: ")
            draft.cite(passages[0], 0, min(INTRODUCED, len(passages[0].blocks)))


def _name_courses(outlines: Sequence[Source], draft: Draft) -> None:
    """Lists the courses whose outlines were asked for one by one."""
    draft.say("These courses are there:\n\n")
    for outline in outlines:
        draft.say("- ")
        draft.cite(outline, 0, 1, outline.course)
        draft.say("\n")


def _answer_from_list(inquiry: Inquiry, listed: Source, draft: Draft) -> None:
    """Answers from the list of all courses: how many there are, and each with what the list says of it."""
    extreme = _EXTREME.search(inquiry.question)
    if extreme is not None:
        _name_extreme(extreme, listed, draft)
        return
    counted = _OF_COUNT.search(inquiry.question)
    if counted is not None:
        _name_of_count(counted, listed, draft)
        return
    head = _LIST_HEAD.match(listed.blocks[0])
    if head is not None:
        said = f"There are {head[1]} courses, with {head[2]} lessons in all:"
        draft.cite(listed, 0, 1, said)
        draft.say("\n\n")
    for at, block in enumerate(listed.blocks):
        line = _LISTED_COURSE.match(block.strip())
        if line is not None:
            draft.cite(listed, at, at + 1, f"- {_described(line)}")
            draft.say("\n")
        elif "contents" in inquiry.asks and block.startswith(_LESSONS_OF):
            draft.cite(listed, at, at + 1, f"  - {block.strip()}")
            draft.say("\n")


def _name_extreme(extreme: re.Match[str], listed: Source, draft: Draft) -> None:
    """Names the course of the most lessons or of the fewest, or as many as are asked for, and all that equal them."""
    lines = _lines_of(listed)
    counts = sorted([int(line["count"]) for _, line in lines])
    if extreme["most"]:
        counts.reverse()
    asked = _COUNT_OF_COURSES.search(extreme.string)
    wanted = counts[:1]
    if asked is not None:
        wanted = counts[: number_written(asked["count"])]
    draft.say(f"By the number of lessons, the {extreme[0].lower()}:\n\n")
    for at, line in lines:
        if int(line["count"]) in wanted:
            draft.cite(listed, at, at + 1, f"- {_described(line)}")
            draft.say("\n")


def _name_of_count(counted: re.Match[str], listed: Source, draft: Draft) -> None:
    """Names the courses of so many lessons, of more, or of fewer."""
    wanted = number_written(counted["count"])
    compares = _COMPARED.get(" ".join((counted["than"] or "").lower().split()), eq)
    fitting = [
        each for each in _lines_of(listed) if compares(int(each[1]["count"]), wanted)
    ]
    if not fitting:
        draft.cite(listed, 0, 1, f"No course has {counted[0]}.")
        return
    draft.say(f"Courses with {counted[0]}:\n\n")
    for at, line in fitting:
        draft.cite(listed, at, at + 1, f"- {_described(line)}")
        draft.say("\n")


def _lines_of(listed: Source) -> list[tuple[int, re.Match[str]]]:
    """Returns the courses of the list, each with the number of its block."""
    lines: list[tuple[int, re.Match[str]]] = []
    for at, block in enumerate(listed.blocks):
        line = _LISTED_COURSE.match(block.strip())
        if line is not None:
            lines.append((at, line))
    return lines


def cite_listed(course: str, task: Task, draft: Draft) -> None:
    """Cites what the list of all courses says of one: its lessons, its teacher and its link."""
    for listed in task.lists:
        for at, line in _lines_of(listed):
            if line["title"] == course:
                draft.paragraph()
                draft.cite(listed, at, at + 1, _described(line))
                return


def _described(line: re.Match[str]) -> str:
    said = f"{line['title']}: {line['count']} lessons"
    if line["teacher"]:
        said += f", taught by {line['teacher']}"
    if line["link"]:
        said += f", {line['link']}"
    return said
