"""Finds the courses and lessons that a question names, among those that there are.

A name is matched against known titles only: any other name, however it is written, is part of what is asked. What is
called a course and is none that is known is noted as such.
"""

from antiphon.engine.offline.mentions.finding import mentions_in
from antiphon.engine.offline.mentions.removing import without_places
from antiphon.engine.offline.mentions.values import (
    CourseMention,
    LessonMention,
    Mention,
    Mentions,
)

__all__ = [
    "CourseMention",
    "LessonMention",
    "Mention",
    "Mentions",
    "mentions_in",
    "without_places",
]
