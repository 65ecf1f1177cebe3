"""Layout: decides which files of a folder make up courses, before reading any of them."""

from antiphon.knowledge.layout.leaving_out import is_by_owner, is_by_table
from antiphon.knowledge.layout.listing import Listing, named_in
from antiphon.knowledge.layout.numbers import (
    LESSON_WORDS,
    number_of_name,
    number_of_title,
)
from antiphon.knowledge.layout.own import COURSE_FILE
from antiphon.knowledge.layout.planning import plan
from antiphon.knowledge.layout.values import Layout, PlannedCourse, PlannedLesson
from antiphon.knowledge.naming import plain_name

__all__ = [
    "COURSE_FILE",
    "LESSON_WORDS",
    "Layout",
    "Listing",
    "PlannedCourse",
    "PlannedLesson",
    "is_by_owner",
    "is_by_table",
    "name_of_lesson",
    "number_of_title",
    "plan",
]


def name_of_lesson(path: str) -> str:
    """Returns a title made of the name of a lesson's file, without its number; empty if it is only a number."""
    name = named_in(path)
    number = number_of_name(name)
    return plain_name(name) if number is None else number.name
