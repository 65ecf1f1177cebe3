"""Answers from the catalogue: teachers, links, counts, titles and lists, each cited from an outline; and small talk."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from antiphon.engine.offline.intents import Inquiry
from antiphon.engine.offline.task import LessonLine, Source, Task
from antiphon.engine.offline.wire import Draft
from antiphon.language.asking import Ask
from antiphon.language.small_talk import SmallTalk
from antiphon.language.tongues import note_on_language
from antiphon.language.words import terms

MOST_OUTLINES = 5
SHOWN_NAMES = 4
INTRODUCED = 3
"""Sentences of what a course says about itself."""

_SAID: dict[SmallTalk, str] = {
    "hello": "Hello. Ask me about the courses: what they teach, in which lesson, or how a course is built.",
    "thanks": "You are welcome. Ask on, if there is more.",
    "bye": "Goodbye.",
    "well": "All is well here, thank you. What would you like to know about the courses?",
    "who": "I am Antiphon. I answer questions about the courses from their own text, by rule, without a language "
    "model.",
    "abilities": "I find what the courses say about something, and quote it with its source; I compare two things, sum "
    "a lesson up, list courses and lessons, and name their teachers and links.",
}
_ITEM = re.compile(r"Lesson (\d+): (.+)")
_INSTRUCTOR = "Instructor: "
_LINK = "Link: "
_COUNT = "Lessons: "
_LIST_HEAD = re.compile(r"Courses: (\d+), with (\d+) lessons")
_LISTED_COURSE = re.compile(
    r"Course: (?P<title>.+?)\. Lessons: (?P<count>\d+)(?: \([^)]{1,40}\))?(?:\. Instructor: (?P<teacher>.+?))?"
    r"(?:\. Link: (?P<link>\S+))?$"
)


def talk_back(inquiry: Inquiry, task: Task) -> str:
    """Returns what is said to a greeting and the like."""
    said = _SAID[inquiry.talk or "hello"]
    courses = task.catalogue.courses
    if inquiry.talk in ("who", "abilities") and courses:
        names = [f"\u201c{course.title}\u201d" for course in courses[:SHOWN_NAMES]]
        if len(courses) > SHOWN_NAMES:
            names.append(f"{len(courses) - SHOWN_NAMES} more")
        said += f" The courses are: {', '.join(names)}."
    return said


def answer_from_catalogue(inquiry: Inquiry, task: Task, draft: Draft) -> None:
    """Answers what is asked of the catalogue, course by course."""
    if inquiry.kind == "find":
        inquiry = _of_found(inquiry, task)
    outlines = _outlines_of(inquiry, task)
    if not outlines and task.lists:
        _answer_from_list(task.lists[0], draft)
        return
    if "courses" in inquiry.asks:
        _name_courses(outlines, draft)
        return
    for outline in outlines[:MOST_OUTLINES]:
        draft.paragraph()
        written = len(draft.blocks)
        for write in _statements(inquiry):
            if len(draft.blocks) > written:
                draft.say(_gap(draft))
            write(inquiry, outline, draft)
    if inquiry.wants_introduction:
        _introduce(inquiry, task, draft)


def _of_found(inquiry: Inquiry, task: Task) -> Inquiry:
    """Returns the question as one about the course, or the lesson, that was found for it."""
    found = task.found_for(inquiry.topic, inquiry.course)
    if not found:
        return inquiry
    best = found[0]
    lesson: int | None = None
    course = task.catalogue.course(best.course)
    if inquiry.by_lesson:
        lesson = best.lesson
    elif inquiry.place is not None and course is not None:
        lesson = inquiry.place.among(course.numbers)
    return inquiry._replace(
        course=best.course, courses=(best.course,), lesson=lesson, missing_lesson=None
    )


def _gap(draft: Draft) -> str:
    """Returns what stands before a further statement: a list is ended first."""
    if "\n- " in draft.blocks[-1]["text"]:
        return "\n\n"
    return " "


def _outlines_of(inquiry: Inquiry, task: Task) -> list[Source]:
    """Returns the outlines of the courses that are asked about; all where none of them is."""
    wanted = set(inquiry.courses) | {inquiry.course}
    of_courses = [outline for outline in task.outlines if outline.course in wanted]
    return of_courses or list(task.outlines)


def _statements(inquiry: Inquiry) -> list[_Write]:
    """Returns what is to be said of a course, in the order of an outline."""
    if inquiry.missing_lesson is not None:
        return [_miss_lesson]
    if inquiry.step and inquiry.lesson is not None:
        return [_name_neighbour]
    asks = inquiry.asks or {"contents"}
    if inquiry.lesson is not None and asks & {"overview", "contents"}:
        # Of one lesson the outline knows its title alone.
        asks = asks - {"overview", "contents"} | {"title"}
    return [write for ask, write in _STATEMENTS.items() if ask in asks]


def _introduce(inquiry: Inquiry, task: Task, draft: Draft) -> None:
    """Quotes the beginning of what a course says about itself."""
    course = task.catalogue.course(inquiry.course)
    if course is None or not course.lessons:
        return
    passages = task.passages_of(course.title, course.lessons[0].number)
    if passages:
        draft.paragraph(f"Its lesson {course.lessons[0].number} says: ")
        draft.cite(passages[0], 0, min(INTRODUCED, len(passages[0].blocks)))


def _line(outline: Source, beginning: str) -> int | None:
    for at, block in enumerate(outline.blocks):
        if block.startswith(beginning):
            return at
    return None


def _value(outline: Source, at: int, beginning: str) -> str:
    return outline.blocks[at].removeprefix(beginning).strip()


def _name_teacher(_: Inquiry, outline: Source, draft: Draft) -> None:
    at = _line(outline, _INSTRUCTOR)
    if at is None:
        said = f"The outline of {outline.course} does not say who teaches it."
        draft.cite(outline, 0, len(outline.blocks), said)
        return
    name = _value(outline, at, _INSTRUCTOR)
    draft.cite(outline, 0, at + 1, f"{outline.course} is taught by {name}.")


def _items(outline: Source) -> list[int]:
    return [at for at, block in enumerate(outline.blocks) if _ITEM.match(block)]


def _counted(outline: Source) -> str:
    items = _items(outline)
    if not items:
        return "no lessons"
    if len(items) == 1:
        return "one lesson"
    return f"{len(items)} lessons"


def _span(outline: Source) -> str:
    """Returns the numbers of the first and last lesson, in parentheses."""
    numbers: list[str] = []
    for at in _items(outline):
        if found := _ITEM.match(outline.blocks[at]):
            numbers.append(found[1])
    if len(numbers) < 2:
        return ""
    return f" (lesson {numbers[0]} to lesson {numbers[-1]})"


def _count_lessons(_: Inquiry, outline: Source, draft: Draft) -> None:
    said = f"{outline.course} has {_counted(outline)}{_span(outline)}."
    _cite_count(outline, said, draft)


def _cite_count(outline: Source, said: str, draft: Draft) -> None:
    """Cites the line that counts the lessons, or else the lessons themselves."""
    items = _items(outline)
    first, end = 0, len(outline.blocks)
    if items:
        first, end = items[0], items[-1] + 1
        at = _line(outline, _COUNT)
        if at is not None:
            first = min(first, at)
    draft.cite(outline, first, end, said)


def _miss_lesson(inquiry: Inquiry, outline: Source, draft: Draft) -> None:
    number = inquiry.missing_lesson
    if number is None:
        number = inquiry.lesson
    has = f"it has {_counted(outline)}{_span(outline)}"
    said = f"{outline.course} has no lesson {number}: {has}."
    _cite_count(outline, said, draft)


def _name_lesson(inquiry: Inquiry, outline: Source, draft: Draft) -> None:
    """Says what a lesson is called, and that it is the first or last where it is; of no one lesson: of all."""
    if inquiry.lesson is None:
        _list_lessons(outline, draft, f"{outline.course} has")
        return
    line = outline.lesson_line(inquiry.lesson)
    if line is None:
        _miss_lesson(inquiry, outline, draft)
        return
    items = _items(outline)
    which = f"Lesson {inquiry.lesson} of {outline.course}"
    if line.block == items[-1]:
        which = f"{which}, its last,"
    elif line.block == items[0]:
        which = f"{which}, its first,"
    said = f"{which} is \u201c{line.title}\u201d."
    draft.cite(outline, line.block, line.block + 1, said)


def cite_lesson(line: LessonLine, draft: Draft) -> None:
    """Says what a lesson is called."""
    said = f"Lesson {line.number} of {line.outline.course} is \u201c{line.title}\u201d."
    draft.cite(line.outline, line.block, line.block + 1, said)


def _name_neighbour(inquiry: Inquiry, outline: Source, draft: Draft) -> None:
    """Names the lesson after or before another."""
    line = outline.lesson_line(inquiry.lesson)
    if line is None:
        _miss_lesson(inquiry, outline, draft)
        return
    side, end = "after", "last"
    if inquiry.step < 0:
        side, end = "before", "first"
    items = _items(outline)
    this = f"lesson {inquiry.lesson} (\u201c{line.title}\u201d)"
    at = items.index(line.block) + inquiry.step
    if not 0 <= at < len(items):
        said = f"No lesson comes {side} {this}: it is the {end} of {outline.course}."
        draft.cite(outline, items[0], items[-1] + 1, said)
        return
    first, last = sorted((line.block, items[at]))
    item = _ITEM.match(outline.blocks[items[at]].strip())
    if item is not None:
        beside = f"lesson {item[1]}, \u201c{item[2]}\u201d"
        said = f"The lesson {side} {this} is {beside}."
        draft.cite(outline, first, last + 1, said)


def _list_all(inquiry: Inquiry, outline: Source, draft: Draft) -> None:
    """Names the teacher, where the outline does, and lists the lessons."""
    opening = f"{outline.course} has"
    if _line(outline, _INSTRUCTOR) is not None:
        opening = "It has"
        if "teacher" not in inquiry.asks:
            _name_teacher(inquiry, outline, draft)
            draft.say(" ")
    _list_lessons(outline, draft, opening)


def _list_lessons(outline: Source, draft: Draft, opening: str) -> None:
    """Cites the list of lessons as one."""
    items = _items(outline)
    if not items:
        draft.say(f"The outline of {outline.course} names no lessons.")
        return
    draft.say(f"{opening} {_counted(outline)}:\n\n")
    lines = [f"- {outline.blocks[at].strip()}" for at in items]
    draft.cite(outline, items[0], items[-1] + 1, "\n".join(lines))


def _name_link(inquiry: Inquiry, outline: Source, draft: Draft) -> None:
    beginning = _LINK
    of = outline.course
    if inquiry.lesson is not None:
        beginning = f"Link of lesson {inquiry.lesson}: "
        of = f"lesson {inquiry.lesson} of {outline.course}"
    at = _line(outline, beginning)
    if at is None:
        said = f"No link to {of} is given."
        draft.cite(outline, 0, len(outline.blocks), said)
        return
    # The link ends the sentence without a full stop, which would be taken for a part of it.
    link = _value(outline, at, beginning)
    draft.cite(outline, at, at + 1, f"The link to {of}: {link}")


def _say_no_duration(_: Inquiry, outline: Source, draft: Draft) -> None:
    has = f"which has {_counted(outline)}"
    said = f"How long it takes is not said in the outline of {outline.course}, {has}."
    _cite_count(outline, said, draft)


_Write = Callable[[Inquiry, Source, Draft], None]
_STATEMENTS: dict[Ask, _Write] = {
    "teacher": _name_teacher,
    "lessons": _count_lessons,
    "title": _name_lesson,
    "contents": _list_all,
    "overview": _list_all,
    "link": _name_link,
    "duration": _say_no_duration,
}


def _name_courses(outlines: Sequence[Source], draft: Draft) -> None:
    """Lists the courses whose outlines were asked for one by one."""
    draft.say("These courses are there:\n\n")
    for outline in outlines:
        draft.say("- ")
        draft.cite(outline, 0, 1, outline.course)
        draft.say("\n")


def _answer_from_list(listed: Source, draft: Draft) -> None:
    """Answers from the list of all courses: how many there are, and each with what the list says of it."""
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


def _described(line: re.Match[str]) -> str:
    said = f"{line['title']}: {line['count']} lessons"
    if line["teacher"]:
        said += f", taught by {line['teacher']}"
    if line["link"]:
        said += f", {line['link']}"
    return said


def heading_of(part: Inquiry) -> str:
    """Returns one of several questions as the heading of its answer."""
    asked = part.question.rstrip(" ?.!")
    return f"{asked[:1].upper()}{asked[1:]}?\n"


def with_remarks(inquiry: Inquiry, task: Task, draft: Draft) -> Draft:
    """Returns the answer below what is to be said first: that there is no such course, or the courses' language."""
    if inquiry.kind in ("greeting", "outline") or not any(
        "citations" in block for block in draft.blocks
    ):
        return draft
    remarks = (no_such_course(inquiry, task), note_on_language(task.question) or "")
    whole = Draft()
    whole.stop_reason = draft.stop_reason
    for remark in remarks:
        if remark:
            whole.paragraph(remark)
    if whole.blocks:
        whole.paragraph()
    whole.add(draft)
    return whole


def no_such_course(inquiry: Inquiry, task: Task) -> str:
    """Returns that there is no course of the name in the question; empty where there is, or the texts speak of it."""
    if inquiry.unknown is None or not task.catalogue:
        return ""
    named = frozenset(terms(inquiry.unknown))
    for source in task.passages:
        if named <= frozenset(terms("".join(source.blocks))):
            return ""
    return f"There is no course named \u201c{inquiry.unknown}\u201d here."
