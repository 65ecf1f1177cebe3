"""Answers from the catalogue with citations: about single courses from their outlines, about all from the list."""

from __future__ import annotations

import re
from collections.abc import Callable

from antiphon.engine.offline.asked import Inquiry
from antiphon.engine.offline.outline import Outline
from antiphon.engine.offline.planning import titled
from antiphon.engine.offline.task import LessonLine, Source, Task
from antiphon.engine.offline.wire import Draft
from antiphon.language.asking import Ask

MOST_OUTLINES = 6
MOST_TITLED = 8
_LIST_HEAD = re.compile(r"Courses: (\d+), with (\d+) lessons")
_LESSONS_OF = "Lessons of "
_LISTED_COURSE = re.compile(
    r"Course: (?P<title>.+?)\. Lessons: (?P<count>\d+)(?: \([^)]{1,40}\))?(?:\. Instructor: (?P<teacher>.+?))?"
    r"(?:\. Link: (?P<link>\S+))?$"
)


def answer_from_catalogue(inquiry: Inquiry, task: Task, draft: Draft) -> None:
    """Answers a question to the catalogue, course by course."""
    if not task.outlines and task.lists:
        _list_courses(inquiry, task.lists[0], draft)
        return
    place = inquiry.place
    for source in task.outlines[:MOST_OUTLINES]:
        outline = Outline(source)
        lesson = place.lesson if place.missing is None else place.missing
        if place.missing is None or outline.lesson(lesson) is not None:
            state(inquiry.asks, outline, draft, lesson, place.step)
        else:
            draft.paragraph()
            said = f"{outline.course} has no lesson {place.missing}: it has {outline.numbered}."
            draft.cite(source, *outline.counting_blocks, said)


def state(
    asks: frozenset[Ask],
    outline: Outline,
    draft: Draft,
    lesson: int | None = None,
    step: int = 0,
) -> None:
    """States the requested facts about a course, one of its lessons or that lesson's neighbour, in a paragraph."""
    draft.paragraph()
    line = outline.lesson(lesson)
    if line is not None and step:
        line = _cite_neighbour(outline, line, step, draft)
        asks = asks - {"title", "contents", "overview"}
        if line is None or not asks:
            return
        draft.say(" ")
    written = len(draft.blocks)
    for ask, statement in _STATEMENTS.items():
        if ask not in _wanted(asks, line):
            continue
        if len(draft.blocks) > written:
            # An empty line ends a list.
            draft.say("\n\n" if "\n- " in draft.blocks[-1]["text"] else " ")
        statement(outline, line, draft)


def _wanted(asks: frozenset[Ask], line: LessonLine | None) -> frozenset[Ask]:
    if line is None:
        return asks or frozenset(("contents",))
    return (asks - {"contents", "overview", "lessons"}) or frozenset(("title",))


def cite_lesson(line: LessonLine, draft: Draft) -> None:
    """States the title of a lesson."""
    said = f"Lesson {line.number} of {line.outline.course} is \u201c{line.title}\u201d."
    draft.cite(line.outline, line.block, line.block + 1, said)


def name_titled(inquiry: Inquiry, task: Task, draft: Draft) -> bool:
    """Names the lessons whose titles contain the whole topic; returns False if there are none."""
    if not inquiry.asks_titles:
        return False
    lines = _titled_lines(inquiry, task)
    if len(lines) == 1:
        cite_lesson(lines[0], draft)
        return True
    if lines:
        draft.paragraph("These lessons have it in their title:\n\n")
    for line in lines[:MOST_TITLED]:
        said = (
            f"- Lesson {line.number} of {line.outline.course}: \u201c{line.title}\u201d"
        )
        draft.cite(line.outline, line.block, line.block + 1, said)
        draft.say("\n")
    return bool(lines)


def _titled_lines(inquiry: Inquiry, task: Task) -> list[LessonLine]:
    lines: list[LessonLine] = []
    for course, lesson in titled(inquiry, task):
        for outline in task.outlines:
            line = outline.lesson_line(lesson.number)
            if outline.course == course.title and line is not None:
                lines.append(line)
    return lines


def _cite_neighbour(
    outline: Outline, line: LessonLine, step: int, draft: Draft
) -> LessonLine | None:
    """Names the lesson after or before another."""
    side = "after" if step > 0 else "before"
    if abs(step) > 1:
        side = f"{abs(step)} places {side}"
    this = f"lesson {line.number} (\u201c{line.title}\u201d)"
    at = outline.lessons.index(line) + step
    if at not in range(len(outline.lessons)):
        said = (
            f"No lesson comes {side} {this}: {outline.course} has {outline.numbered}."
        )
        draft.cite(outline.source, *outline.lesson_blocks, said)
        return None
    beside = outline.lessons[at]
    first, last = sorted((line.block, beside.block))
    said = f"The lesson {side} {this} is lesson {beside.number}, \u201c{beside.title}\u201d."
    draft.cite(outline.source, first, last + 1, said)
    return beside


def _name_course(outline: Outline, _: LessonLine | None, draft: Draft) -> None:
    draft.cite(outline.source, 0, 1, f"There is the course {outline.course}.")


def _name_teacher(outline: Outline, _: LessonLine | None, draft: Draft) -> None:
    teacher = outline.teacher
    if teacher is None:
        said = f"The outline of {outline.course} does not say who teaches it."
        # That something is missing rests on the whole outline.
        draft.cite(outline.source, 0, len(outline.source.blocks), said)
        return
    said = f"{outline.course} is taught by {teacher.text}."
    draft.cite(outline.source, 0, teacher.block + 1, said)


def _count_lessons(outline: Outline, _: LessonLine | None, draft: Draft) -> None:
    said = f"{outline.course} has {outline.numbered}."
    draft.cite(outline.source, *outline.counting_blocks, said)


def _name_lesson(outline: Outline, line: LessonLine | None, draft: Draft) -> None:
    if line is None:
        _list_lessons(outline, line, draft)
    else:
        cite_lesson(line, draft)


def _list_lessons(outline: Outline, _: LessonLine | None, draft: Draft) -> None:
    """Cites the whole list of lessons at once, below the teacher."""
    if not outline.lessons:
        draft.say(f"The outline of {outline.course} names no lessons.")
        return
    if outline.teacher is not None:
        _name_teacher(outline, None, draft)
        draft.say(" ")
    draft.say(f"{outline.course} has {outline.counted}:\n\n")
    lines = [
        f"- {outline.source.blocks[each.block].strip()}" for each in outline.lessons
    ]
    draft.cite(outline.source, *outline.lesson_blocks, "\n".join(lines))


def _name_link(outline: Outline, line: LessonLine | None, draft: Draft) -> None:
    of = outline.course
    if line is not None:
        of = f"lesson {line.number} (\u201c{line.title}\u201d) of {of}"
    link = outline.link(None if line is None else line.number)
    if link is None:
        said = f"No link to {of} is given."
        draft.cite(outline.source, 0, len(outline.source.blocks), said)
        return
    # No full stop after the link, because readers would take it for part of the link.
    draft.cite(
        outline.source, link.block, link.block + 1, f"The link to {of}: {link.text}"
    )


def _list_links(outline: Outline, _: LessonLine | None, draft: Draft) -> None:
    """Names the link of each lesson, and the lessons that have none."""
    draft.say(f"The links of the lessons of {outline.course}:\n\n")
    for lesson in outline.lessons:
        link = outline.link(lesson.number)
        block, shown = lesson.block, "no link is given"
        if link is not None:
            block, shown = link.block, link.text
        draft.cite(
            outline.source,
            block,
            block + 1,
            f"- Lesson {lesson.number}, {lesson.title}: {shown}",
        )
        draft.say("\n")


def _say_no_duration(outline: Outline, _: LessonLine | None, draft: Draft) -> None:
    draft.say(f"How long it takes is not said in the outline of {outline.course}. ")
    draft.cite(outline.source, *outline.counting_blocks, f"It has {outline.counted}.")


_Statement = Callable[[Outline, "LessonLine | None", Draft], None]
# In the order of the answer.
_STATEMENTS: dict[Ask, _Statement] = {
    "courses": _name_course,
    "teacher": _name_teacher,
    "lessons": _count_lessons,
    "title": _name_lesson,
    "contents": _list_lessons,
    "overview": _list_lessons,
    "link": _name_link,
    "links": _list_links,
    "duration": _say_no_duration,
}


def _list_courses(inquiry: Inquiry, listed: Source, draft: Draft) -> None:
    """Answers from the list of all courses: their number, and each with its entry."""
    head = _LIST_HEAD.match(listed.blocks[0])
    if head is not None:
        draft.cite(
            listed, 0, 1, f"There are {head[1]} courses, with {head[2]} lessons in all:"
        )
        draft.say("\n\n")
    for at, block in enumerate(listed.blocks):
        line = _LISTED_COURSE.match(block.strip())
        if line is not None:
            draft.cite(listed, at, at + 1, f"- {_described(line)}")
            draft.say("\n")
        elif inquiry.asks & {"contents", "title"} and block.startswith(_LESSONS_OF):
            draft.cite(listed, at, at + 1, f"  - {block.strip()}")
            draft.say("\n")


def _described(line: re.Match[str]) -> str:
    said = f"{line['title']}: {line['count']} lessons"
    if line["teacher"]:
        said += f", taught by {line['teacher']}"
    if line["link"]:
        said += f", {line['link']}"
    return said
