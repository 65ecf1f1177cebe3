"""Finds the courses and lessons that a question names, among those that there are; pure.

A name is matched against known titles only: any other name, however it is written, is part of what is asked. What is
called a course and is none that is known is noted as such.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from antiphon.engine.offline.catalogue import Catalogue, CourseEntry, LessonOf
from antiphon.engine.offline.titles import (
    Run,
    Token,
    carries_meaning,
    ends_between,
    is_quoted,
    tokens_of,
)
from antiphon.language.lesson_places import speaks_of_lessons, without_lesson_places

_COURSE = frozenset(("course", "class", "training"))
_LESSON = frozenset(("lesson", "lecture"))
_TEACHES = frozenset(("teach", "teaches", "teaching", "taught", "say", "says", "said"))
_PLACING = frozenset(("in", "of", "from", "by", "into", "to", "for", "does", "do"))
_CALLING = frozenset(("on", "about", "called", "named", "titled", "the", "for", "of"))
_INDEFINITE = frozenset(
    ("a", "an", "any", "another", "other", "which", "what", "some", "every", "each")
)
_DETERMINERS = frozenset(("the", "this", "that", "your", "our", "my", "whole", "same"))
_NOT_NAMES = _INDEFINITE | _DETERMINERS | frozenset(("first", "last", "next", "entire"))
_MOST_NAME_WORDS = 5

_BEFORE_PLACE = re.compile(
    r"(?:\b(?:as )?(?:taught|described|explained|covered) )?(?:\b(?:in|of|from|to|by|for) )?(?:\b(?:the|your|our) )?"
    r"(?:\b(?:course|class|lesson|lecture) )?(?:\b(?:called|named|titled|on|about|that|which|by|with) )?(?:the )?"
    r"[\"\u201c\u2018']?$",
    re.IGNORECASE,
)
_AFTER_PLACE = re.compile(
    r"(?:['\u2019]s\b)?[\"\u201d\u2019']?(?: (?:course|class|lesson|lecture|one|teach|teaches|taught)\b)?",
    re.IGNORECASE,
)
# The rest of "according to Course X" once the course is taken out.
_REFERENCES = re.compile(
    r"\b(?:according to|as taught in|as described in)\s*(?=[,.;:?]|$|\band\b)",
    re.IGNORECASE,
)
_LONELY_WORDS = re.compile(r"\b(?:of|in|from)\s*(?=[,.;:?]|$)", re.IGNORECASE)
_SPACE_BEFORE_STOP = re.compile(r"\s+([,.;:?!])")


class Mention(NamedTuple):
    """A course or lesson as the question names it, and where in the question.

    Attributes:
        name: As it is written there.
        courses: The courses that may be meant; none where it is called a course and is not known.
        lesson: The lesson, where one is named by its title.
        teacher: It is the name of whoever teaches them.
    """

    name: str
    start: int
    end: int
    courses: tuple[CourseEntry, ...] = ()
    lesson: LessonOf | None = None
    teacher: bool = False


class Mentions(NamedTuple):
    """All that a question names, in its order.

    Attributes:
        courses: Courses, known ones or not.
        lessons: Lessons by their titles.
    """

    courses: tuple[Mention, ...] = ()
    lessons: tuple[Mention, ...] = ()

    @property
    def all(self) -> tuple[Mention, ...]:
        return tuple(
            sorted((*self.courses, *self.lessons), key=lambda each: each.start)
        )


def mentions_in(
    question: str,
    catalogue: Catalogue,
    *,
    loosely: bool = False,
    after_courses: bool = False,
) -> Mentions:
    """Finds the courses and lessons that a question names.

    Args:
        loosely: The question can only be about courses, so that a part of a title alone is a name.
        after_courses: The question before was about courses, so that "the retrieval one" is one.
    """
    reader = _Reader(question, catalogue, loosely, after_courses)
    courses = reader.courses()
    return Mentions(courses, reader.lessons(courses))


class _Reader:
    def __init__(
        self, question: str, catalogue: Catalogue, loosely: bool, after_courses: bool
    ) -> None:
        self._text = question
        self._catalogue = catalogue
        self._loosely = loosely
        self._tokens = tokens_of(question)
        self._course_words = _COURSE
        if after_courses:
            self._course_words = _COURSE | {"one"}

    def courses(self) -> tuple[Mention, ...]:
        found: list[Mention] = []
        for run in self._catalogue.course_titles.runs(self._tokens):
            if self._names_course(run):
                courses = tuple([self._catalogue.courses[at] for at in run.titles])
                found.append(
                    self._mention(run.first, run.last)._replace(courses=courses)
                )
        found += self._teachers(found)
        found += self._called_courses(found)
        found.sort(key=lambda mention: mention.start)
        return tuple(found)

    def lessons(self, courses: Sequence[Mention]) -> tuple[Mention, ...]:
        """Returns the lessons named by title, where the question speaks of lessons; those of its course first."""
        if not speaks_of_lessons(self._text) and not self._loosely:
            return ()
        found: list[Mention] = []
        for run in self._catalogue.lesson_titles.runs(self._tokens):
            mention = self._mention(run.first, run.last)
            if _overlaps(mention, courses) or not self._names_lesson(run):
                continue
            lesson = self._lesson_in(run, courses)
            if lesson is not None:
                found.append(mention._replace(lesson=lesson))
        return tuple(found)

    def _lesson_in(self, run: Run, courses: Sequence[Mention]) -> LessonOf | None:
        """Returns the lesson that is named, in one of the courses named; None where it may be several."""
        wanted: set[str] = set()
        for mention in courses:
            wanted.update([course.title for course in mention.courses])
        lessons = [self._catalogue.lessons[at] for at in run.titles]
        fitting = [each for each in lessons if each.course.title in wanted]
        for chosen in (fitting, lessons):
            if len(chosen) == 1:
                return chosen[0]
        return None

    def _teachers(self, known: Sequence[Mention]) -> list[Mention]:
        """Returns the courses that are named by who teaches them."""
        names = list(self._catalogue.teachers)
        found: list[Mention] = []
        for run in self._catalogue.teacher_names.runs(self._tokens):
            mention = self._mention(run.first, run.last)
            if _overlaps(mention, known) or not self._names_teacher(run):
                continue
            courses: tuple[CourseEntry, ...] = ()
            for at in run.titles:
                courses += self._catalogue.teachers[names[at]]
            found.append(mention._replace(courses=courses, teacher=True))
        return found

    def _names_teacher(self, run: Run) -> bool:
        """Returns True for a whole name, and for "Kwame's course" and "the course that Kwame teaches"."""
        if run.full and run.matched > 1:
            return True
        behind = self._text[self._tokens[run.last].end :][:2]
        return behind in ("'s", "\u2019s") or self._word(run.last + 1) in _TEACHES

    def _names_course(self, run: Run) -> bool:
        if self._is_called(run, self._course_words) or self._is_place_of_lesson(run):
            return True
        # A text without lessons is a document: its title is its subject, which questions name for its own sake.
        if len(self._catalogue.courses[run.titles[0]].lessons) <= 1:
            return False
        if self._is_whole_quotation(run):
            return True
        is_whole = self._stands_alone(run)
        if self._loosely and is_whole:
            return True
        return run.matched > 1 and (run.full or (is_whole and self._is_placed(run)))

    def _names_lesson(self, run: Run) -> bool:
        if run.full and run.matched > 1:
            return True
        return (
            self._is_called(run, _LESSON | {"one"})
            or self._is_whole_quotation(run)
            or (self._loosely and self._stands_alone(run))
        )

    def _is_called(self, run: Run, nouns: frozenset[str]) -> bool:
        """Returns True for "the X course" and for "the course about X", where X is all of the name."""
        # "The first course" is no nickname of one on first principles.
        if run.first == run.last and self._word(run.first) in _NOT_NAMES:
            return False
        if self._word(run.last + 1) in nouns and not self._carries(run.first - 1):
            return True
        at = run.first - 1
        while self._word(at) in _CALLING:
            at -= 1
        if at == run.first - 1 and self._word(at) not in nouns:
            return False
        if self._word(at) not in nouns or self._carries(run.last + 1):
            return False
        return self._word(at - 1) not in _INDEFINITE

    def _is_place_of_lesson(self, run: Run) -> bool:
        """Returns True for the X of "lesson 3 of X"."""
        at = run.first - 1
        if self._word(at) == "the":
            at -= 1
        if self._word(at) not in ("of", "in", "from"):
            return False
        if self._carries(run.last + 1):
            return False
        near = {self._word(at - 1), self._word(at - 2)}
        return bool(near & (_LESSON | {"lessons"}))

    def _is_placed(self, run: Run) -> bool:
        at = run.first - 1
        if self._word(at) == "the":
            at -= 1
        return self._word(at) in _PLACING

    def _stands_alone(self, run: Run) -> bool:
        return not self._carries(run.first - 1) and not self._carries(run.last + 1)

    def _is_whole_quotation(self, run: Run) -> bool:
        start = self._tokens[run.first].start
        return is_quoted(self._text, start, self._tokens[run.last].end)

    def _carries(self, at: int) -> bool:
        """Returns True where the word beside a run could be one more word of a name."""
        token = self._token(at)
        if token is None or token.word in _TEACHES:
            return False
        return carries_meaning(token)

    def _called_courses(self, known: Sequence[Mention]) -> list[Mention]:
        """Returns what is called a course beside the titles that were found."""
        found: list[Mention] = []
        for at, token in enumerate(self._tokens):
            if token.word not in _COURSE:
                continue
            mention = self._called_before(at) or self._called_after(at)
            if mention is None or _overlaps(mention, (*known, *found)):
                continue
            if self._is_beside(at, known):
                continue
            found.append(mention._replace(courses=self._catalogue.named(mention.name)))
        found += self._unknown_place_of_lesson((*known, *found))
        return found

    def _is_beside(self, at: int, known: Sequence[Mention]) -> bool:
        """Returns True where the word "course" belongs to a title that was found."""
        token = self._tokens[at]
        return any(
            abs(mention.start - token.end) < 12 or abs(token.start - mention.end) < 3
            for mention in known
        )

    def _called_before(self, at: int) -> Mention | None:
        """Returns the name before "course": "the cooking course"."""
        first = at
        while first > 0 and at - first < _MOST_NAME_WORDS:
            token = self._tokens[first - 1]
            if token.term is None or token.word in _NOT_NAMES:
                break
            if ends_between(self._text, token.end, self._tokens[first].start):
                break
            first -= 1
        if first == at or self._word(first - 1) not in ("the", "your", "our"):
            return None
        return self._mention(first, at - 1)

    def _called_after(self, at: int) -> Mention | None:
        """Returns the name after "course": the course on cooking, the course "Cooking"."""
        before = self._word(at - 1)
        if before in _INDEFINITE or before in ("this", "that"):
            return None
        first = at + 1
        while self._word(first) in _CALLING:
            first += 1
        if first == at + 1 and not self._opens_quotation(first):
            return None
        return self._name_from(first)

    def _unknown_place_of_lesson(self, known: Sequence[Mention]) -> list[Mention]:
        """Returns the name behind "lesson 3 of", where it is none that is known."""
        for at, token in enumerate(self._tokens):
            if token.word not in ("of", "in", "from"):
                continue
            if not {self._word(at - 1), self._word(at - 2)} & _LESSON:
                continue
            first = at + 1
            while self._word(first) in ("the", "course"):
                first += 1
            mention = self._name_from(first)
            if mention is not None and not _overlaps(mention, known):
                courses = self._catalogue.named(mention.name)
                return [mention._replace(courses=courses)]
        return []

    def _name_from(self, first: int) -> Mention | None:
        last = first
        while self._carries_on(last) and last - first < _MOST_NAME_WORDS:
            last += 1
        if last == first:
            return None
        return self._mention(first, last - 1)

    def _carries_on(self, at: int) -> bool:
        token = self._token(at)
        if token is None or token.term is None:
            return False
        if at == 0:
            return True
        between = self._text[self._tokens[at - 1].end : token.start]
        return not any(mark in between for mark in ",.;:?!")

    def _opens_quotation(self, at: int) -> bool:
        token = self._token(at)
        return token is not None and self._text[token.start - 1] in "\"\u201c\u2018'"

    def _mention(self, first: int, last: int) -> Mention:
        start, end = self._tokens[first].start, self._tokens[last].end
        return Mention(self._text[start:end], start, end)

    def _token(self, at: int) -> Token | None:
        if 0 <= at < len(self._tokens):
            return self._tokens[at]
        return None

    def _word(self, at: int) -> str:
        token = self._token(at)
        if token is None:
            return ""
        return token.word


def _overlaps(mention: Mention, others: Sequence[Mention]) -> bool:
    return any(
        mention.start < other.end and other.start < mention.end for other in others
    )


def without_places(question: str, mentions: Sequence[Mention]) -> str:
    """Returns the question without the lessons and courses that it names, which leaves its topic."""
    kept: list[str] = []
    at = 0
    for mention in mentions:
        kept.append(_BEFORE_PLACE.sub("", question[at : mention.start]))
        at = mention.end + len(_after(question[mention.end :]))
    kept.append(question[at:])
    text = without_lesson_places(" ".join(kept))
    text = _REFERENCES.sub(" ", text)
    text = _SPACE_BEFORE_STOP.sub(r"\1", " ".join(text.split()))
    text = _LONELY_WORDS.sub("", text)
    text = _SPACE_BEFORE_STOP.sub(r"\1", " ".join(text.split()))
    return text.strip(" ,;:")


def _after(tail: str) -> str:
    found = _AFTER_PLACE.match(tail)
    if found is None:
        return ""
    return found[0]
