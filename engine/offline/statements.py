"""States what an outline says of a course: its teacher, its lessons, their number, titles and links, each cited."""

from __future__ import annotations

from collections.abc import Callable

from antiphon.engine.offline.intents import Inquiry
from antiphon.engine.offline.outline import Fact, Outline
from antiphon.engine.offline.task import LessonLine
from antiphon.engine.offline.wire import Draft
from antiphon.language.asking import Ask

_OF_WHOLE: frozenset[Ask] = frozenset(("overview", "contents"))
"""Of one lesson an outline knows these by its title alone."""


def state(inquiry: Inquiry, outline: Outline, draft: Draft) -> None:
    """States what is asked of a course, in the order of an outline, in a paragraph of its own."""
    draft.paragraph()
    written = len(draft.blocks)
    for lesson in inquiry.lessons or (inquiry.lesson,):
        of_lesson = inquiry._replace(lesson=lesson)
        for statement in _statements(of_lesson):
            if len(draft.blocks) > written:
                draft.say(_gap(draft))
            statement(of_lesson, outline, draft)


def cite_lesson(line: LessonLine, draft: Draft) -> None:
    """Says what a lesson is called."""
    said = f"Lesson {line.number} of {line.outline.course} is \u201c{line.title}\u201d."
    draft.cite(line.outline, line.block, line.block + 1, said)


def _gap(draft: Draft) -> str:
    """Returns what stands before a further statement: a list is ended first."""
    if "\n- " in draft.blocks[-1]["text"]:
        return "\n\n"
    return " "


def _statements(inquiry: Inquiry) -> list[_Statement]:
    if inquiry.missing_lesson is not None:
        return [_miss_lesson]
    if inquiry.lesson is None:
        asks = inquiry.asks or {"contents"}
        return [_STATEMENTS[ask] for ask in _STATEMENTS if ask in asks]
    if inquiry.step:
        return [_name_neighbour]
    return _statements_on_lesson(inquiry)


def _statements_on_lesson(inquiry: Inquiry) -> list[_Statement]:
    asks = inquiry.asks
    if not asks or asks & _OF_WHOLE:
        asks = asks - _OF_WHOLE | {"title"}
    return [_STATEMENTS[ask] for ask in _STATEMENTS if ask in asks]


def _name_teacher(_: Inquiry, outline: Outline, draft: Draft) -> None:
    teacher = outline.teacher
    if teacher is None:
        said = f"The outline of {outline.course} does not say who teaches it."
        draft.cite(outline.source, 0, len(outline.source.blocks), said)
        return
    said = f"{outline.course} is taught by {teacher.text}."
    draft.cite(outline.source, 0, teacher.block + 1, said)


def _count_lessons(_: Inquiry, outline: Outline, draft: Draft) -> None:
    said = f"{outline.course} has {outline.numbered}."
    draft.cite(outline.source, *outline.counting_blocks, said)


def _miss_lesson(inquiry: Inquiry, outline: Outline, draft: Draft) -> None:
    number = inquiry.missing_lesson
    if number is None:
        number = inquiry.lesson
    missed = f"no lesson {number}"
    # Counted from the end.
    if number is not None and number < 0:
        missed = f"fewer than {-number} lessons"
    said = f"{outline.course} has {missed}: it has {outline.numbered}."
    draft.cite(outline.source, *outline.counting_blocks, said)


def _name_lesson(inquiry: Inquiry, outline: Outline, draft: Draft) -> None:
    """Says what a lesson is called, and that it is the first or last where it is; of no one lesson: of all.

    Who asks for the name of nothing in particular may mean the teacher's.
    """
    if inquiry.lesson is None:
        _list_all(inquiry, outline, draft)
        return
    line = outline.lesson(inquiry.lesson)
    if line is None:
        _miss_lesson(inquiry, outline, draft)
        return
    which = f"Lesson {inquiry.lesson} of {outline.course}"
    if line == outline.lessons[-1]:
        which = f"{which}, its last,"
    elif line == outline.lessons[0]:
        which = f"{which}, its first,"
    said = f"{which} is \u201c{line.title}\u201d."
    draft.cite(outline.source, line.block, line.block + 1, said)


def _name_neighbour(inquiry: Inquiry, outline: Outline, draft: Draft) -> None:
    """Names the lesson after or before another."""
    line = outline.lesson(inquiry.lesson)
    if line is None:
        _miss_lesson(inquiry, outline, draft)
        return
    side, end = "after", "last"
    if inquiry.step < 0:
        side, end = "before", "first"
    this = f"lesson {line.number} (\u201c{line.title}\u201d)"
    at = outline.lessons.index(line) + inquiry.step
    if abs(inquiry.step) > 1:
        side = f"{abs(inquiry.step)} places {side}"
    if at not in range(len(outline.lessons)):
        said = (
            f"No lesson comes {side} {this}: {outline.course} has {outline.numbered}."
        )
        if abs(inquiry.step) == 1:
            said = (
                f"No lesson comes {side} {this}: it is the {end} of {outline.course}."
            )
        draft.cite(outline.source, *outline.lesson_blocks, said)
        return
    beside = outline.lessons[at]
    first, last = sorted((line.block, beside.block))
    named = f"lesson {beside.number}, \u201c{beside.title}\u201d"
    said = f"The lesson {side} {this} is {named}."
    draft.cite(outline.source, first, last + 1, said)
    if "link" in inquiry.asks:
        draft.say(" ")
        _name_link(inquiry._replace(lesson=beside.number), outline, draft)


def _list_all(inquiry: Inquiry, outline: Outline, draft: Draft) -> None:
    """Names the teacher, where the outline does, and lists the lessons."""
    if outline.teacher is None:
        _list_lessons(outline, draft, f"{outline.course} has")
        return
    if "teacher" not in inquiry.asks:
        _name_teacher(inquiry, outline, draft)
        draft.say(" ")
    _list_lessons(outline, draft, "It has")


def _list_lessons(outline: Outline, draft: Draft, opening: str) -> None:
    """Cites the list of lessons as one."""
    if not outline.lessons:
        draft.say(f"The outline of {outline.course} names no lessons.")
        return
    draft.say(f"{opening} {outline.counted}:\n\n")
    lines = [
        f"- {outline.source.blocks[each.block].strip()}" for each in outline.lessons
    ]
    draft.cite(outline.source, *outline.lesson_blocks, "\n".join(lines))


def _name_link(inquiry: Inquiry, outline: Outline, draft: Draft) -> None:
    link = outline.link(inquiry.lesson)
    line = outline.lesson(inquiry.lesson)
    if line is not None:
        _name_link_of_lesson(line, link, draft)
        return
    of = outline.course
    if inquiry.lesson is not None:
        of = f"lesson {inquiry.lesson} of {of}"
    if link is None:
        said = f"No link to {of} is given."
        draft.cite(outline.source, 0, len(outline.source.blocks), said)
        return
    # The link ends the sentence without a full stop, which would be taken for a part of it.
    said = f"The link to {of}: {link.text}"
    draft.cite(outline.source, link.block, link.block + 1, said)


def _name_link_of_lesson(line: LessonLine, link: Fact | None, draft: Draft) -> None:
    """Gives the link of a lesson that is named by its title too, each from its own line of the outline."""
    of = f"lesson {line.number} (\u201c{line.title}\u201d) of {line.outline.course}"
    if link is None:
        said = f"No link to {of} is given."
        draft.cite(line.outline, line.block, line.block + 1, said)
        return
    draft.cite(line.outline, line.block, line.block + 1, f"The link to {of}: ")
    draft.cite(line.outline, link.block, link.block + 1, link.text)


def _list_links(_: Inquiry, outline: Outline, draft: Draft) -> None:
    """Names the link of each lesson, and the lessons that have none."""
    draft.say(f"The links of the lessons of {outline.course}:\n\n")
    for lesson in outline.lessons:
        link = outline.link(lesson.number)
        block, shown = lesson.block, "no link is given"
        if link is not None:
            block, shown = link.block, link.text
        said = f"- Lesson {lesson.number}, {lesson.title}: {shown}"
        draft.cite(outline.source, block, block + 1, said)
        draft.say("\n")


def _say_no_duration(_: Inquiry, outline: Outline, draft: Draft) -> None:
    draft.say(f"How long it takes is not said in the outline of {outline.course}. ")
    said = f"It has {outline.counted}."
    draft.cite(outline.source, *outline.counting_blocks, said)


_Statement = Callable[[Inquiry, Outline, Draft], None]
# In the order in which they are stated.
_STATEMENTS: dict[Ask, _Statement] = {
    "teacher": _name_teacher,
    "lessons": _count_lessons,
    "title": _name_lesson,
    "contents": _list_all,
    "overview": _list_all,
    "link": _name_link,
    "links": _list_links,
    "duration": _say_no_duration,
}
