"""Decides what kind of answer a question wants, by the way it is asked and the courses that there are; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from antiphon.engine.offline.catalogue import EMPTY, Catalogue
from antiphon.engine.offline.mentions import (
    Mention,
    Mentions,
    mentions_in,
    without_places,
)
from antiphon.language.asking import Ask, Asked, asked_of_catalogue
from antiphon.language.evidence import telling_words
from antiphon.language.lesson_places import (
    LessonPlace,
    lesson_place,
    without_lesson_places,
)
from antiphon.language.questions import (
    LESSONS,
    compared_sides,
    questions_in,
    refers_back,
    without_opening,
)
from antiphon.language.small_talk import SmallTalk, small_talk, without_courtesies

MOST_CHARS = 1000
"""As much of a question is read: some patterns take time by the square of its length."""
MOST_EARLIER = 3

_ELSEWHERE = re.compile(
    r"\b(?:(?:an)?other courses?|different course|(?:same|similar) (?:topic|subject|thing)"
    r"|(?:topic|subject|theme) of (?:the )?lesson|comes? up again|related to|elsewhere)\b",
    re.I,
)
_ACROSS = re.compile(
    r"\b(?:which|what|how many|all|any|every|each|some) (?:of the |of these |the |these )?(?:courses|lessons)\b"
    r"|\b(?:across|in|do|among|throughout) (?:all |all of )?(?:the|these|your) courses\b"
    r"|\b(?:any|every|each|which|what|there a|have a|for a) course\b|\bcourses? (?:that|which)\b",
    re.I,
)
_NAMES_CATALOGUE = re.compile(
    r"\b(?:outline|syllabus|curriculum|lessons|table of contents|teach(?:es|ing)?|taught|instructor|teacher|course)\b",
    re.I,
)
_LESSON_NUMBER_IN_ANSWER = re.compile(r"\bLesson (\d{1,4})\b")
# A full stop behind an initial ends no sentence.
_SIDE_ENDS = re.compile(r"[:;?!]|(?<!\b[A-Z])\. ")
_MASKED = re.compile("\u27e6(\\d+)\u27e7")
_PLACE_OF_SIDE = re.compile(
    "(?:,? ?(?:as )?(?:taught|described|explained|presented)? ?(?:in|of|from|by) )?(?:the )?(?:course )?"
    "\u27e6\\d+\u27e7(?: course)?",
    re.I,
)
_MOST_UNKNOWN_WORDS = 5
_OF_A_COURSE: frozenset[Ask] = frozenset(("teacher", "link", "lessons", "contents"))
"""What is asked of one course."""
_ASKS_WHO = re.compile(
    r"\bwho|\b(?:name|instructor|teacher|lecturer) (?:of|for|in)\b", re.I
)
_APART_FROM = re.compile(
    r"\b(?:any|an|which|what|the)?\s*other courses?\b|\banother course\b"
    r"|\b(?:besides|apart from|other than|except)\b",
    re.I,
)
_OF_FOUND = _OF_A_COURSE | {"title"}
_LESSON_THAT = re.compile(
    r"\b(?:lesson|lecture|one) (?:that|which|where|in which|about|on|covering|explaining|discussing|dealing)\b",
    re.I,
)
_OF_UNKNOWN: frozenset[Ask] = frozenset(("contents", "teacher", "link"))
_OF_A_TEACHER: frozenset[Ask] = frozenset(("courses", "teacher", "overview", "title"))
_COURSE_THAT = re.compile(
    r"\bcourse (?:that|which|where|in which|covering|explaining|discussing|dealing|treating)\b",
    re.I,
)

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
]


class Side(NamedTuple):
    """One side of a comparison: what to look for, and in which course where one is named."""

    topic: str
    course: str | None = None
    lesson: int | None = None


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
        counts: It asks how many there are.
        step: 1 where the lesson after `lesson` is asked for, -1 for the one before.
        place: The lesson as it is named, where the course is not known yet.
        by_lesson: What is to be found, in a question of the kind `find`, is a lesson and not its course.
        missing_lesson: A lesson that it names, and that its course does not have.
        unknown: Something that it calls a course, and that is none.
        talk: The small talk that it is; the kind is `greeting` then.
        parts: The questions in it, of a kind `several`.
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
    counts: bool = False
    step: int = 0
    place: LessonPlace | None = None
    by_lesson: bool = False
    missing_lesson: int | None = None
    unknown: str | None = None
    talk: SmallTalk | None = None
    parts: tuple[Inquiry, ...] = ()

    @property
    def wants_introduction(self) -> bool:
        """True where it asks what a whole course is about."""
        names_lesson = self.lesson is not None or self.missing_lesson is not None
        return self.asks == {"overview"} and not names_lesson

    @property
    def focus(self) -> str:
        """The words to look for: the topic, or the whole question where the places it names are all it holds."""
        if telling_words(self.topic):
            return self.topic
        return self.question


def understand(
    question: str,
    earlier: Sequence[str] = (),
    catalogue: Catalogue = EMPTY,
    answered: str = "",
) -> Inquiry:
    """Reads a message: small talk, one question, or several.

    Args:
        earlier: Earlier questions of the conversation, oldest first.
        catalogue: The courses that there are; empty where none is at hand.
        answered: The answer to the last of the earlier questions.
    """
    talk = small_talk(question)
    if talk is not None:
        return Inquiry("greeting", question[:MOST_CHARS], "", talk=talk)
    asked = _plainly(question)
    before = _before(earlier, catalogue, answered)
    parts: list[Inquiry] = []
    for part in questions_in(asked):
        inquiry = _Reading(part, before, catalogue).inquiry()
        parts.append(inquiry)
        before = inquiry
    if len(parts) == 1:
        return parts[0]
    return Inquiry("several", asked, asked, parts=tuple(parts))


def _plainly(question: str) -> str:
    """Returns the question as it would be asked in a quiet voice: without courtesies, and not all in capitals."""
    asked = question[:MOST_CHARS]
    letters = [letter for letter in asked if letter.isalpha()]
    if len(letters) > 8 and asked.isupper():
        asked = asked.lower()
    return without_courtesies(asked).strip()


def _before(
    earlier: Sequence[str], catalogue: Catalogue, answered: str
) -> Inquiry | None:
    """Returns the last earlier question as it was understood, with a place that its answer named."""
    questions = [each for each in earlier if small_talk(each) is None]
    if not questions:
        return None
    recent = questions[-MOST_EARLIER:]
    inquiry = understand(recent[-1], recent[:-1], catalogue)
    if inquiry.parts:
        inquiry = inquiry.parts[-1]
    if inquiry.course is None and not inquiry.courses:
        inquiry = _placed_by_answer(inquiry, catalogue, answered)
    return inquiry


def _placed_by_answer(inquiry: Inquiry, catalogue: Catalogue, answered: str) -> Inquiry:
    """Returns the inquiry with the first course that its answer names, and the lesson named behind it."""
    places: list[tuple[int, str]] = []
    for course in catalogue.courses:
        at = answered.find(course.title)
        if at >= 0:
            places.append((at, course.title))
    if not places:
        return inquiry
    at, title = min(places)
    lesson = _LESSON_NUMBER_IN_ANSWER.search(answered, max(at - 40, 0), at + 200)
    if lesson is None:
        return inquiry._replace(course=title)
    return inquiry._replace(course=title, lesson=int(lesson[1]))


class _Read(NamedTuple):
    """What the words of a question give away.

    Attributes:
        known: The courses and lessons named that there are; all that it calls one, where no catalogue is at hand.
        topic: The question without them.
    """

    mentions: Mentions
    known: tuple[Mention, ...]
    topic: str
    asked: Asked


def _is_about_a_course(read: _Read) -> bool:
    """Returns True for "How many lessons are there?": after a question that named a course, that one is meant."""
    asked = read.asked
    return asked.is_pure and bool(asked.asks & _OF_A_COURSE) and not read.mentions.all


class _Reading:
    """One question while it is read: what it names, what it asks for, and what it leans on."""

    def __init__(
        self, question: str, before: Inquiry | None, catalogue: Catalogue
    ) -> None:
        self._question = question
        self._catalogue = catalogue
        self._before: Inquiry | None = None
        if before is not None and refers_back(question):
            self._before = before
        self._place = lesson_place(question, after_lessons=self._after_lessons())
        read = self._read(loosely=False)
        # "Who teaches retrieval?" can only mean a course: where that leaves nothing open, a part of a title will do.
        if self._names_catalogue(read) and not read.mentions.courses:
            loosely = self._read(loosely=True)
            if loosely.asked.is_pure and loosely.known:
                read = loosely
        if before is not None and _is_about_a_course(read):
            self._before = before
        self._mentions = read.mentions
        self._known = read.known
        self._topic = read.topic
        self._asked = read.asked

    def _names_catalogue(self, read: _Read) -> bool:
        if not read.asked.asks & _OF_A_COURSE:
            return False
        return _NAMES_CATALOGUE.search(self._question) is not None

    def _read(self, *, loosely: bool) -> _Read:
        mentions = mentions_in(
            self._question,
            self._catalogue,
            loosely=loosely,
            after_courses=self._after_courses(),
        )
        known: list[Mention] = []
        for mention in mentions.all:
            if mention.courses or mention.lesson or not self._catalogue:
                known.append(mention)
        # What is called a course and is none stays in the topic, but it is none of what is asked about a course.
        bare = without_places(self._question, mentions.all)
        of_course = bool(mentions.courses) or self._after_courses()
        return _Read(
            mentions=mentions,
            known=tuple(known),
            topic=without_places(self._question, known),
            asked=asked_of_catalogue(bare, of_course=of_course),
        )

    def _after_lessons(self) -> bool:
        before = self._before
        if before is None:
            return False
        return before.lesson is not None or bool(
            before.asks & {"contents", "lessons", "title", "overview"}
        )

    def _after_courses(self) -> bool:
        before = self._before
        return before is not None and bool(before.course or before.courses)

    def inquiry(self) -> Inquiry:
        """Returns the question as understood; the first rule that fits decides on its kind."""
        inquiry = self._located()
        if self._before is not None:
            inquiry = self._leaning(inquiry, self._before)
        inquiry = self._of_only_course(inquiry)
        inquiry = self._with_lesson(inquiry)
        if inquiry.missing_lesson is not None and not self._sought(inquiry):
            return inquiry._replace(kind="outline")
        if inquiry.kind != "plain":
            return inquiry
        return self._of_kind(inquiry)

    def _located(self) -> Inquiry:
        """Returns the question with the places that it names."""
        titles: dict[str, None] = {}
        clear: dict[str, None] = {}
        unknown: list[str] = []
        for mention in self._in_order():
            named = self._titles_of(mention)
            if not named:
                unknown.append(mention.name)
            titles.update(dict.fromkeys(named))
            if len(named) == 1:
                clear.setdefault(named[0])
        if not clear:
            clear = dict.fromkeys(self._courses_of_lessons())
        course, other = [*clear, None, None][:2]
        return Inquiry(
            kind="plain",
            question=self._question,
            topic=self._topic,
            course=course,
            other=other,
            courses=tuple(titles),
            asks=self._asked.asks,
            counts=self._asked.counts,
            unknown=next(iter(unknown), None),
        )

    def _titles_of(self, mention: Mention) -> tuple[str, ...]:
        if not self._catalogue:
            return (mention.name,)
        return tuple([course.title for course in mention.courses])

    def _courses_of_lessons(self) -> list[str]:
        """Returns the courses of the lessons that are named by their titles."""
        courses: list[str] = []
        for mention in self._mentions.lessons:
            if mention.lesson is not None:
                courses.append(mention.lesson.course.title)
        return courses

    def _in_order(self) -> list[Mention]:
        """Returns the courses named, the one that a lesson is "of" first: it is the one to look up."""
        named = list(self._mentions.courses)
        lesson = LESSONS.search(self._question)
        if lesson is None:
            return named
        behind = lesson.end()
        named.sort(key=lambda each: not 0 <= each.start - behind < 30)
        return named

    @property
    def _names_a_lesson(self) -> bool:
        return self._place is not None or bool(self._mentions.lessons)

    @property
    def _is_bare(self) -> bool:
        """True where nothing is asked beside the places that are named."""
        return not self._asked.topic and not self._asked.asks

    def _leaning(self, inquiry: Inquiry, before: Inquiry) -> Inquiry:
        """Returns a follow-up with what it takes from the question before it."""
        has_place = bool(inquiry.courses) or self._names_a_lesson
        if has_place and self._is_bare:
            return self._in_another_place(inquiry, before)
        if not inquiry.courses:
            inquiry = inquiry._replace(course=before.course, courses=before.courses)
        if not has_place:
            inquiry = inquiry._replace(lesson=before.lesson)
        if self._asked.is_pure and (inquiry.course or inquiry.courses):
            return inquiry
        return self._joined(inquiry, before)

    def _joined(self, inquiry: Inquiry, before: Inquiry) -> Inquiry:
        """Returns the follow-up in the words of both questions, where the first had a topic."""
        if not telling_words(before.topic):
            return inquiry
        return inquiry._replace(
            question=f"{before.question} {self._question}",
            topic=f"{before.topic} {self._topic}",
        )

    def _in_another_place(self, inquiry: Inquiry, before: Inquiry) -> Inquiry:
        """Returns the question before, asked of the course or lesson that this one names: "And the second one?"."""
        asks = before.asks
        lesson = before.lesson
        if before.kind == "lesson" and self._names_a_lesson:
            return before._replace(course=inquiry.course or before.course, step=0)
        if self._names_a_lesson and not asks <= {"link", "title"}:
            asks = frozenset({"title"})
        if inquiry.courses:
            lesson = None
        sides = before.sides
        kind = before.kind
        if kind in ("compare", "look_up", "lesson"):
            kind = "plain"
            sides = ()
        return before._replace(
            kind=kind,
            asks=asks,
            sides=sides,
            course=inquiry.course or before.course,
            courses=inquiry.courses or before.courses,
            unknown=inquiry.unknown,
            lesson=lesson,
        )

    def _of_only_course(self, inquiry: Inquiry) -> Inquiry:
        """Where there is but one course, questions about a course or its lessons mean that one."""
        if len(self._catalogue.courses) != 1 or inquiry.courses or inquiry.unknown:
            return inquiry
        if self._place is None and not self._asked.is_pure:
            return inquiry
        return inquiry._replace(course=self._catalogue.courses[0].title)

    def _with_lesson(self, inquiry: Inquiry) -> Inquiry:
        """Finds the lesson that is named, in the course that is named."""
        place = self._named_lesson()
        if place is None:
            return inquiry
        inquiry = inquiry._replace(place=place)
        # "The next lesson", after one that was spoken of before.
        if place.number is None and place.position is None:
            place = place._replace(number=inquiry.lesson)
        course = self._catalogue.course(inquiry.course)
        if course is None or not course.lessons:
            return inquiry._replace(lesson=place.number, step=place.step)
        base = place._replace(step=0).among(course.numbers)
        if base is None:
            return self._without_lesson(inquiry, place)
        beside = place.among(course.numbers)
        if place.step and beside is not None and self._asks_what_it_says(inquiry):
            return inquiry._replace(lesson=beside)
        return inquiry._replace(lesson=base, step=place.step)

    def _without_lesson(self, inquiry: Inquiry, place: LessonPlace) -> Inquiry:
        """Returns the question with the number or place of a lesson that its course does not have."""
        missing = place.number
        if missing is None:
            missing = place.position
        return inquiry._replace(missing_lesson=missing, lesson=None, step=place.step)

    def _asks_what_it_says(self, inquiry: Inquiry) -> bool:
        """Returns True for "What does the next lesson cover?": its title alone is no answer."""
        if inquiry.kind == "lesson" or "overview" in self._asked.asks:
            return True
        return bool(self._asked.topic) and not self._asked.asks

    def _named_lesson(self) -> LessonPlace | None:
        place = self._place
        for mention in self._mentions.lessons:
            if mention.lesson is not None and (place is None or place.number is None):
                step = 0
                if place is not None:
                    step = place.step
                return LessonPlace(mention.lesson.lesson.number, step=step)
        return place

    def _of_kind(self, inquiry: Inquiry) -> Inquiry:
        # From the narrowest to the widest: each rule would also take questions that a rule before it means.
        if _names_lesson(inquiry) and _ELSEWHERE.search(inquiry.question):
            return inquiry._replace(kind="look_up")
        if inquiry.courses and _APART_FROM.search(self._question):
            return inquiry._replace(kind="across", course=None)
        for rule in (self._outlined, self._compared, self._of_lesson):
            found = rule(inquiry)
            if found is not None:
                return found
        if not inquiry.courses and _ACROSS.search(inquiry.question):
            return inquiry._replace(kind="across")
        return inquiry

    def _outlined(self, inquiry: Inquiry) -> Inquiry | None:
        """Returns a question that the catalogue answers."""
        if self._names_lesson_alone(inquiry):
            return inquiry._replace(
                kind="outline", courses=self._courses_with(inquiry.lesson)
            )
        if self._asks_after_teacher():
            return inquiry._replace(kind="outline", asks=frozenset({"teacher"}))
        sought = self._sought(inquiry)
        if sought is not None:
            by_lesson = self._seeks_lesson(inquiry)
            return inquiry._replace(kind="find", topic=sought, by_lesson=by_lesson)
        if self._is_for_catalogue(inquiry):
            return inquiry._replace(kind="outline")
        unknown = self._outlined_unknown(inquiry)
        if unknown is not None:
            return inquiry._replace(kind="outline", course=unknown, unknown=unknown)
        return None

    def _of_lesson(self, inquiry: Inquiry) -> Inquiry | None:
        if not _names_lesson(inquiry):
            return None
        if self._asked.is_pure:
            # "What is covered in it" has no topic: it is all of the lesson.
            return inquiry._replace(kind="lesson", topic="")
        return inquiry._replace(kind="lesson")

    def _is_for_catalogue(self, inquiry: Inquiry) -> bool:
        if inquiry.step:
            return True
        asked = self._asked
        if inquiry.asks != asked.asks:
            # A follow-up that asks what the question before it asked.
            return bool(inquiry.asks) and not telling_words(inquiry.topic)
        has_course = inquiry.course is not None or bool(inquiry.courses)
        if not asked.is_pure:
            return False
        if asked.asks == {"overview"}:
            return has_course and inquiry.lesson is None
        if asked.asks <= {"title", "duration"}:
            return has_course
        return True

    def _names_lesson_alone(self, inquiry: Inquiry) -> bool:
        """Returns True for "What is lesson 3 about?", where that may be the lesson of any course."""
        if inquiry.lesson is None or inquiry.course or inquiry.courses:
            return False
        return self._asked.is_pure and bool(self._catalogue)

    def _courses_with(self, lesson: int | None) -> tuple[str, ...]:
        courses = self._catalogue.courses
        return tuple([each.title for each in courses if lesson in each.numbers])

    def _asks_after_teacher(self) -> bool:
        """Returns True where the question names a teacher, and asks for nothing but the courses of that one."""
        named = any(mention.teacher for mention in self._mentions.courses)
        asks = self._asked.asks
        if not named or self._place is not None or self._asked.topic:
            return False
        return asks <= _OF_A_TEACHER

    def _sought(self, inquiry: Inquiry) -> str | None:
        """Returns what a course or lesson says that is to be found first: "the course that explains HNSW"."""
        asked = self._asked
        if not asked.topic or inquiry.lesson is not None:
            return None
        if self._seeks_lesson(inquiry) or self._seeks_course(inquiry):
            return _stretch(self._question, asked.topic)
        return None

    def _seeks_lesson(self, inquiry: Inquiry) -> bool:
        """Returns True for "the title of the lesson that explains HNSW", and for the one that comes after it."""
        if inquiry.step:
            return True
        named = bool(self._asked.asks & {"title", "link"})
        return named and _LESSON_THAT.search(self._question) is not None

    def _seeks_course(self, inquiry: Inquiry) -> bool:
        if inquiry.course or inquiry.courses or not self._asked.asks & _OF_FOUND:
            return False
        return _COURSE_THAT.search(self._question) is not None

    def _outlined_unknown(self, inquiry: Inquiry) -> str | None:
        """Returns the name of the course that a question about the catalogue means, where there is none such."""
        if inquiry.course is not None or inquiry.courses:
            return None
        if inquiry.unknown is not None and self._asked.is_pure:
            return inquiry.unknown
        if not self._could_name_a_course():
            return None
        return _stretch(self._question, self._asked.topic)

    def _could_name_a_course(self) -> bool:
        """Returns True where what the question calls no course can be nothing else: "the outline of Basket Weaving"."""
        asked = self._asked
        if not asked.asks or asked.counts or asked.asks - _OF_UNKNOWN:
            return False
        if not 0 < len(asked.topic) <= _MOST_UNKNOWN_WORDS:
            return False
        # "What did the instructor say about it?" asks for no name.
        if "teacher" in asked.asks and not _ASKS_WHO.search(self._question):
            return False
        return _NAMES_CATALOGUE.search(self._question) is not None

    def _compared(self, inquiry: Inquiry) -> Inquiry | None:
        """Returns a comparison with its two sides; that of two whole courses shows the outlines of both."""
        sides = _sides(inquiry.question, self._known, self._catalogue)
        if not sides:
            return None
        places = [
            side
            for side in sides
            if telling_words(side.topic) or side.lesson is not None
        ]
        if len(places) == len(sides):
            return inquiry._replace(kind="compare", sides=sides)
        if all(side.course for side in sides) and len(inquiry.courses) > 1:
            return inquiry._replace(kind="outline", asks=frozenset({"overview"}))
        return None


def _names_lesson(inquiry: Inquiry) -> bool:
    return inquiry.lesson is not None and inquiry.course is not None


def _stretch(question: str, topic: Sequence[str]) -> str | None:
    """Returns what the question says from the first to the last word of the topic."""
    folded = question.lower()
    start = folded.find(topic[0])
    end = folded.rfind(topic[-1]) + len(topic[-1])
    if start < 0 or end <= start:
        return None
    return question[start:end][:100]


def _sides(
    question: str, known: Sequence[Mention], catalogue: Catalogue
) -> tuple[Side, ...]:
    """Returns the two sides; the names of courses are masked meanwhile, since they hold an "and" of their own."""
    named = [
        mention
        for mention in known
        if question[mention.start : mention.end] == mention.name
    ]
    masked, mentions = _masked(question, named)
    compared = compared_sides(masked)
    if compared is None:
        return ()
    sides = _sharing(tuple([_side(part, mentions, catalogue) for part in compared]))
    return _of_one_topic(tuple([_titled(side, catalogue) for side in sides]))


def _titled(side: Side, catalogue: Catalogue) -> Side:
    """Returns a side that is a whole lesson with the lesson's title as its topic."""
    entry = catalogue.course(side.course)
    if telling_words(side.topic) or entry is None:
        return side
    lesson = entry.lesson(side.lesson)
    if lesson is None:
        return side
    return side._replace(topic=lesson.title)


def _sharing(sides: tuple[Side, ...]) -> tuple[Side, ...]:
    """Returns the sides of "lesson 2 and lesson 3 of X" as both of the one course."""
    courses = [side.course for side in sides if side.course is not None]
    if len(courses) != 1:
        return sides
    shared: list[Side] = []
    for side in sides:
        if side.lesson is not None and not telling_words(side.topic):
            side = side._replace(course=courses[0])
        shared.append(side)
    return tuple(shared)


def _of_one_topic(sides: tuple[Side, ...]) -> tuple[Side, ...]:
    """Returns the sides of "caching in X and in Y" as both on the one topic."""
    topics = [side.topic for side in sides if telling_words(side.topic)]
    if len(topics) != 1 or not all(side.course for side in sides):
        return sides
    return tuple([side._replace(topic=topics[0]) for side in sides])


def _masked(question: str, known: Sequence[Mention]) -> tuple[str, list[Mention]]:
    mentions: list[Mention] = []
    masked = ""
    at = 0
    for mention in known:
        masked += f"{question[at : mention.start]}\u27e6{len(mentions)}\u27e7"
        mentions.append(mention)
        at = mention.end
    return masked + question[at:], mentions


def _side(part: str, mentions: Sequence[Mention], catalogue: Catalogue) -> Side:
    part = _SIDE_ENDS.split(part)[0]
    course: str | None = None
    lesson: int | None = None
    named = _MASKED.search(part)
    if named:
        mention = mentions[int(named[1])]
        course = _course_of(mention, catalogue)
        if mention.lesson is not None:
            lesson = mention.lesson.lesson.number
    topic = _PLACE_OF_SIDE.sub("", part)
    place = lesson_place(topic)
    if place is not None:
        lesson = place.number
        entry = catalogue.course(course)
        if entry is not None:
            lesson = place.among(entry.numbers)
        topic = without_lesson_places(topic)
    return Side(without_opening(topic), course, lesson)


def _course_of(mention: Mention, catalogue: Catalogue) -> str | None:
    if mention.lesson is not None:
        return mention.lesson.course.title
    if len(mention.courses) == 1:
        return mention.courses[0].title
    if not catalogue:
        return mention.name
    return None
