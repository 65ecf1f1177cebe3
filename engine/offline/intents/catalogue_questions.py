"""Recognises the questions that the catalogue answers: each rule returns the question with its kind, or None."""

from __future__ import annotations

import re

from antiphon.engine.offline.intents.inquiry import Inquiry, who_speaks
from antiphon.engine.offline.intents.parsing import Parsed
from antiphon.engine.offline.intents.sought import called_lesson, topic_stretch
from antiphon.language.asking import (
    Ask,
    asks_what_is_not_held,
    asks_what_to_know,
)

_MOST_UNKNOWN_WORDS = 5
_MOST_BESIDE_LESSON = 3
_ASKS_WHO = re.compile(
    r"\bwho|\b(?:name|instructor|teacher|lecturer) (?:of|for|in)\b", re.I
)
_ENDS_SENTENCE = re.compile(r"[.?!;,]\s")
_CONTENTS = re.compile(r"\b(?:contents?|topics|themes|subjects)\b", re.I)
_COURSE_ON = re.compile(r"\bcourses? (?:is |are )?(?:on|about|for)\b", re.I)
# "Which lessons mention caching" names no course.
_SEVERAL = re.compile(
    r"\b(?:which|what|any|some|all|every|each) (?:of the )?(?:courses?|lessons?)\b",
    re.I,
)
# In lower case what a title holds may be a thing, and is no name.
_WHAT_IS = re.compile(
    r"\W*(?:what(?:'s|\u2019s| is| are) (?:an? )?(?P<thing>[^A-Z?]+)"
    r"|how (?:does|do) (?P<working>[^A-Z?]+) work)\W*$"
)
_SAID_OF_PLACE = re.compile(r"\b(?:courses?|class|lessons?|lectures?|about)\b", re.I)
_SAID_OF_PREREQUISITES = "you should know, you need, you do not need, prerequisites"
"""Speakers name what is asked, and rarely call it so: "you need just basic Python"."""
_OF_SOME_PLACE: frozenset[Ask] = frozenset(("overview", "title", "duration"))
"""Asked of no course in particular, these ask for something else."""
_OF_UNKNOWN: frozenset[Ask] = frozenset(("contents", "teacher", "link"))
_OF_A_TEACHER: frozenset[Ask] = frozenset(("courses", "teacher", "overview", "title"))


def asks_of_every_course(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes "What is lesson 3 about?", where that may be the lesson of any course."""
    if not parsed.asked.is_pure:
        return None
    return _in_every_course(inquiry, parsed)


def asks_what_catalogue_lacks(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes what is asked of a course and no catalogue holds, such as its price; its text may say it all the same."""
    if not parsed.catalogue or parsed.names_lesson:
        return None
    of_course = bool(parsed.mentions.courses)
    if not asks_what_is_not_held(parsed.question, parsed.asked, of_course=of_course):
        return None
    return inquiry._replace(kind="not_held", topic=parsed.question)


def asks_for_prerequisites(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes what one should know before a course: its first lesson says it, where any does."""
    course = parsed.catalogue.course(inquiry.course)
    if course is None or not course.lessons or parsed.names_lesson:
        return None
    if not asks_what_to_know(parsed.question):
        return None
    return inquiry._replace(
        kind="not_held",
        topic=_SAID_OF_PREREQUISITES,
        lesson=course.lessons[0].number,
    )


def names_lesson_alone(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes a lesson with next to nothing beside it: "What's in lesson 3?"."""
    if not parsed.is_bare or inquiry.unknown is not None:
        return None
    if len(parsed.topic.split()) > _MOST_BESIDE_LESSON:
        return None
    return _in_every_course(inquiry, parsed)


def asks_for_course_on(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes "Do you have a course on databases?", where a title says so."""
    if inquiry.has_course or not _COURSE_ON.search(parsed.question):
        return None
    titles = parsed.catalogue.titled(" ".join(parsed.asked.topic))
    if not titles:
        return None
    asks: frozenset[Ask] = frozenset({"overview"})
    return inquiry._replace(kind="outline", courses=titles, asks=asks)


def names_course_alone(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes a course with next to nothing beside it: "Tell me about the Git course"."""
    # Where no courses are known, the name may be the topic: "What does the lesson say of backoff?"
    if not parsed.catalogue.course(inquiry.course) or not parsed.mentions.courses:
        return None
    if inquiry.has_topic or not parsed.is_bare or _asks_what_thing_is(parsed.question):
        return None
    return inquiry._replace(kind="outline", asks=frozenset({"overview"}))


def _asks_what_thing_is(question: str) -> bool:
    """Returns True for "What is context engineering?" and how it works, though a course is called so."""
    question = question[:1].lower() + question[1:]
    found = _WHAT_IS.match(question)
    if found is None:
        return False
    return not _SAID_OF_PLACE.search(found["thing"] or found["working"])


def _in_every_course(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    if inquiry.place is None or inquiry.has_course or not parsed.catalogue:
        return None
    # "Lesson 3 of the gym course" is of one course, whatever that is called.
    if inquiry.unknown is not None:
        return None
    if inquiry.lesson is not None:
        courses = parsed.catalogue.with_lesson(inquiry.lesson)
    elif inquiry.place.position is not None:
        # Each course has a first lesson, of whichever number.
        courses = tuple([course.title for course in parsed.catalogue.courses])
    else:
        return None
    return inquiry._replace(kind="outline", courses=courses, topic="")


def asks_after_teacher(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes what names a teacher, and asks for nothing but the courses of that one."""
    if not parsed.mentions.names_teacher or parsed.names_lesson:
        return None
    asked = parsed.asked
    if asked.topic or not asked.asks <= _OF_A_TEACHER:
        return None
    return inquiry._replace(kind="outline", asks=frozenset({"teacher"}))


def asks_of_catalogue(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes what the catalogue holds: the link of a course, how many there are, which lesson comes next."""
    if _asks_for_contents_of_lesson(inquiry, parsed):
        return _of_whole_lesson(inquiry)
    asks_neighbour = _asks_for_neighbour(inquiry, parsed)
    if not asks_neighbour and not _is_for_catalogue(inquiry, parsed):
        return None
    asks = inquiry.asks
    spoken = who_speaks(inquiry, parsed.catalogue.course(inquiry.course))
    if spoken.part is not None:
        return spoken._replace(kind="lesson")
    # "How long is each of the lessons" does not ask which they are.
    if "duration" in asks:
        asks = asks - {"contents"}
    return inquiry._replace(kind="outline", asks=asks)


def _asks_for_contents_of_lesson(inquiry: Inquiry, parsed: Parsed) -> bool:
    """Returns True for "lesson 4 of X, contents": of a lesson they are what it says, and no list of lessons."""
    if not inquiry.is_about_lesson or inquiry.step or inquiry.lessons:
        return False
    asks_contents = parsed.asked.is_pure and inquiry.asks == {"contents"}
    return asks_contents and _CONTENTS.search(parsed.question) is not None


def _of_whole_lesson(inquiry: Inquiry) -> Inquiry:
    return inquiry._replace(kind="lesson", topic="", asks=frozenset({"overview"}))


def _asks_for_neighbour(inquiry: Inquiry, parsed: Parsed) -> bool:
    """Returns True for "What comes after it?"; not for what is asked of the neighbour of a lesson that is not known."""
    if not inquiry.step:
        return False
    return inquiry.lesson is not None or len(parsed.asked.topic) <= _MOST_UNKNOWN_WORDS


def _is_for_catalogue(inquiry: Inquiry, parsed: Parsed) -> bool:
    asks = parsed.asked.asks
    if inquiry.asks != asks:
        # A follow-up that asks what the question before it asked.
        return bool(inquiry.asks) and not inquiry.has_topic
    if asks <= _OF_SOME_PLACE and not inquiry.has_course:
        return False
    # What a lesson is about stands in its text.
    if asks == {"overview"} and inquiry.lesson is not None:
        return False
    return parsed.asked.is_pure


def asks_for_unknown(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes what asks of a course by a name that none has: "the outline of Basket Weaving"."""
    if inquiry.has_course:
        return None
    if (lesson := called_lesson(parsed)) is not None:
        return inquiry._replace(kind="find", topic=lesson, by_lesson=True, unknown=None)
    name = _unknown_name(inquiry, parsed)
    if name is None:
        return None
    titles = parsed.catalogue.titled(name)
    if len(titles) == 1 and inquiry.lesson in parsed.catalogue.numbers_of(titles[0]):
        # "Lesson 4 graph retrieval contents": words of a title, in no form of speech.
        named = inquiry._replace(course=titles[0], courses=titles, unknown=None)
        if inquiry.asks == {"contents"}:
            return _of_whole_lesson(named)
        return named._replace(kind="outline")
    return inquiry._replace(kind="outline", course=name, unknown=name)


def _unknown_name(inquiry: Inquiry, parsed: Parsed) -> str | None:
    """Returns what can be nothing but the name of a course; words of two sentences are none."""
    name: str | None = None
    if inquiry.unknown is not None and parsed.asked.is_pure:
        name = inquiry.unknown
    elif _could_name_a_course(parsed):
        name = topic_stretch(parsed)
    if name is None or _ENDS_SENTENCE.search(name):
        return None
    return name


def _could_name_a_course(parsed: Parsed) -> bool:
    """Returns True where what the question does not call a course can be nothing else."""
    asked = parsed.asked
    if not asked.asks or asked.counts or asked.asks - _OF_UNKNOWN:
        return False
    if len(asked.topic) > _MOST_UNKNOWN_WORDS or _SEVERAL.search(parsed.question):
        return False
    # "What did the instructor say about it?" asks for no name.
    if "teacher" in asked.asks and not _ASKS_WHO.search(parsed.question):
        return False
    return parsed.speaks_of_catalogue
