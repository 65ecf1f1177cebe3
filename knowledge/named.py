"""Finds the course whose title a person gives."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from antiphon.knowledge.catalogue_file import overview
from antiphon.knowledge.values import Course
from antiphon.language.words import fold
from antiphon.vocabulary.errors import NotFoundError


def title_meant(named: str, titles: Iterable[str]) -> str:
    """Returns the title that a person means, in any case.

    Raises:
        NotFoundError: There is none; the message names a similar one, if any.
    """
    known = {fold(title): title for title in titles}
    if fold(named) in known:
        return known[fold(named)]
    near = get_close_matches(named, known.values(), n=1)
    listed = "`antiphon courses` lists all courses"
    hint = f"did you mean {near[0]!r}?" if near else listed
    raise NotFoundError(f"There is no course {named!r}: {hint}")


def course_called(title: str, data_dir: Path) -> Course:
    """Returns an indexed course. Raises as `overview` and `title_meant` do."""
    indexed = overview(data_dir)
    courses = {course.title: course for course in indexed.courses} if indexed else {}
    return courses[title_meant(title, courses)]
