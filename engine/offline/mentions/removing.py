"""Takes the courses and lessons that a question names out of it, which leaves its topic."""

from __future__ import annotations

import re
from collections.abc import Sequence

from antiphon.engine.offline.mentions.values import Mention
from antiphon.language.lesson_places import without_lesson_places

_BEFORE_PLACE = re.compile(
    r"(?:\b(?:as )?(?:taught|described|explained|covered) )?(?:\b(?:in|of|from|to|by|for) )?(?:\b(?:the|your|our) )?"
    r"(?:\b(?:course|class|lesson|lecture) )?(?:\b(?:called|named|titled|on|about|that|which|by|with) )?(?:the )?"
    r"[\"\u201c\u2018']?$",
    re.IGNORECASE,
)
_AFTER_PLACE = re.compile(
    r"^(?:['\u2019]s\b)?[\"\u201d\u2019']?(?: (?:course|class|lesson|lecture|one|teach|teaches|taught)\b)?",
    re.IGNORECASE,
)
# The rest of "according to Course X" once the course is taken out.
_REFERENCES = re.compile(
    r"\b(?:according to|as taught in|as described in)\s*(?=[,.;:?]|$|\band\b)",
    re.IGNORECASE,
)
_LONELY_WORDS = re.compile(r"\b(?:of|in|from)\s*(?=[,.;:?]|$)", re.IGNORECASE)
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


def _closed_up(text: str) -> str:
    return _SPACE_BEFORE_STOP.sub(r"\1", " ".join(text.split()))
