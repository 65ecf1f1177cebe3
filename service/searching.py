"""The tools' search for people and programs: it returns passages, and answers no question."""

from __future__ import annotations

from antiphon.composition import CourseIndex
from antiphon.dispatcher import find_place
from antiphon.vocabulary.errors import BadInputError, KnowledgeError
from antiphon.vocabulary.values import Passage, Signals, Value

NOT_INDEXED = "Nothing is indexed yet: run `antiphon index PATH…`."
PASSAGES = 5
"""Default number of passages, the same as for the tools."""
MOST_PASSAGES = 50
MOST_QUERY_CHARS = 2_000
"""Most characters of a query, the same as for the tools; a name of a course or a lesson is far shorter."""
MOST_NAME_CHARS = 300


class FoundPassage(Value, frozen=True, kw_only=True):
    """A found passage, for display; `vocabulary.values.Passage` explains its fields.

    Attributes:
        start: Its offset in the lesson's text, in characters; None if unknown.
        signals: The reasons why it was found; None if the caller did not ask for them, or the search gives none.
    """

    id: str
    source: str
    course: str | None
    lesson: int | None
    title: str | None
    place: str | None
    link: str | None
    score: float
    start: int | None
    text: str
    signals: Signals | None

    @classmethod
    def of(cls, passage: Passage, *, why: bool) -> FoundPassage:
        signals = passage.signals if why else None
        return cls(
            id=passage.id,
            source=passage.source,
            course=passage.course,
            lesson=passage.lesson,
            title=passage.title,
            place=passage.place,
            link=passage.link,
            score=passage.score,
            start=passage.start,
            text=passage.text.text,
            signals=signals,
        )


class SearchResult(Value, frozen=True, kw_only=True):
    """The passages that a search found, best first.

    Attributes:
        course: The title of the searched course; None: all.
        lesson: The number of the lesson; None: all.
    """

    query: str
    course: str | None
    lesson: int | None
    passages: tuple[FoundPassage, ...]


def search(
    library: CourseIndex,
    query: str,
    course: str | None = None,
    lesson: str | None = None,
    limit: int = PASSAGES,
    *,
    why: bool = False,
) -> SearchResult:
    """Searches as the tools do; blocks.

    Args:
        course: A course's title, a part of it, or another way to put it.
        lesson: A lesson's number, "last", or its title.
        why: Whether to give the reasons why each passage was found.

    Raises:
        BadInputError: The query is empty or too long, or the limit out of its bounds.
        NotFoundError: There is no such course or lesson; the message names the existing ones.
        KnowledgeError: Nothing is indexed, or the index fails.
    """
    check_search(query, course, lesson, limit)
    # Checked before looking up any name: without an index every course is missing, which would be a misleading error.
    if not library.describe().chunks:
        raise KnowledgeError(NOT_INDEXED)
    place = find_place(library, course, lesson)
    found = library.search(query, place.course, place.lesson, limit)
    passages = [FoundPassage.of(passage, why=why) for passage in found]
    return SearchResult(
        query=query,
        course=place.course,
        lesson=place.lesson,
        passages=tuple(passages),
    )


def check_search(
    query: str, course: str | None, lesson: str | None, limit: int
) -> None:
    """Refuses a search that is invalid for every index.

    Raises:
        BadInputError: The query is empty or too long, or the limit out of its bounds.
    """
    if not query.strip():
        raise BadInputError("The query is empty: send some words to look for.")
    _check_length("query", query, MOST_QUERY_CHARS)
    _check_length("course", course or "", MOST_NAME_CHARS)
    _check_length("lesson", lesson or "", MOST_NAME_CHARS)
    if not 1 <= limit <= MOST_PASSAGES:
        raise BadInputError(
            f"The limit is {limit}: send a number from 1 to {MOST_PASSAGES}."
        )


def _check_length(name: str, text: str, most: int) -> None:
    if len(text) > most:
        raise BadInputError(
            f"The {name} has {len(text):,} characters: send at most {most:,}."
        )
