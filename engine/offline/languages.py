"""Explains an empty result to a user who asks in another language than that of the courses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from antiphon.engine.offline.known import Course
from antiphon.language.detection import language_name
from antiphon.language.tongues import tongue_of

MOST_NAMED = 3


def languages_unlike(question: str, courses: Sequence[Course]) -> str:
    """Returns a sentence on the courses' languages; empty if one is the question's, or if they are not known."""
    counts = Counter(course.language for course in courses if course.language)
    if not counts or tongue_of(question).code in counts:
        return ""
    named = [language_name(code) for code, _ in counts.most_common(MOST_NAMED)]
    if len(counts) > MOST_NAMED:
        named.append("other languages")
    last = named.pop()
    listed = f"{', '.join(named)} and {last}" if named else last
    return (
        f"The courses are in {listed}."
        if len(courses) > 1
        else f"The course is in {listed}."
    )
