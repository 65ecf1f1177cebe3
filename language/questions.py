"""Analyses a question by rule: whether it refers back, and the parts that it asks for.

A part is a side of a comparison, a course or a lesson that the question names, or else the whole question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil
from typing import Literal

from antiphon.language.asking import asked_of_catalogue
from antiphon.language.lengths import shorten
from antiphon.language.tongues import tongue_of
from antiphon.language.words import label_terms, terms
from antiphon.vocabulary.values import Exchange, Value

READ_CHARS = 2_000
SHOWN_CHARS = 200
EARLIER_CHARS = 1_000
MOST_PARTS = 12
MOST_OWN_TERMS = 3
"""A question with more terms of its own makes sense alone, even if it also refers to something."""

MOST_CONTINUING_TERMS = 8
"""The same limit for a question that begins with "and" and mentions "it"."""

_GOES_ON = re.compile(
    r"\s*(?:(?:and|but|or|so|ok|then|also|what about|how about)\b|why[\s?!.]*$)",
    re.IGNORECASE,
)
"""The beginning of a question that continues the previous one."""
_POINTS_BACK = re.compile(
    r"\b(?:(?:it|its|they|them|their|he|she|his|her|these|those|one|ones)\b"
    r"|(?:that|this|the same|the other)(?=\s*(?:[?.!,;]|$)"
    r"|\s+(?:course|lesson|lecture|one|topic|thing|is|are|was|so|mean|means|work|works|do|does|help|happen)\b)"
    r"|(?<!is )(?<!are )there\b(?!\s+(?:is|are|any|a|an)\b)"
    r"|(?:the|its) (?:first|second|third|fourth|fifth|last|next|previous|other|former|latter)"
    r"(?: (?:one|side|lesson|course|part))?\s*(?:[?.!,;]|$))",
    re.IGNORECASE,
)
_ENDS_WITH_IT = re.compile(
    r"\b(?:before|after) (?:it|(?:that|this)(?: one)?)\W*$", re.IGNORECASE
)
_ONE_OF_THEM = re.compile(
    r"\bthe (?:very )?[\w-]+ (?:one )?of (?:them|these|those)\b", re.IGNORECASE
)
"""It refers back, no matter how long the rest of the question is."""
_CONTINUES = re.compile(r"\s*(?:and|but|so)\b", re.IGNORECASE)
_OF_WHAT_WAS_NAMED = re.compile(
    r"\b(?:it|its|they|them|their|these|those)\b"
    r"|\b(?:is|are|was|were|do|does|did|of|in|to|for|with|by|on|about|from|at|behind) (?:that|this) \w+",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"\b(?:when|if|because|while|that|so|before|after|once|until|and|or|who|which|as|than)\b",
    re.IGNORECASE,
)
_SIDE = r"([^?!:;\n]{1,200}?)"
_FIRST_SIDE = rf"(?<![^\s?!:;]){_SIDE}"
_LAST_SIDE = r"([^?!:;,.\n]{1,200})"
_COMPARISONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:compare|contrast) {_SIDE} (?:and|with|to|against|versus|vs\.?) {_LAST_SIDE}",
        rf"\bdifferences? between {_SIDE} and {_LAST_SIDE}",
        rf"\bhow (?:do|does|did|is|are) {_SIDE} (?:different from|differ from|compared? (?:to|with))"
        rf" {_LAST_SIDE}",
        rf"{_FIRST_SIDE} (?:versus|vs\.?) {_LAST_SIDE}",
        rf"\b(?:similarit\w+|comparison|contrast|distinction) (?:between|of) {_SIDE} and {_LAST_SIDE}",
        rf"\b(?:is|are) {_SIDE} the same(?: thing)? as {_LAST_SIDE}",
        rf"\bhow (?:do|does|did) {_SIDE} and {_SIDE} (?:differ|compare)\b",
        rf"\bthere (?:is|are) {_SIDE} and {_LAST_SIDE}[.,:;] (?:so )?what(?:'s|\u2019s| is| are)"
        r" the differences?\b",
        rf"\bwhat (?:do|does) {_SIDE} and {_SIDE} have in common\b",
    )
)
# "The package that is used to compare A with B" asks for the package; "I want to compare A with B" asks for both.
_FOR_COMPARING = re.compile(
    r"\b(?!(?:want|like|love|need|have|how|wish|try|trying|going|me|us|you)\b)\w+ to (?:compare|contrast)\s+$",
    re.IGNORECASE,
)
_TWO_QUESTIONS = re.compile(
    rf"{_FIRST_SIDE} and (?:when|how|why|what|where) {_LAST_SIDE}", re.IGNORECASE
)
_MAY_COMPARE = re.compile(
    r"compar|contrast|differ|\svs|versus|similarit|distinction|\ssame|common",
    re.IGNORECASE,
)
"""Every comparison holds one of these; most questions hold none, and this check is cheap."""
_COMPARES = re.compile(r"\b(?:differences?|differs?|compared?)\b", re.IGNORECASE)
"""Two questions in one are a comparison only with one of these words."""
_OPENINGS = re.compile(
    r"^(?:(?:what|which|how|when|where|why|is|are|do|does|did|i|want|use|using|the|a|an|need|should|shall|explain|tell"
    r"|me)\b ?)+",
    re.IGNORECASE,
)
"""Opening words of a question that say nothing about its subject."""
NUMBER_WORDS = {
    "zero": 0,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
}
_LESSON_NUMBER = rf"(?:\d{{1,4}}|{'|'.join(NUMBER_WORDS)})\b"
LESSONS = re.compile(
    r"\b(?:lesson|lecture)s?[\s-]*(?:number\s+|no\.?\s*|#\s*)?"
    rf"({_LESSON_NUMBER}(?:\s*(?:,|and|or|to|&)\s*(?:lesson\s+)?{_LESSON_NUMBER})*)",
    re.IGNORECASE,
)
_NUMBERS = re.compile(_LESSON_NUMBER, re.IGNORECASE)


class Part(Value, frozen=True, kw_only=True):
    """One thing that the question asks for.

    Attributes:
        text: The part in words.
        terms: Stems that evidence for it holds.
        needed: How many of them one fact must hold to serve the part.
        course: For a course named: its title.
        lesson: For a lesson named: its number.
    """

    kind: Literal["side", "course", "lesson", "question"]
    text: str
    terms: frozenset[str]
    needed: int
    course: str | None = None
    lesson: int | None = None


def understood(question: str, history: Sequence[Exchange]) -> str:
    """Returns the question, followed by the previous one if it refers back.

    The previous answer is left out, because nobody asked about its words.
    """
    if not history or not refers_back(question):
        return question
    before = history[-1].question[:EARLIER_CHARS].strip()
    if not before:
        return question
    return f"{question}\n{before}"


def refers_back(question: str) -> bool:
    """Returns True for a question that cannot be understood alone: it refers back, and says little else."""
    question = question[:READ_CHARS]
    own = frozenset(terms(question))
    if not own:
        return True
    if len(own) > MOST_OWN_TERMS:
        return len(own) <= MOST_CONTINUING_TERMS and _continues(question)
    return _GOES_ON.match(question) is not None or points_back(question)


def _continues(question: str) -> bool:
    """Returns True for "And whose idea was that picture?": it continues, and mentions something named before."""
    if _CONTINUES.match(question) is None:
        return False
    return _OF_WHAT_WAS_NAMED.search(question) is not None


def points_back(question: str) -> bool:
    """Returns True if a word such as "it" refers to something that the question itself does not name."""
    question = question[:READ_CHARS]
    if _ONE_OF_THEM.search(question):
        return True
    found = _POINTS_BACK.search(question)
    if found is None:
        return False
    before = question[: found.start()]
    named = len(frozenset(terms(before)))
    # "Why does a queue block when it is full?" names the thing itself. A "who" at the beginning of a question starts no
    # clause in it; nor does the "before" of "What comes before that?".
    begins_clause = _CLAUSE.search(before, 1) is not None and not _ENDS_WITH_IT.search(
        question
    )
    return named == 0 or (named == 1 and not begins_clause)


def compared_sides(question: str) -> tuple[str, str] | None:
    """Returns the two things that a question compares, in its own words; None if it compares none."""
    if not _MAY_COMPARE.search(question):
        return None
    for pattern in _COMPARISONS:
        found = pattern.search(question)
        if found and not _FOR_COMPARING.search(question[: found.start(1)]):
            return found[1].strip(), found[2].strip()
    if not _COMPARES.search(question):
        return None
    if found := _TWO_QUESTIONS.search(question):
        # Here each side is a question of its own: "When do I want queues and when logs?"
        return without_opening(found[1]), without_opening(found[2])
    return None


def without_opening(text: str) -> str:
    """Returns the text without opening words that say nothing about its subject."""
    return _OPENINGS.sub("", text.strip(" ,.")).strip(" ,.")


def lesson_numbers(question: str) -> list[int]:
    """Returns the numbers of the lessons that a question names, written in digits or as words."""
    numbers: dict[int, None] = {}
    for listed in LESSONS.findall(question):
        for written in _NUMBERS.findall(listed):
            numbers.setdefault(number_written(written))
    return list(numbers)


def number_written(written: str) -> int:
    """Returns the number written in digits or as one of `NUMBER_WORDS`."""
    number = NUMBER_WORDS.get(written.lower())
    if number is None:
        return int(written)
    return number


def parts_of(question: str, course_titles: Sequence[str]) -> tuple[Part, ...]:
    """Splits a question into its parts; reads only a bounded beginning of it."""
    text = " ".join(question[:READ_CHARS].split())
    courses = _courses(text, course_titles)
    # Named courses and lessons come last: if there are too many parts, the sides of a comparison matter most.
    parts = [*_sides(text, courses), *courses, *_lessons(text)] or _whole(text)
    return tuple(parts[:MOST_PARTS])


def _sides(text: str, courses: Sequence[Part]) -> list[Part]:
    compared = compared_sides(text)
    if compared is None:
        return []
    parts: list[Part] = []
    for side in compared:
        # A side that names a lesson is covered by that lesson's part.
        if lesson_numbers(side):
            continue
        part = _side(side, courses)
        if part.terms:
            parts.append(part)
    return parts


def _side(text: str, courses: Sequence[Part]) -> Part:
    """Makes the part of a side; a course named in it is a part of its own, so its title's words do not count here."""
    held = frozenset(terms(text))
    wanted = held
    for course in courses:
        if course.terms <= held:
            wanted -= course.terms
    # A fact must hold both of two words; of a longer side, two thirds are enough.
    needed = len(wanted) if len(wanted) <= 2 else ceil(len(wanted) * 2 / 3)
    return Part(kind="side", text=text, terms=wanted, needed=needed)


def _courses(text: str, titles: Sequence[str]) -> list[Part]:
    asked = frozenset(terms(text))
    named: list[Part] = []
    for title in titles:
        wanted = label_terms(title)
        if wanted and wanted <= asked:
            shown = shorten(title, SHOWN_CHARS)
            named.append(
                Part(
                    kind="course",
                    text=shown,
                    terms=wanted,
                    needed=len(wanted),
                    course=title,
                )
            )
    return named


def _lessons(text: str) -> list[Part]:
    parts: list[Part] = []
    for number in lesson_numbers(text):
        wanted = frozenset({str(number)})
        parts.append(
            Part(
                kind="lesson",
                text=f"Lesson {number}",
                terms=wanted,
                needed=1,
                lesson=number,
            )
        )
    return parts


def _whole(text: str) -> list[Part]:
    english = tongue_of(text).in_english(text)
    wanted = frozenset(terms(english))
    # No lesson contains the words in which people ask a catalogue: an outline answers without them.
    if not wanted or asked_of_catalogue(english).is_pure:
        return []
    # No fact holds all words of a question: a third of them is evidence enough.
    return [
        Part(
            kind="question",
            text=shorten(text, SHOWN_CHARS),
            terms=wanted,
            needed=ceil(len(wanted) / 3),
        )
    ]
