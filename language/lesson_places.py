"""Reads which lesson a question means: its number, its place in the course, or the one beside another; pure.

The patterns have no unbounded repetition of one, and a question is read up to a bound: it is hostile text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from antiphon.language.lesson_position import LessonPlace
from antiphon.language.questions import (
    LESSONS,
    NUMBER_WORDS,
    lesson_numbers,
    number_written,
)

READ_CHARS = 2_000
MOST_LESSONS = 10
"""As many lessons of "lessons 1 to 400" are meant."""

_ORDINALS = {
    "first": 1,
    "opening": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
    "last": -1,
    "final": -1,
    "closing": -1,
    "penultimate": -2,
    "middle": 0,
}
_FORWARD = rf"(?:{'|'.join(_ORDINALS)}|[1-9]\d?(?:st|nd|rd|th))"
_COUNTED_ORDINALS = [ordinal for ordinal, place in _ORDINALS.items() if place > 0]
_FROM_START = rf"(?:{'|'.join(_COUNTED_ORDINALS)}|[1-9]\d?(?:st|nd|rd|th))"
# "The second to last" counts from the end.
_ORDINAL = (
    rf"(?:{_FORWARD}[ -](?:to|from)[ -](?:the[ -])?last|next[ -]to[ -]last|{_FORWARD})"
)
_AND = r"(?:\s*[,&]\s*|\s+(?:and|or)\s+)(?:the\s+)?"
_POSITIONS = re.compile(
    rf"\b(?:very\s+)?(?P<ordinals>(?:{_ORDINAL}{_AND}){{0,3}}{_ORDINAL})\s+(?:lesson|lecture|one)s?\b"
    rf"|\b(?:lesson|one)\b.{{0,30}}\b(?:is|comes|be)\s+(?:the\s+)?(?:very\s+)?(?P<alone>{_ORDINAL})\b",
    re.IGNORECASE | re.DOTALL,
)
_FROM_END = re.compile(
    rf"\b(?P<ordinal>{_FORWARD})\s+(?:(?:lesson|lecture|one)\s+)?(?:counting\s+)?from\s+the\s+(?:end|back|bottom)\b",
    re.IGNORECASE,
)
_COUNTED_FROM_END = re.compile(
    r"\b(?:(?:counting|counted|counts?|starting|going|if (?:i|you|we|one) counts?)\s+)?(?:backwards?\s+)?"
    r"(?:from|at)\s+the\s+(?:end|back|bottom)\b",
    re.IGNORECASE,
)
_OF_THEM = re.compile(
    rf"\bthe\s+(?:very\s+)?(?P<ordinal>{_ORDINAL})\s+(?:one\s+)?of\s+(?:them|these|those)\b",
    re.IGNORECASE,
)
_ENDS_WITH_ORDINAL = re.compile(
    rf"\bthe\s+(?:very\s+)?(?P<ordinal>{_ORDINAL})\s*[?.!]*\s*$", re.IGNORECASE
)
_EACH_ORDINAL = re.compile(_ORDINAL, re.IGNORECASE)
_SEVERAL = re.compile(
    rf"\b(?P<end>first|last|final)\s+(?P<count>\d{{1,2}}|{'|'.join(NUMBER_WORDS)})\s+(?:lessons|lectures|ones)\b",
    re.IGNORECASE,
)
_WRITTEN = rf"(?:\d{{1,4}}|{'|'.join(NUMBER_WORDS)})"
_RANGE = re.compile(
    rf"\b(?:(?:lessons|lectures)|from\s+(?:lesson|lecture))\s+(?P<first>{_WRITTEN})\s*(?:to|through|until|-|\u2013)\s*"
    rf"(?:lesson\s+)?(?P<last>{_WRITTEN})\b",
    re.IGNORECASE,
)
_SHORT = re.compile(r"\bL(?P<number>\d{1,2})\b(?=\s+(?:of|in|from)\b|\s*[?.!,]|\s*$)")
_PART = r"(?:session|chapter|module|unit|part|bit|video)"
_PART_BY_NUMBER = re.compile(
    rf"\b(?:{_PART}\s+(?:number\s+|no\.?\s*)?|number\s+|no\.?\s*)(?P<number>\d{{1,2}})\b",
    re.IGNORECASE,
)
_PART_BY_PLACE = re.compile(
    rf"(?P<place>\b{_ORDINAL})\s+{_PART}\b|\b(?P<one>the|a|which)\s+{_PART}\b(?=\s+(?:that|which|in which|where)\b)",
    re.IGNORECASE,
)
_ONE_BY_PLACE = re.compile(
    rf"\b(?P<place>{_ORDINAL})\s+one\b(?=\s+(?:of|in|from)\b)", re.IGNORECASE
)
_BEFORE_LAST = re.compile(
    r"\b(?:lesson|lecture|one)\s+before\s+(?:the\s+)?last\b(?:\s+(?:lesson|lecture|one)\b)?"
    r"|\blast\s+(?:lesson\s+|lecture\s+)?but\s+one\b",
    re.IGNORECASE,
)
_CLOSE = r"(?:(?:right|directly|just|next|straight|immediately)\s+)?"
_THE_ONE = r"(?:\s+of)?\s+(?:the|that)\s+(?:one|lesson|lecture)"
_COMES = rf"(?:lesson|lecture|comes?|stands?|sits|goes|one|what(?:'s| is)|taught|covered|treated)\s+{_CLOSE}"
_WHAT_IS_BESIDE = r"\s+(?:the|that|his|her|its|their)\s+(?:one|introduction|intro)\b"
_BESIDE = re.compile(
    rf"\b(?P<next>next\s+(?:lesson|one)|following\s+lesson|{_CLOSE}after(?={_WHAT_IS_BESIDE})"
    rf"|{_COMES}(?:after|behind)|follows|lesson\s+following|(?:after|following)(?={_THE_ONE}\b)|subsequent\s+lesson)\b"
    rf"|\b(?P<previous>(?:previous|prior)\s+to|previous\s+(?:lesson|one)|preceding\s+lesson|{_CLOSE}before(?={_WHAT_IS_BESIDE})"
    rf"|{_COMES}before|precedes|lesson\s+preceding|(?:before|preceding)(?={_THE_ONE}\b)"
    r"|prior\s+lesson)\b",
    re.IGNORECASE,
)
# "Two lessons before the last", "the second lesson after X": further than beside.
_COUNTED_STEPS = re.compile(
    rf"\b(?:the\s+)?(?:(?P<count>\d{{1,2}}|{'|'.join(NUMBER_WORDS)})\s+(?:lessons|lectures)"
    rf"|(?P<ordinal>{_FROM_START})\s+(?:lesson|lecture|one))\s+(?={_CLOSE}(?:after|behind|before)\b)",
    re.IGNORECASE,
)
# "After lesson 3, which lesson comes?"
_BESIDE_IN_FRONT = re.compile(
    r"^\W*(?:(?P<next>after)|(?P<previous>before))\s+(?:the\s+)?(?:lesson|lecture)\b.{1,100}\b(?:what|which)\s+"
    r"(?:(?:lesson|lecture|one)\s+)?(?:is|are|comes?|follows?|do|does)\b",
    re.IGNORECASE | re.DOTALL,
)
_COURSE = r"(?:\s+(?:his|her|the|their|its|this|that|your)(?:\s+\w+){0,2}?\s+(?:course|class))?"
_END_OF_COURSE = re.compile(
    r"\b(?:which|what)\s+(?:lesson|lecture)\b(?!\s+(?:do|should|can|must|shall|could)\s+(?:i|we)\b).{0,60}?\b"
    rf"(?:(?P<first>start|begin|open)|end|close|finish|conclude)s?{_COURSE}(?:\s+(?:with|on))?"
    r"(?:\s+(?:of|by|from|about)(?:\s+[\w-]+){1,6})?\s*[?.!]*$",
    re.IGNORECASE | re.DOTALL,
)
_BY_NUMBER = (_BEFORE_LAST, _FROM_END, _COUNTED_FROM_END, _RANGE, LESSONS)
_BY_POSITION = (_SEVERAL, _POSITIONS)
_INTRODUCTION = re.compile(r"\b(?:introduction|intro)\b", re.IGNORECASE)
THE_INTRODUCTION = re.compile(r"\bthe (?:introduction|intro)\b", re.IGNORECASE)
_SPEAKS_OF_LESSONS = re.compile(r"\b(?:lesson|lecture)s?\b", re.IGNORECASE)


def lesson_place(question: str, *, after_lessons: bool = False) -> LessonPlace | None:
    """Returns the first lesson that a question names; None where it names none."""
    places = lesson_places(question, after_lessons=after_lessons)
    return next(iter(places), None)


def lesson_places(
    question: str, *, after_lessons: bool = False
) -> tuple[LessonPlace, ...]:
    """Returns the lessons that a question names: "lessons 2 to 4", "the first and the last lesson".

    Args:
        after_lessons: What was said before was about lessons, so that "the second one" is one.
    """
    text = question[:READ_CHARS]
    if not after_lessons and not speaks_of_lessons(text):
        return ()
    counted = _stepsnumber_written(text)
    step = _step(text) * counted
    text = _beside_fornumber_written(text)
    numbered = [LessonPlace(number=each, step=step) for each in _numbers(text)]
    if numbered:
        return tuple(numbered)
    positions = _positions(text, counted)
    if after_lessons and not positions:
        positions = _last_ordinal(text)
    if positions:
        return tuple([LessonPlace(position=each, step=step) for each in positions])
    return _beside_another(text, step)


def _beside_another(text: str, step: int) -> tuple[LessonPlace, ...]:
    """Returns the lesson that is beside the introduction, or beside one that was spoken of before."""
    if not step:
        return ()
    if _INTRODUCTION.search(text):
        return (LessonPlace(position=1, step=step),)
    return (LessonPlace(step=step),)


def speaks_of_lessons(question: str) -> bool:
    """Returns True where the question has the word lesson in it."""
    return _SPEAKS_OF_LESSONS.search(question[:READ_CHARS]) is not None


def asks_for_neighbour(question: str) -> bool:
    """Returns True for "What comes after it?"."""
    return _step(question[:READ_CHARS]) != 0


def spelled_out(question: str) -> str:
    """Returns the question with "L3", "chapter 3" and "the first one of" as lessons; only of a course they are."""
    for pattern in (_SHORT, _PART_BY_NUMBER):
        question = pattern.sub(r"lesson \g<number>", question)
    question = _ONE_BY_PLACE.sub(r"\g<place> lesson", question)
    return _PART_BY_PLACE.sub(r"\g<place>\g<one> lesson", question)


def without_lesson_places(text: str) -> str:
    """Returns the text without the words that name a lesson."""
    text = _beside_fornumber_written(text)
    for pattern in (*_BY_NUMBER, _BESIDE, *_BY_POSITION):
        text = pattern.sub(" ", text)
    return text


def with_lesson_places_masked(text: str) -> str:
    """Returns the text with "the lesson" for each lesson that it names by number or place."""
    text = _beside_fornumber_written(text)
    for pattern in (*_BY_NUMBER, *_BY_POSITION):
        text = pattern.sub(" the lesson", text)
    return re.sub(r"\bthe (?=\s*the lesson)", "", text)


def _stepsnumber_written(text: str) -> int:
    """Returns 2 for "two lessons before X" and "the second lesson before X"; 1 where none are counted."""
    found = _COUNTED_STEPS.search(text)
    if found is None:
        return 1
    if found["ordinal"]:
        return _position(found["ordinal"])
    return max(number_written(found["count"]), 1)


def _beside_fornumber_written(text: str) -> str:
    """Returns the text with "the lesson before X" for "two lessons before X", whose number is none of a lesson."""
    return _COUNTED_STEPS.sub("the lesson ", text)


def _step(text: str) -> int:
    text = _BEFORE_LAST.sub(" ", _beside_fornumber_written(text))
    beside = _BESIDE.search(text) or _BESIDE_IN_FRONT.search(text)
    if beside is None:
        return 0
    if beside["next"]:
        return 1
    return -1


def _numbers(text: str) -> Sequence[int]:
    listed = _RANGE.search(text)
    if listed is None:
        return lesson_numbers(text)
    first, last = number_written(listed["first"]), number_written(listed["last"])
    return range(first, min(last, first + MOST_LESSONS - 1) + 1)


def _positions(text: str, steps: int) -> Sequence[int]:
    """Returns the places that are named; the steps are those before the last, where that is one."""
    several = _SEVERAL.search(text)
    if several is not None:
        return _from_an_end(several["end"], several["count"])
    if _BEFORE_LAST.search(text):
        return (-1 - steps,)
    from_end = _FROM_END.search(text)
    if from_end is not None:
        return (-abs(_position(from_end["ordinal"])),)
    found = _POSITIONS.search(text)
    if found is None:
        return _at_end_of_course(text)
    written = found["ordinals"] or found["alone"]
    positions = [_position(each) for each in _EACH_ORDINAL.findall(written)]
    if _COUNTED_FROM_END.search(text):
        return [-abs(position) for position in positions]
    return positions


def _at_end_of_course(text: str) -> Sequence[int]:
    """Returns the position in "With which lesson does the course close?"."""
    found = _END_OF_COURSE.search(text)
    if found is None:
        return ()
    if found["first"]:
        return (1,)
    return (-1,)


def _last_ordinal(text: str) -> Sequence[int]:
    """Returns the position in "And the last?", and in "the link to the last of them"."""
    found = _OF_THEM.search(text) or _ENDS_WITH_ORDINAL.search(text)
    if found is None:
        return ()
    return [_position(found["ordinal"])]


def _from_an_end(end: str, count: str) -> Sequence[int]:
    """Returns the positions of "the last three lessons"."""
    number = min(number_written(count), MOST_LESSONS)
    if end.lower() == "first":
        return range(1, number + 1)
    return range(-number, 0)


def _position(ordinal: str) -> int:
    written = ordinal.lower()
    if written in _ORDINALS:
        return _ORDINALS[written]
    if written.endswith("last"):
        return _from_last(written)
    return int(written[:-2])


def _from_last(ordinal: str) -> int:
    """Returns the position of "third to last"; of "next to last" it is that of the second."""
    counted = re.split(r"[ -]", ordinal)[0]
    if counted == "next":
        return -2
    return -abs(_position(counted))
