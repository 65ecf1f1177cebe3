"""A question as it was understood: the kind of answer that it wants, the places it names, and its topic."""

from __future__ import annotations

from typing import Literal, NamedTuple

from antiphon.engine.offline.catalogue import CourseEntry
from antiphon.language.asking import Ask, names_catalogue
from antiphon.language.evidence import telling_words
from antiphon.language.lesson_position import LessonPlace
from antiphon.language.small_talk import SmallTalk
from antiphon.language.tongues import ENGLISH, Tongue
from antiphon.vocabulary.values import LessonPart

Kind = Literal[
    "outline",
    "look_up",
    "compare",
    "lesson",
    "across",
    "plain",
    "greeting",
    "find",
    "several",
    "not_held",
]


_OF_COURSES: frozenset[Ask] = frozenset(
    ("teacher", "link", "lessons", "courses", "contents")
)
"""Asked of no course by name, these are of one that is to be found, or of all."""


class Side(NamedTuple):
    """One side of a comparison: what to look for, and in which course where one is named."""

    topic: str
    course: str | None = None
    lesson: int | None = None

    @property
    def has_topic(self) -> bool:
        """True where it names more than a place."""
        return bool(telling_words(self.topic))


class Inquiry(NamedTuple):
    """A question as it was understood.

    Attributes:
        question: Its words: a follow-up is joined to what it follows.
        topic: What it is about, without the places it names.
        course: The title of the course it names (the one to look up, where there are two); where no catalogue is at
            hand, or for an outline, the name as it was written.
        other: A second course it names.
        sides: The two sides of a comparison.
        courses: The titles of all courses that it names or may mean.
        asks: What it asks of the catalogue.
        lessons: The numbers of all lessons that it names, where it names several.
        step: 1 where the lesson after `lesson` is asked for, -1 for the one before, 2 for the second after it.
        place: The lesson as it is named, where the course is not known yet.
        by_lesson: What is to be found, in a question of the kind `find`, is a lesson and not its course.
        missing_lesson: A lesson that it names, and that its course does not have.
        unknown: Something that it calls a course, and that is none.
        talk: The small talk that it is; the kind is `greeting` then.
        parts: The questions in it, of a kind `several`.
        wanted: What is asked of the text of the lesson that has to be found first; empty where nothing is.
        part: How the lesson begins, or how it ends, where that is what is asked of it.
        tongue: The language that it is asked in.
    """

    kind: Kind
    question: str
    topic: str
    course: str | None = None
    other: str | None = None
    lesson: int | None = None
    sides: tuple[Side, ...] = ()
    courses: tuple[str, ...] = ()
    asks: frozenset[Ask] = frozenset()
    lessons: tuple[int, ...] = ()
    step: int = 0
    place: LessonPlace | None = None
    by_lesson: bool = False
    missing_lesson: int | None = None
    unknown: str | None = None
    talk: SmallTalk | None = None
    parts: tuple[Inquiry, ...] = ()
    wanted: str = ""
    part: LessonPart | None = None
    tongue: Tongue = ENGLISH

    @property
    def has_topic(self) -> bool:
        """True where it names more than places."""
        return bool(telling_words(self.topic))

    @property
    def has_course(self) -> bool:
        """True where it names a course, or a name that several courses share."""
        return self.course is not None or bool(self.courses)

    @property
    def is_about_lesson(self) -> bool:
        """True where it names one lesson of one course."""
        return self.lesson is not None and self.course is not None

    @property
    def speaks_of_catalogue(self) -> bool:
        """True where it names courses or lessons, or asks what the catalogue knows."""
        if self.parts:
            return all(part.speaks_of_catalogue for part in self.parts)
        if self.kind in ("outline", "find", "across"):
            return True
        return self.has_course or self.lesson is not None

    @property
    def reads_lesson(self) -> bool:
        """True where the text of the lesson that is found, or of the one beside it, is asked for."""
        if self.wanted or self.part is not None:
            return True
        return bool(self.step) and self.by_lesson and "overview" in self.asks

    @property
    def asks_of_found_course(self) -> bool:
        """True where the texts of a course are asked that has to be found first, and no one lesson of it."""
        return bool(self.wanted) and self.kind == "find" and not self.names_place

    @property
    def names_place(self) -> bool:
        """True where what is found is a lesson, or one is named in what is found."""
        return self.by_lesson or self.place is not None

    @property
    def may_ask_catalogue(self) -> bool:
        """True where the texts are asked, and what is asked may stand in the catalogue all the same."""
        if self.kind == "lesson":
            return bool(self.asks & _OF_COURSES)
        if self.kind != "plain" or not names_catalogue(self.question):
            return False
        return self.has_course or bool(self.asks & _OF_COURSES)

    @property
    def wants_introduction(self) -> bool:
        """True where it asks what a whole course is about."""
        names_lesson = self.lesson is not None or self.missing_lesson is not None
        return self.asks == {"overview"} and not names_lesson

    @property
    def focus(self) -> str:
        """The words to look for: the topic, or the whole question where the places it names are all it holds."""
        if self.has_topic:
            return self.topic
        return self.question


def who_speaks(inquiry: Inquiry, course: CourseEntry | None) -> Inquiry:
    """Returns the question who teaches a lesson, asked of its beginning too where several teach the course."""
    if course is None or len(course.teachers) < 2 or inquiry.lesson is None:
        return inquiry
    if inquiry.asks != {"teacher"} or inquiry.step:
        return inquiry
    return inquiry._replace(part="beginning")


NO_QUESTION = Inquiry("plain", "", "")
"""What stands before the first question of a conversation."""
