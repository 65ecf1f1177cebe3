"""Recognises the questions that the catalogue answers: each rule returns the question with its kind, or None."""

from __future__ import annotations

import re
from collections.abc import Sequence

from antiphon.engine.offline.intents.inquiry import Inquiry
from antiphon.engine.offline.intents.parsing import Parsed
from antiphon.engine.offline.titles import tokens_of
from antiphon.language.asking import (
    TELLS,
    Ask,
    asked_of_catalogue,
    asks_what_is_not_held,
)
from antiphon.language.words import STOP_WORDS

_MOST_UNKNOWN_WORDS = 5
_STRETCH_CHARS = 200
_MOST_BESIDE_LESSON = 3
_ASKS_WHO = re.compile(
    r"\bwho|\b(?:name|instructor|teacher|lecturer) (?:of|for|in)\b", re.I
)
_TREATING = r"(?:that|which|where|in which|with|w/|covering|explaining|discussing|dealing with|treating)"
_SAID = r"\s+(?P<said>[^.;?!\n]+)"
_LESSON_THAT = re.compile(
    rf"\b(?:lesson|lecture|one) (?:{_TREATING}|about|on){_SAID}", re.I
)
_WHICH_LESSON = re.compile(
    r"\b(?:which|what) (?:lesson|lecture)\b"
    r"|\bwhere (?:is|are|do you|can i)\b.*\b(?:taught|teach|explained|explain|covered|cover|treated)\b",
    re.I,
)
_COURSE_THAT = re.compile(rf"\b(?:course|class) {_TREATING}{_SAID}", re.I)
_COURSE_ON = re.compile(r"\bcourses? (?:is |are )?(?:on|about|for)\b", re.I)
# "Which lessons mention caching" names no course.
_SEVERAL = re.compile(
    r"\b(?:which|what|any|some|all|every|each) (?:of the )?(?:courses?|lessons?)\b",
    re.I,
)
_SENTENCES = re.compile(r"[^.?!\n]+[.?!]*")
_POINTS_AT_SAID = re.compile(
    r"\b(?:in|of|by|for|to|does|teaches|gives|is)\s+(?:that|this)(?:\s+(?:one|course|class))?\s*[?.!]*\s*$"
    r"|\b(?:that|this)\s+(?:one|course|class)\b",
    re.I,
)
_ASKS_PLACE = re.compile(
    r"\b(?:lesson|lecture|course|class|taught|teach|where)\b", re.I
).search
_OF_SOME_PLACE: frozenset[Ask] = frozenset(("overview", "title", "duration"))
"""Asked of no course in particular, these ask for something else."""
_OF_FOUND: frozenset[Ask] = frozenset(
    ("teacher", "link", "lessons", "contents", "title")
)
_OF_SAID_COURSE: frozenset[Ask] = frozenset(("teacher", "lessons", "contents"))
_OF_FOUND_LESSON: frozenset[Ask] = frozenset(("title", "link"))
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
    if inquiry.has_topic or not parsed.is_bare:
        return None
    return inquiry._replace(kind="outline", asks=frozenset({"overview"}))


def _in_every_course(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    if inquiry.place is None or inquiry.has_course or not parsed.catalogue:
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


def asks_for_found(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes what asks of a course that has to be found first: "Who teaches the course that explains HNSW?"."""
    topic = sought(inquiry, parsed)
    if topic is None:
        return None
    by_lesson = _seeks_lesson(inquiry, parsed)
    return inquiry._replace(kind="find", topic=topic, by_lesson=by_lesson)


def sought(inquiry: Inquiry, parsed: Parsed) -> str | None:
    """Returns what a course or lesson says that is to be found first: "explains HNSW"."""
    if inquiry.lesson is not None:
        return None
    if _seeks_lesson(inquiry, parsed):
        return _described(_LESSON_THAT, parsed)
    if _seeks_course(inquiry, parsed):
        return _described(_COURSE_THAT, parsed)
    return _said_of_course(inquiry, parsed)


def _said_of_course(inquiry: Inquiry, parsed: Parsed) -> str | None:
    """Returns what is said in front of a question that asks of "that one" only what a catalogue holds.

    "One of the courses goes on about bikes. Who teaches that one?"
    """
    *before, last = _SENTENCES.findall(parsed.question) or [""]
    if inquiry.has_course or not before or not _POINTS_AT_SAID.search(last):
        return None
    asked = asked_of_catalogue(last, of_course=True)
    # "What is the name for that?" asks for the name of anything.
    if not asked.is_pure or not asked.asks <= _OF_SAID_COURSE:
        return None
    said = " ".join(before)
    return _stretch(said, asked_of_catalogue(said).topic)


def _described(pattern: re.Pattern[str], parsed: Parsed) -> str | None:
    """Returns what is said of the course or lesson that has to be found, without the word that it is said."""
    found = pattern.search(parsed.question)
    if parsed.topic != parsed.question:
        return topic_stretch(parsed)
    if found is None:
        return _said_beside(parsed.question) or topic_stretch(parsed)
    said = found["said"].strip()
    for word in tokens_of(said):
        if word.word not in TELLS | STOP_WORDS:
            return said[word.start :][:_STRETCH_CHARS]
    return topic_stretch(parsed)


def _said_beside(question: str) -> str:
    """Returns the sentences beside that which asks for the place: "I want to cut long texts. Where is that taught?"."""
    beside = [each for each in _SENTENCES.findall(question) if not _asks_place(each)]
    return " ".join(beside).strip()[:_STRETCH_CHARS]


def _asks_place(sentence: str) -> bool:
    """Returns True for a sentence that asks for the place; not for "I have long lecture texts."."""
    if sentence.rstrip().endswith((".", "!")) and not _WHICH_LESSON.search(sentence):
        return False
    return _ASKS_PLACE(sentence) is not None


def _seeks_lesson(inquiry: Inquiry, parsed: Parsed) -> bool:
    """Returns True for "Which lesson explains HNSW?", for its title, and for the one that comes after it."""
    if inquiry.step or _WHICH_LESSON.search(parsed.question):
        return True
    if not parsed.asked.asks & _OF_FOUND_LESSON:
        return False
    return _LESSON_THAT.search(parsed.question) is not None


def _seeks_course(inquiry: Inquiry, parsed: Parsed) -> bool:
    if inquiry.has_course or not (parsed.asked.asks & _OF_FOUND or parsed.places):
        return False
    return _COURSE_THAT.search(parsed.question) is not None


def asks_of_catalogue(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes what the catalogue holds: the link of a course, how many there are, which lesson comes next."""
    asks_neighbour = _asks_for_neighbour(inquiry, parsed)
    if not asks_neighbour and not _is_for_catalogue(inquiry, parsed):
        return None
    asks = inquiry.asks
    # "How long is each of the lessons" does not ask which they are.
    if "duration" in asks:
        asks = asks - {"contents"}
    return inquiry._replace(kind="outline", asks=asks)


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
    name: str | None = None
    if inquiry.unknown is not None and parsed.asked.is_pure:
        name = inquiry.unknown
    elif _could_name_a_course(parsed):
        name = topic_stretch(parsed)
    if name is None:
        return None
    return inquiry._replace(kind="outline", course=name, unknown=name)


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


def topic_stretch(parsed: Parsed) -> str | None:
    """Returns what the question says from the first to the last word of its topic."""
    return _stretch(parsed.question, parsed.asked.topic)


def _stretch(text: str, topic: Sequence[str]) -> str | None:
    if not topic:
        return None
    folded = text.lower()
    start = folded.find(topic[0])
    end = folded.rfind(topic[-1]) + len(topic[-1])
    if start < 0 or end <= start:
        return None
    return text[start:end][:_STRETCH_CHARS]
