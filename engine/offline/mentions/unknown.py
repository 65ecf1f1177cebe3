"""Finds what a question calls a course beside the titles that it names: nicknames, and courses that there are not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from antiphon.engine.offline.catalogue import Catalogue
from antiphon.engine.offline.mentions.values import CourseMention, overlaps
from antiphon.engine.offline.mentions.word_places import (
    CALLING,
    COURSE_WORDS,
    INDEFINITE,
    LESSON_WORDS,
    NOT_NAMES,
    PLACING,
    WordPlaces,
)
from antiphon.engine.offline.titles import ends_between
from antiphon.language.asking import NOT_HELD

_NO_NAME_FOLLOWS = INDEFINITE | {"this", "that"}
_MOST_NAME_WORDS = 5
_OPENING_QUOTES = "\"\u201c\u2018'"
_ENDS_NO_NAME = frozenset(
    (
        "of",
        "say",
        "says",
        "warn",
        "warns",
        "recommend",
        "recommends",
        "advise",
        "advises",
        "suggest",
        "suggests",
    )
)
_NEAR_BEFORE = 12
_NEAR_AFTER = 3


def called_courses(
    words: WordPlaces, catalogue: Catalogue, known: Sequence[CourseMention]
) -> list[CourseMention]:
    """Returns what is called a course, or the place of a lesson, beside the titles that were found."""
    found: list[CourseMention] = []
    for mention in _called(words, catalogue, known):
        if not overlaps(mention, (*known, *found)):
            found.append(mention)
    for mention in _places_of_lessons(words):
        if not overlaps(mention, (*known, *found)):
            found.append(mention)
            break
    return [
        mention._replace(courses=catalogue.named(mention.name)) for mention in found
    ]


def _called(
    words: WordPlaces, catalogue: Catalogue, known: Sequence[CourseMention]
) -> Iterator[CourseMention]:
    teachers: list[CourseMention] = []
    titles: list[CourseMention] = []
    for mention in known:
        named = teachers if mention.names_teacher else titles
        named.append(mention)
    for at, token in enumerate(words.tokens):
        if token.word not in COURSE_WORDS or _is_beside(words, at, titles):
            continue
        called = _called_at(words, at, teachers, catalogue)
        if called is not None:
            yield called


def _called_at(
    words: WordPlaces,
    at: int,
    teachers: Sequence[CourseMention],
    catalogue: Catalogue,
) -> CourseMention | None:
    """Returns the name of what is called a course at this word; None where it has none of its own."""
    mention = _called_before(words, at) or _called_after(words, at)
    # "The new course by Kwame" is called by its teacher alone, "the MCP course by Kwame" by both.
    if mention is not None and _is_beside(words, at, teachers):
        mention = _of_one_teacher(mention, teachers, catalogue)
    return mention or _named_bare(words, at, catalogue)


def _of_one_teacher(
    mention: CourseMention, teachers: Sequence[CourseMention], catalogue: Catalogue
) -> CourseMention | None:
    """Returns a name beside that of a teacher; None where no course of that name is that teacher's."""
    called = catalogue.named(mention.name)
    for teacher in teachers:
        if not set(teacher.courses).isdisjoint(called):
            return mention
    return None


def _is_beside(words: WordPlaces, at: int, known: Sequence[CourseMention]) -> bool:
    """Returns True where the word "course" belongs to a title that was found."""
    token = words.token(at)
    return any(
        abs(mention.start - token.end) < _NEAR_BEFORE
        or abs(token.start - mention.end) < _NEAR_AFTER
        for mention in known
    )


def _called_before(words: WordPlaces, at: int) -> CourseMention | None:
    """Returns the name before "course": "the cooking course"."""
    first = _first_of_name(words, at)
    if first == at or words.word(first - 1) not in ("the", "your", "our"):
        return None
    return words.mention(first, at - 1)


def _named_bare(
    words: WordPlaces, at: int, catalogue: Catalogue
) -> CourseMention | None:
    """Returns the name that begins a fragment or is a place, where it is that of a course: "in db course"."""
    first = _first_of_name(words, at)
    begins = first == 0 or words.is_interrupted(first)
    begins = begins or words.word(first - 1) in PLACING
    if first == at or not begins or not catalogue:
        return None
    mention = words.mention(first, at - 1)
    if not catalogue.named(mention.name):
        return None
    return mention


def _first_of_name(words: WordPlaces, at: int) -> int:
    first = at
    while at - first < _MOST_NAME_WORDS and _could_begin_earlier(words, first):
        first -= 1
    return first


def _could_begin_earlier(words: WordPlaces, first: int) -> bool:
    """Returns True where the word before a name could be one more of it."""
    before = words.token(first - 1)
    if before.term is None or before.word in NOT_NAMES:
        return False
    return not ends_between(words.text, before.end, words.token(first).start)


def _called_after(words: WordPlaces, at: int) -> CourseMention | None:
    """Returns the name after "course": the course on cooking, the course "Cooking"."""
    if words.word(at - 1) in _NO_NAME_FOLLOWS:
        return None
    first = at + 1
    while words.word(first) in CALLING:
        first += 1
    if first == at + 1 and not _opens_quotation(words, first):
        return None
    return _name_from(words, first)


def _opens_quotation(words: WordPlaces, at: int) -> bool:
    start = words.token(at).start
    return words.text[:start].endswith(tuple(_OPENING_QUOTES))


def _places_of_lessons(words: WordPlaces) -> Iterator[CourseMention]:
    """Yields each name behind "lesson 3 of"."""
    for at in range(len(words.tokens)):
        # "The lesson of the circuit breakers" is one that is called so.
        if not words.leads_on_from(LESSON_WORDS, at) or words.word(at - 2) == "the":
            continue
        # So is that of "lesson number of circuit breakers".
        if words.word(at - 1) in ("number", "nr"):
            continue
        first = at + 1
        while words.word(first) in ("the", "course"):
            first += 1
        # "The second lesson from the end".
        if words.word(first) == "end":
            continue
        mention = _name_from(words, first)
        if mention is not None:
            yield mention


def _name_from(words: WordPlaces, first: int) -> CourseMention | None:
    end = first
    while end - first < _MOST_NAME_WORDS and _could_go_on(words, end):
        end += 1
    # "What does the course on bees recommend?" names no course "bees recommend".
    if end > first and words.word(end - 1) in _ENDS_NO_NAME:
        end -= 1
    if end == first:
        return None
    return words.mention(first, end - 1)


def _could_go_on(words: WordPlaces, at: int) -> bool:
    """Returns True for a word of a name, and for the "of" of "history of art"."""
    if words.word(at) == "of":
        return _is_name_word(words, at + 1)
    return _is_name_word(words, at)


def _is_name_word(words: WordPlaces, at: int) -> bool:
    # "How much does the course on Git cost?" asks about a course, and does not name one so.
    if words.word(at) in NOT_HELD:
        return False
    return words.token(at).term is not None and not words.is_interrupted(at)
