"""The order of a course from its table of contents, and the lessons that follow from it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from antiphon.knowledge.layout.listing import Listing, named_in
from antiphon.knowledge.layout.numbers import (
    Numbered,
    number_of_name,
    number_of_title,
)
from antiphon.knowledge.layout.values import PlannedLesson
from antiphon.knowledge.naming import as_title, plain_name

MOST_LESSONS = 500
_MOST_DEPTH = 8
_NUMBER = re.compile(r"[0-9]{1,6}")
# Pages that appear among numbered lessons without being lessons.
_NO_LESSON = re.compile(
    r"(home|welcome|about.{0,40}|overview|syllabus|schedule|index|readme|preface|foreword|glossary|references?|resources"
    r"|bibliography|faq|appendi(x|ces)\b.{0,80}|further reading|contact|credits|license|changelog|contribut.{0,20}"
    r"|acknowledge?ments?|other resources|search|tags|blog|calendar|staff|policies)",
    re.IGNORECASE,
)


class Entry(NamedTuple):
    """One line of a table of contents.

    Attributes:
        file: A document, or a folder of documents; empty for a line that only groups those below it.
        is_part: True if it groups lessons and is not one itself.
        is_outside: True if it belongs to the course, but to no lesson.
        number: The lesson's number; None to find it in the title or the file's name.
    """

    title: str = ""
    file: str = ""
    entries: tuple[Entry, ...] = ()
    is_part: bool = False
    is_outside: bool = False
    number: int | None = None


class Navigation(NamedTuple):
    """A course's table of contents.

    Attributes:
        source: Its origin, in words for the owner of the files: "mkdocs.yml".
        folder: The folder of its files.
        is_whole: True if files that it does not list are not part of the course.
        takes_folders: True if a lesson that is a folder holds everything in it.
        groups_are_lessons: True if a line that groups others is one lesson; None if its title decides.
        is_own: True if the owner wrote it in our own format.
        beside: True if unlisted files are separate documents, not materials of the course.
        leave_out: Patterns of files that are not part of the course.
    """

    source: str
    folder: str
    entries: tuple[Entry, ...]
    title: str = ""
    link: str = ""
    instructor: str = ""
    is_whole: bool = False
    takes_folders: bool = False
    groups_are_lessons: bool | None = None
    is_own: bool = False
    beside: bool = False
    leave_out: tuple[str, ...] = ()


class Lessons(NamedTuple):
    """The result of a table of contents: lessons, and files outside them."""

    lessons: tuple[PlannedLesson, ...]
    outside: tuple[str, ...]


class _Found(NamedTuple):
    """A lesson before it has its number."""

    title: str
    part: str
    files: tuple[str, ...]
    number: int | None = None


def lessons_of(navigation: Navigation, listing: Listing) -> Lessons:
    """Decides which lines of a table of contents are lessons, and their numbers."""
    outside: list[str] = []
    found = list(_found(navigation.entries, navigation, "", outside, 0))
    every = _once(found)
    listed = every[:MOST_LESSONS]
    outside += [file for each in every[MOST_LESSONS:] for file in each.files]
    numbered = _by_own_number(listed, outside, listing)
    if numbered is None:
        numbered = _counted(listed)
    return Lessons(tuple(numbered), tuple(dict.fromkeys(outside)))


def files_of(entry: Entry, depth: int = 0) -> list[str]:
    """Returns the files of a line and of those below it, in order."""
    files = [entry.file] if entry.file else []
    if depth < _MOST_DEPTH:
        for each in entry.entries:
            files += files_of(each, depth + 1)
    return files


def _found(
    entries: Sequence[Entry],
    navigation: Navigation,
    part: str,
    outside: list[str],
    depth: int,
) -> Iterator[_Found]:
    as_lessons = _are_lessons(entries, navigation)
    for entry in entries:
        if entry.is_outside:
            outside += files_of(entry)
        elif _is_part(entry, as_lessons) and depth < _MOST_DEPTH:
            if entry.file:
                outside.append(entry.file)
            yield from _found(
                entry.entries, navigation, entry.title, outside, depth + 1
            )
        elif files := files_of(entry):
            yield _Found(entry.title, part, tuple(files), entry.number)


def _is_part(entry: Entry, groups_are_lessons: bool) -> bool:
    if entry.is_part:
        return True
    return bool(entry.entries) and not entry.file and not groups_are_lessons


def _are_lessons(entries: Sequence[Entry], navigation: Navigation) -> bool:
    """Returns True if the lines that group others are lessons: "Week 3" is one, "Basics" is not."""
    if navigation.groups_are_lessons is not None:
        return navigation.groups_are_lessons
    groups = [entry for entry in entries if entry.entries and not entry.file]
    numbered = [entry for entry in groups if number_of_title(entry.title)]
    return 2 * len(numbered) > len(groups)


def _once(found: Sequence[_Found]) -> list[_Found]:
    """Keeps each file only in the first lesson that has it."""
    seen: set[str] = set()
    listed: list[_Found] = []
    for each in found:
        files = tuple([file for file in dict.fromkeys(each.files) if file not in seen])
        seen.update(files)
        if files:
            listed.append(each._replace(files=files))
    return listed


def _by_own_number(
    found: Sequence[_Found], outside: list[str], listing: Listing
) -> list[PlannedLesson] | None:
    """Numbers each lesson by its explicit number, its title or its file's name; None if these are not distinct.

    Pages without a number, such as "Glossary", are then outside the lessons.
    """
    own = partial(_in_front_matter, listing)
    for number_of in (_given, own, _in_title, _in_name):
        numbered = [(each, number_of(each)) for each in found]
        # A single number in a name may be chance; an explicit one is intended.
        fewest = 1 if number_of in (_given, own) else 2
        if _are_numbers(numbered, fewest):
            return _numbered(numbered, outside)
    return None


def _are_numbers(
    numbered: Sequence[tuple[_Found, Numbered | None]], fewest: int
) -> bool:
    """Returns True if each lesson has a number of its own."""
    numbers = [number.number for _, number in numbered if number is not None]
    if len(numbers) < fewest or len(numbers) != len(set(numbers)):
        return False
    return all(number or _is_no_lesson(each) for each, number in numbered)


def _numbered(
    numbered: Sequence[tuple[_Found, Numbered | None]], outside: list[str]
) -> list[PlannedLesson]:
    lessons: list[PlannedLesson] = []
    for each, number in numbered:
        if number is None:
            outside += each.files
            continue
        title = _own_title(each.title)
        lessons.append(
            PlannedLesson(number=number.number, title=title, files=each.files)
        )
    return lessons


def _is_no_lesson(found: _Found) -> bool:
    name = found.title or plain_name(named_in(found.files[0]))
    return _NO_LESSON.fullmatch(name) is not None


def _given(found: _Found) -> Numbered | None:
    return None if found.number is None else Numbered(found.number)


def _in_front_matter(listing: Listing, found: _Found) -> Numbered | None:
    file = found.files[0]
    fields = listing.fields(file) if listing.may_be_lesson(file) else {}
    number = _NUMBER.fullmatch(fields.get("lesson", ""))
    return None if number is None else Numbered(int(number[0]))


def _in_title(found: _Found) -> Numbered | None:
    return number_of_title(found.title) if found.title else None


def _in_name(found: _Found) -> Numbered | None:
    return number_of_name(named_in(found.files[0]))


def _own_title(title: str) -> str:
    """Returns a title without its number; empty if it is only a number."""
    number = number_of_title(title)
    # "Lecture 3 (May 5)" would become a mere date.
    if number is None or number.letter or number.name.startswith("("):
        return as_title(title)
    return as_title(number.name)


def _counted(found: Sequence[_Found]) -> list[PlannedLesson]:
    """Counts the lessons from 1; a title that several share gets its part's name in front."""
    titles = Counter(each.title for each in found)
    lessons: list[PlannedLesson] = []
    for number, each in enumerate(found, start=1):
        title = as_title(each.title)
        if title and each.part and titles[each.title] > 1:
            title = f"{each.part}: {title}"
        lessons.append(PlannedLesson(number=number, title=title, files=each.files))
    return lessons
