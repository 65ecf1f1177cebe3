"""Recognises what a question asks of the catalogue: teachers, links, counts, titles, contents; pure.

Mostly by single words instead of phrases: each word of a question names something that a catalogue knows, belongs to
the wording of questions, or names a topic; a question without a topic is for the catalogue.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from antiphon.language.evidence import is_light
from antiphon.language.spoken_of import (
    asks_name_of_thing,
    has_teacher_act,
    speaks_of_some_title,
)
from antiphon.language.words import terms, words

Ask = Literal[
    "teacher",
    "link",
    "links",
    "lessons",
    "courses",
    "contents",
    "title",
    "duration",
    "overview",
]

READ_CHARS = 2_000

_SUMMARIES = "tldr synopsis rundown digest summary summarize summarise summarized overview recap gist"
_WORDS_FOR: dict[Ask, str] = {
    "teacher": "teacher teachers instructor instructors lecturer lecturers professor prof tutor educator author",
    "link": "link links hyperlink url urls website webpage homepage address",
    "contents": "outline outlines syllabus curriculum contents content toc structure agenda topics themes subjects",
    "title": "title titles titled name named names called",
    "duration": "duration hours minutes",
    "overview": f"about {_SUMMARIES} resume learn learned covered cover "
    "covers discussed discuss discusses treated summing sum happens happen contain contains deal deals dealt mention "
    "mentions mentioned introduces introduced talk talks speak speaks explains explained shown presented",
}
_TEACHES = ("teaches", "teach", "taught", "teaching", "instructs")
_MAKES = (
    "gives",
    "doing",
    "giving",
    "gave",
    "holds",
    "leads",
    "runs",
    "presents",
    "presenting",
    "speaking",
    "made",
    "created",
    "wrote",
)
_IN_CHARGE = re.compile(r"\b(?:in charge(?: of)?|responsible for)\b", re.I)
_NAMES_BEHIND = re.compile(
    r"\bnames? of (?:the |all )?(?:people|persons?|man|woman|guys?|lady|folks|team) (?:who (?:is|are) )?behind\b",
    re.I,
)
_ASKS_WHO = frozenset(("who", "whom", "whose", "whos"))


def _meanings() -> dict[str, Ask]:
    """Returns the thing that each word asks for."""
    meanings: dict[str, Ask] = dict.fromkeys(_TEACHES, "overview")
    for ask, listed in _WORDS_FOR.items():
        meanings.update(dict.fromkeys(listed.split(), ask))
    return meanings


_WORDS_FOR_ASKS = _meanings()
# With "who", these words ask for the teacher of a course; without, for its subject.
_AFTER_WHO = _WORDS_FOR_ASKS | dict.fromkeys(_TEACHES, "teacher")
_AFTER_WHO_OF_COURSE = _AFTER_WHO | dict.fromkeys(_MAKES, "teacher")
_PUT_IN_WORDS = (
    "please kindly enumerate require indicate confirm provide "
    "send list lists available currently offer offers offered total overall exact exactly full complete "
    "whole entire first last next previous second third final following follows preceding precedes comes come order "
    "right table number numbers nr count watch open visit page web online directly lesson lessons course courses "
    "lecture long lectures class one ones curious interested hey there sequence kinds quick short brief briefly "
    "main high level word words sentence sentences collection library database catalog catalogue material materials "
    "system exist exists across else somewhere anywhere every whos whats longest shortest everyone teach teaches "
    "taught thanks help everything anything something detail details besides "
    "apart except another everybody consist consists lines possible biggest largest smallest fewest click"
)
_PUT_IN = frozenset(_PUT_IN_WORDS.split())
"""Words of questions about courses that name no topic."""
_A_COURSE = re.compile(r"\b(?:course|class|training)s?\b", re.I)
_COUNTING = r"(?:how many|number of|count of|count the|n(?:r|o)\.? of|amount of|more|fewer|less)"
_HOW_MANY_LESSONS = re.compile(
    rf"\b{_COUNTING}(?: \w+)? (?:lessons|lectures)\b|\b(?:lesson|lecture)s? count\b",
    re.I,
)
_HOW_MANY_COURSES = re.compile(
    rf"\b{_COUNTING}(?: \w+)? (?:courses|classes)\b|\bcourses? count\b", re.I
)
_LIST_OF_COURSES = re.compile(
    r"\bcourses\b|\b(?:every|all|each)(?: the| of the| your)? (?:teacher|instructor|lecturer)s?\b"
    r"|\b(?:list|name|show)(?: me)? (?:every|each) course\b|\b(?:every|each) course (?:with|and)\b"
    r"|\b(?:links?|urls?|addresse?s?)"
    r" (?:to|of|for) (?:every|each) course\b"
    r"|\bcourse (?:is )?(?:the )?(?:longest|shortest)\b|\bcourse list\b",
    re.I,
)
_EXTREME_COURSE = re.compile(
    r"\b(?:longest|shortest|biggest|largest|smallest) (?:\w+ )?course\b"
    r"|\bcourses?\b.{0,40}\b(?:most|fewest|(?:smallest|lowest|largest|highest) number of) lessons\b",
    re.I,
)
_LINKS_OF_LESSONS = re.compile(
    r"\blinks (?:of|to|for) (?:all |each of )?(?:the |its )?lessons\b|\blesson links\b"
    r"|\blinks? (?:of|to|for) (?:each|every) lesson\b",
    re.I,
)
_LIST_OF_LESSONS = re.compile(
    r"\b(?:lessons|lectures|table of contents|(?:lesson|lecture) (?:list|names|titles))\b",
    re.I,
)
_PARTS_OF_COURSE = re.compile(r"\b(?:chapters|modules|units|sessions)\b", re.I)
_WHO_ALONE = re.compile(r"\bwho\s*(?:[,;?!.]|$|and\b)", re.I)
_WHO_DOES = re.compile(
    r"\bwho (?:does|did|has|had|gives|made|makes) (?:the|that|this|your|a) (?:\w+ )?(?:course|class)\b",
    re.I,
)
_WHO_IS_BEHIND = re.compile(
    r"\bwho(?:['\u2019]s| is| are) behind (?:it|this|that|the|your)\b", re.I
)
_WHOSE = re.compile(r"\bwhose (?:course|class|lesson|lecture)\b", re.I)
_HOW_LONG = re.compile(
    r"\bhow (?:long|many hours|many minutes|much time)\b(?P<subject>(?:\W+\w+){0,5})",
    re.I,
)
_TIMED_WORDS = "course courses class lesson lessons lecture lectures session sessions training it they this that each"
_TAKES_TIME = frozenset(_TIMED_WORDS.split())
_TIMED_NOUNS = _TAKES_TIME - {"it", "they", "this", "that", "each"}
_LASTING_WORDS = "take takes taking last lasts run runs go goes need needs total"
_LASTS = frozenset(_LASTING_WORDS.split())
_WHERE_TO_FIND = re.compile(
    r"\b(?:web|internet|home) ?(?:page|site)s?\b"
    r"|\b(?:where|how) (?:can|could|do|may) (?:i|we|you|one) (?:find(?! out| \w+ (?:about|on))|watch|open|access)\b"
    r"|\bwhere(?:['\u2019]s| is) (?:the|its|their) (?:\w+ )?(?:page|site|video|recording)\b"
    r"|\bhow (?:can|could|do|may) (?:i|we|you|one) get (?:to|there)\b"
    r"|\b(?:open|watch|visit)\b[^\n]{1,100}\bwhere(?:['\u2019]s| is) (?:it|that|this)\W*$"
    r"|\bwhere (?:can|could|do|may) (?:i|we|you|one) (?:see|get|click)\b|\bwhere on the (?:web|internet|net)\b",
    re.I,
)
_PATTERNS: dict[Ask, re.Pattern[str]] = {
    "teacher": _WHOSE,
    "link": _WHERE_TO_FIND,
    "links": _LINKS_OF_LESSONS,
}

_NAMES_CATALOGUE = re.compile(
    r"\b(?:outline|syllabus|curriculum|lessons?|table of contents|teach(?:es|ing)?|taught|instructor|teacher"
    r"|lecturers?|lectures?|courses?|class)\b",
    re.I,
)


class Asked(NamedTuple):
    """The things that a question asks of the catalogue.

    Attributes:
        asks: The things to name.
        counts: True if it asks how many there are.
        topic: The words for things outside the catalogue: with any, the courses' texts must be searched too.
    """

    asks: frozenset[Ask] = frozenset()
    counts: bool = False
    topic: tuple[str, ...] = ()

    @property
    def is_pure(self) -> bool:
        """True if the catalogue alone can answer."""
        return bool(self.asks) and not self.topic


def names_catalogue(text: str) -> bool:
    """Returns True if a word of a text is one for a course or its parts."""
    return _NAMES_CATALOGUE.search(text[:READ_CHARS]) is not None


def asked_of_catalogue(text: str, *, of_course: bool = False) -> Asked:
    """Reads a question without its names of courses and lessons.

    Args:
        of_course: True if a course was among them, so that "who made it" asks for its teacher.
    """
    text = text[:READ_CHARS]
    text = _IN_CHARGE.sub("teaches", text)
    text = _NAMES_BEHIND.sub("teachers of", text)
    if of_course:
        text = _PARTS_OF_COURSE.sub("lessons", text)
    # "That course with the bikes. Who gives it?"
    of_course = of_course or _A_COURSE.search(text) is not None
    found = words(text)
    meanings = _meanings_among(found, of_course=of_course)
    asks = {meanings[word] for word in found if word in meanings}
    unknown = [word for word in found if word not in meanings]
    topic = tuple([word for word in unknown if _says_something(word)])
    counts = _read_patterns(text, asks, of_course=of_course)
    return Asked(_sharpened(asks), counts, topic)


def _meanings_among(found: Sequence[str], *, of_course: bool) -> Mapping[str, Ask]:
    """Returns the thing that each word asks for in a question with these words."""
    if _ASKS_WHO.isdisjoint(found):
        return _WORDS_FOR_ASKS
    if of_course:
        return _AFTER_WHO_OF_COURSE
    return _AFTER_WHO


def _says_something(word: str) -> bool:
    stems = terms(word)
    return bool(stems) and not is_light(stems[0]) and word not in _PUT_IN


def _read_patterns(text: str, asks: set[Ask], *, of_course: bool) -> bool:
    """Adds the things that only several words together ask for; returns True if the question asks how many."""
    counts = False
    _read_single_patterns(text, asks, of_course=of_course)
    if _HOW_MANY_COURSES.search(text):
        asks.add("courses")
        counts = True
    elif _HOW_MANY_LESSONS.search(text):
        asks.add("lessons")
        counts = True
    elif _EXTREME_COURSE.search(text):
        asks.add("courses")
    elif _LIST_OF_LESSONS.search(text):
        asks.add("contents")
    elif _LIST_OF_COURSES.search(text):
        asks.add("courses")
    return counts


def _read_single_patterns(text: str, asks: set[Ask], *, of_course: bool) -> None:
    for ask, pattern in _PATTERNS.items():
        if pattern.search(text):
            asks.add(ask)
    if _asks_duration(text):
        asks.add("duration")
    if asks_name_of_thing(text) or speaks_of_some_title(text):
        asks.discard("title")
    if has_teacher_act(text):
        asks.discard("teacher")
    if _WHO_DOES.search(text) or (of_course and _asks_who(text)):
        asks.add("teacher")


def _asks_who(text: str) -> bool:
    """Returns True for "git course - who?", and for "who's behind it?"; for questions about a course."""
    found = _WHO_ALONE.search(text) or _WHO_IS_BEHIND.search(text)
    return found is not None


def _asks_duration(text: str) -> bool:
    """Returns True for "How long does it take?", but not for "how long is the time to live of a fact"."""
    found = _HOW_LONG.search(text)
    if found is None:
        return False
    subject = words(found["subject"])
    telling = [word for word in subject if _says_something(word)]
    if not telling:
        return True
    # "How long do they wait?" asks about an action, not a course's duration.
    if not _TIMED_NOUNS.isdisjoint(subject):
        return True
    return not _TAKES_TIME.isdisjoint(subject) and _LASTS.issuperset(telling)


def _sharpened(asks: set[Ask]) -> frozenset[Ask]:
    """Drops the general things if the question asks for particular ones."""
    particular = asks - {"overview"}
    if particular:
        asks = particular
    # "What are the lessons called": their titles are the contents.
    if "contents" in asks or "courses" in asks:
        asks = asks - {"title"}
    if "links" in asks:
        asks = asks - {"link", "contents"}
    return frozenset(asks)
