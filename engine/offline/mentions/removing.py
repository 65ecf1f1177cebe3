"""Takes the courses and lessons that a question names out of it, which leaves its topic."""

from __future__ import annotations

import re
from collections.abc import Sequence

from antiphon.engine.offline.mentions.values import Mention
from antiphon.language.lesson_places import (
    with_lesson_places_masked,
    without_lesson_places,
)

_BEFORE_PLACE = re.compile(
    r"(?:\b(?:as )?(?:taught|described|explained|covered) )?(?:\b(?:in|of|from|to|by|for) )?(?:\b(?:the|your|our) )?"
    r"(?:\b(?:course|class|lesson|lecture) )?(?:\b(?:called|named|titled|on|about|that|which|by|with) )?(?:the )?"
    r"[\"\u201c\u2018']?$",
    re.IGNORECASE,
)
_AFTER_PLACE = re.compile(
    r"^(?:['\u2019]s\b)?[\"\u201d\u2019']?"
    r"(?: (?:(?:course|class|lesson|lecture|one)\b(?!\s*#?\d)|(?:teach|teaches|taught)\b))?",
    re.IGNORECASE,
)
# The rest of "according to Course X" once the course is taken out.
_REFERENCES = re.compile(
    r"\b(?:according to|as taught in|as described in)\s*(?=[,.;:?]|$|\band\b)",
    re.IGNORECASE,
)
_LONELY_WORDS = re.compile(
    r"(?<![\w-])(?:of|in|from|during)(?:(?: (?:the|that|his|her|its|their))? (?:lesson|lecture|course)(?: that)?"
    r"|(?: the)?(?: very)?)\s*(?=[,.;:?]|$)",
    re.IGNORECASE,
)
_COURSE_OF_TEACHER = re.compile(
    r"\bthe teacher['\u2019]s (?:the )?(?P<noun>course|lesson)\b"
    r"|\bthe (?P<by>course|lesson) (?:of|by|from|with) the teacher\b",
    re.IGNORECASE,
)
_LESSON_OF_COURSE = re.compile(
    r"\bthe lesson (?:of|in|from|by) (?:the )?the course\b(?: (?:course|class)\b)?"
    r"|\bthe course(?:['\u2019]s)?(?: (?:course|class))? the lesson\b",
    re.IGNORECASE,
)
_CALLED_TWICE = re.compile(
    r"\b(?:(?:the|his|her|their|its|that|this) )?(?:(?:course|class|lesson|lecture|one)s? )?"
    r"(?:(?:on|about|of|by|called|named) )?(?=the (?:course|lesson)\b)"
    r"|(?<=the course)(?:['\u2019]s)? (?:course|class)\b|(?<=the lesson) (?:lesson|lecture|class)\b",
    re.IGNORECASE,
)
_SPACE_BEFORE_STOP = re.compile(r"\s+([,.;:?!])")


def without_places(question: str, mentions: Sequence[Mention]) -> str:
    """Returns the question without the lessons and courses that it names, which leaves its topic."""
    kept: list[str] = []
    rest = question
    # From the last to the first: what stands before them keeps its place.
    for mention in reversed(mentions):
        kept.append(_AFTER_PLACE.sub("", rest[mention.end :]))
        rest = _BEFORE_PLACE.sub("", rest[: mention.start])
    kept.append(rest)
    text = without_lesson_places(" ".join(reversed(kept)))
    text = _closed_up(_REFERENCES.sub(" ", text))
    return _closed_up(_LONELY_WORDS.sub("", text)).strip(" ,;:")


def with_places_masked(question: str, mentions: Sequence[Mention]) -> str:
    """Returns the question with "the course" and "the lesson" where it names one."""
    masked = question
    for mention in reversed(mentions):
        noun = "the course"
        if mention.lesson_number is not None:
            noun = "the lesson"
        elif mention.names_teacher:
            noun = "the teacher"
        masked = f"{masked[: mention.start]}{noun}{masked[mention.end :]}"
    masked = with_lesson_places_masked(masked)
    # "The lesson on the lesson", where its title stood, is the lesson; so is "the lesson of the course".
    masked = _COURSE_OF_TEACHER.sub(_as_course, _closed_up(masked))
    masked = _LESSON_OF_COURSE.sub("the lesson", masked)
    masked = _CALLED_TWICE.sub("", masked)
    return _LESSON_OF_COURSE.sub("the lesson", masked)


def _as_course(found: re.Match[str]) -> str:
    return f"the {found['noun'] or found['by']}"


def _closed_up(text: str) -> str:
    return _SPACE_BEFORE_STOP.sub(r"\1", " ".join(text.split()))
