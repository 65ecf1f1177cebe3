"""Finds the courses, lessons and teachers of a catalogue that a question names; pure.

A question can name a course by its title, the part before the title's colon, its teacher, adjacent words of no other
title, or some of these words beside the word "course"; a lesson by its number, its position, or its title.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from antiphon.engine.offline.known import Course, Lesson, Place
from antiphon.engine.offline.lesson_places import with_number, with_step
from antiphon.engine.offline.name_words import (
    COURSE_WORDS,
    FEWEST_CAPITALS,
    Word,
    distinct,
    leading,
    names_title,
    phrases,
    run_of,
    runs_in,
    stems_of,
    without,
    words_of,
)
from antiphon.language.words import stem, terms
from antiphon.vocabulary.ports import KnownCourse

READ_CHARS = 2_000
MOST_CALLED = 3
"""Occurrences of the word "course" whose neighbours are searched for a name."""
_QUOTES = ("'", '"', "\u201c", "\u2018")
_CONNECTING = re.compile(
    r"\s*(?:on|about|by|of|from|with|called|named|titled)?\s*(?:the|an?)?\s*", re.I
)
"""The text allowed between the word "course" and a name after it."""
_SAYS_LESSON = re.compile(r"\b(?:lesson|lecture)s?\b", re.I)
_DESCRIBED = re.compile(
    r"\b(?:after|before|behind|next to|follow(?:s|ing)|preced(?:es|ing)) the (?:one|lesson|lecture|part) "
    r"(?:(?:that is |that's |which is )?"
    r"(?:on|about|with|where|in which|that|which) )(?P<what>[^,.;?!]{3,200})",
    re.I,
)
_TEACHERS_APART = re.compile(r"[,;&/]|\band\b", re.I)


class _Name(NamedTuple):
    """The stems of a name, in order, and the thing named; `is_part`: words of its title in any order."""

    stems: tuple[str, ...]
    course: Course
    lesson: Lesson | None = None
    is_part: bool = False


class _Found(NamedTuple):
    """The names in a question.

    Attributes:
        lessons: The lessons with one title, which several courses may have.
        words: All words in the names of courses.
        lesson_words: All words in the names of lessons.
    """

    courses: list[Course]
    lessons: list[_Name]
    words: list[Word]
    lesson_words: list[Word]

    @property
    def taken(self) -> list[Word]:
        return [*self.words, *self.lesson_words]

    def take(self, name: _Name, run: Sequence[Word]) -> None:
        """Adds a name that occurs in the question as these words."""
        words = self.words if name.lesson is None else self.lesson_words
        words.extend([word for word in run if word not in words])
        if name.lesson is None:
            self.courses.append(name.course)
        elif not self.lessons or self.lessons[0].stems == name.stems:
            self.lessons.append(name)


class Catalogue:
    """All courses, prepared for finding them in questions; empty if none are known."""

    def __init__(self, courses: Sequence[Course] = ()) -> None:
        self.courses = tuple(courses)
        self._words_of: dict[str, set[str]] = {}
        self._titles: dict[str, list[Course]] = {}
        names: list[_Name] = []
        for course in self.courses:
            for word in set(stems_of(course.title)):
                self._titles.setdefault(word, []).append(course)
            self._words_of[course.title] = _calling_words(course)
            own = [stems_of(text) for text in (*_forms(course.title), *course.teachers)]
            names += [_Name(stems, course) for stems in own]
            for lesson in course.lessons:
                for stems in map(stems_of, _forms(lesson.title)):
                    # A name that a lesson shares with its course, such as "Getting Started", means the course.
                    if stems not in own:
                        names.append(_Name(stems, course, lesson))
        # Of several names at one place, the question means the longest.
        self._names = sorted(
            [name for name in names if name.stems], key=lambda name: -len(name.stems)
        )

    def course(self, title: str | None) -> Course | None:
        """Returns the course with exactly this title."""
        return next((each for each in self.courses if each.title == title), None)

    def called_by(self, topic: Sequence[str]) -> Course | None:
        """Returns the only course that all of these words may refer to; None if there is none, or several."""
        stems = {stem(word) for word in topic}
        found = [each for each in self.courses if stems <= self._words_of[each.title]]
        return found[0] if stems and len(found) == 1 else None

    def titled(
        self, topic: Sequence[str], within: Sequence[Course] = ()
    ) -> list[tuple[Course, Lesson]]:
        """Returns the lessons whose titles contain all of these words, in some courses or in all."""
        wanted = frozenset(terms(" ".join(topic)))
        return [
            (course, lesson)
            for words, course, lesson in self._lessons
            if wanted and wanted <= words and (not within or course in within)
        ]

    @cached_property
    def _lessons(self) -> list[tuple[frozenset[str], Course, Lesson]]:
        """All lessons, each with the words of its title; cached, because a question needs them several times."""
        return [
            (frozenset(terms(lesson.title)), course, lesson)
            for course in self.courses
            for lesson in course.lessons
        ]

    def place(self, question: str, course: Course | None = None) -> Place:
        """Returns the place that a question names.

        Args:
            course: The course of the conversation, for a question that names none itself.
        """
        question = question[:READ_CHARS]
        found = self._named_in(question)
        if found.courses:
            course = found.courses[0]
        lessons = [name for name in found.lessons if course in (None, name.course)]
        taken = list(found.words)
        if len(lessons) == 1:
            taken += found.lesson_words
        rest = without(question, taken)
        place = Place(course, tuple(found.courses[1:]), rest=rest)
        if len(lessons) == 1:
            place = _with_lesson(place, lessons[0])
        elif _SAYS_LESSON.search(rest):
            place = with_number(place)
        return _with_described(place, question)

    def _named_in(self, question: str) -> _Found:
        asked = words_of(question)
        places: dict[str, list[int]] = {}
        for at, word in enumerate(asked):
            places.setdefault(word.stem, []).append(at)
        found = _Found([], [], [], [])
        runs: dict[tuple[str, ...], list[Word]] = {}
        names = [*self._names, *self._parts_of_titles(question, asked)]
        for name in sorted(names, key=lambda name: -len(name.stems)):
            # A teacher may name several courses, and a title several lessons: they share the same words.
            run = runs.get(name.stems)
            if run is None:
                run = run_of(name.stems, asked, places, found.taken)
            if run and (name.is_part or _is_meant(name, run, question)):
                runs[name.stems] = run
                found.take(name, run)
        if not found.courses:
            self._add_called(found, question, asked)
        courses = list(dict.fromkeys(found.courses))
        if len(courses) > 1:
            _take_numbers(found, asked)
        return found._replace(courses=courses)

    def _parts_of_titles(self, question: str, asked: Sequence[Word]) -> list[_Name]:
        """Returns runs of words whose best match is the title of one course only: "Missing Semester 2020"."""
        names: list[_Name] = []
        for run in phrases(question, asked):
            longest: dict[str, list[Word]] = {}
            for course in self._sharing(run):
                own = set(stems_of(course.title))
                longest[course.title] = max(runs_in(run, own), key=distinct)
            most = max(map(distinct, longest.values()), default=0)
            best = [
                title for title, words in longest.items() if distinct(words) == most
            ]
            meant = self.course(best[0]) if len(best) == 1 else None
            if meant is not None and names_title(
                longest[best[0]], meant.title, question
            ):
                stems = tuple([word.stem for word in longest[best[0]]])
                names.append(_Name(stems, meant, is_part=True))
        return names

    def _sharing(self, words: Sequence[Word]) -> list[Course]:
        """Returns the courses whose titles contain at least two of the words."""
        counts: Counter[str] = Counter()
        for word in {word.stem for word in words}:
            counts.update([course.title for course in self._titles.get(word, ())])
        return [each for each in self.courses if counts[each.title] >= FEWEST_CAPITALS]

    def _add_called(self, found: _Found, question: str, asked: Sequence[Word]) -> None:
        """Adds the course whose words occur beside "course", such as "the photo archive course"."""
        calls: list[tuple[Course, list[Word]]] = []
        places = [at for at, word in enumerate(asked) if word.folded in COURSE_WORDS]
        for at in places[:MOST_CALLED]:
            for course in self.courses:
                known = self._words_of[course.title]
                calls.append((course, _calling(question, asked, at, known)))
        longest = max([words for _, words in calls], key=len, default=[])
        meant = [course for course, words in calls if len(words) == len(longest)]
        if longest and meant.count(meant[0]) == len(meant):
            found.courses.append(meant[0])
            found.words.extend(longest)


EMPTY = Catalogue()


def catalogue_of(courses: Sequence[KnownCourse]) -> Catalogue:
    """Makes the catalogue of the courses of a library."""
    entries: list[Course] = []
    for course in courses:
        lessons = [Lesson(each.number, each.title) for each in course.lessons]
        teachers = _TEACHERS_APART.split(course.instructor or "")
        named = tuple([name.strip() for name in teachers if name.strip()])
        entries.append(Course(course.title, named, tuple(lessons), course.language))
    return Catalogue(entries)


def _forms(title: str) -> list[str]:
    """Returns a title, and the part before its colon."""
    head, colon, _ = title.partition(":")
    return [title, head] if colon else [title]


def _calling_words(course: Course) -> set[str]:
    """Returns the stems that may refer to a course: of its title and teachers, and initials such as "MCP"."""
    known = set(stems_of(" ".join([course.title, *course.teachers])))
    for part in course.title.split(":"):
        initials = "".join([word[0] for word in part.split() if word[0].isupper()])
        # All runs of three to five initials, because a title may contain the usual abbreviation among other words.
        for end in range(3, len(initials) + 1):
            for start in range(max(0, end - 5), end - 2):
                known.add(initials[start:end].lower())
    return known


def _take_numbers(found: _Found, asked: Sequence[Word]) -> None:
    """Takes the number beside a name that several courses share, such as a year that none of them has."""
    for at, word in enumerate(asked):
        beside = asked[max(0, at - 1) : at + 2]
        if word.folded.isdecimal() and any(each in found.words for each in beside):
            found.words.append(word)


def _is_meant(name: _Name, run: Sequence[Word], question: str) -> bool:
    """Returns False for a title that is more likely a topic; one of a lesson counts if the question says "lesson"."""
    in_capitals = all(question[word.start].isupper() for word in run)
    is_named = in_capitals and run[0].start > 0
    if question[max(0, run[0].start - 1) : run[0].start] in _QUOTES:
        return True
    if len(run) == 1:
        says_lesson = name.lesson is not None and _SAYS_LESSON.search(question)
        return is_named if name.lesson is None else bool(says_lesson) and in_capitals
    return name.lesson is None or is_named or _SAYS_LESSON.search(question) is not None


def _calling(
    question: str, asked: Sequence[Word], at: int, known: set[str]
) -> list[Word]:
    """Returns the known words right before or right after the word at a position: the longer of the two runs."""
    before = leading(reversed(asked[:at]), known)
    behind = leading(asked[at + 1 :], known)
    if behind:
        between = question[asked[at].end : behind[0].start]
        if not _CONNECTING.fullmatch(between):
            behind = []
    return max(before, behind, key=len)


def _with_described(place: Place, question: str) -> Place:
    """Returns the place with the words that describe a lesson, and the step from that lesson to the meant one."""
    described = _DESCRIBED.search(question)
    if described is not None and place.lesson is None:
        place = place._replace(described=described["what"])
    if place.lesson is None and not place.described:
        return place
    return with_step(place)


def _with_lesson(place: Place, name: _Name) -> Place:
    """Returns the place with a lesson that the question names by title."""
    if name.lesson is None:
        return place
    return place._replace(course=name.course, lesson=name.lesson.number)
