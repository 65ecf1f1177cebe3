"""Reads questions from a file: JSON lines such as samples/questions.jsonl, or plain text with one question a line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import msgspec
from msgspec.structs import replace

from antiphon.cli.phrases import words
from antiphon.cli.terminal import one_line
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.typed import prepared
from antiphon.vocabulary.values import Value

PLAIN = "plain"
"""The kind of a question for which the file names no right answer."""

UNANSWERABLE = "unanswerable"
CATALOGUE = "catalogue"
TWO_STEP = "two_step"
LESSON = "lesson"
SMALL_TALK = "small_talk"

_HOW = 'one question a line, or one JSON object a line, such as {"question": "What is BM25?"}'


class Place(Value, frozen=True, kw_only=True):
    """The place of an answer; lesson None is the course's outline."""

    course: str
    lesson: int | None

    @property
    def part(self) -> str:
        """The part of the course in one word: the lesson's number or `outline`."""
        return "outline" if self.lesson is None else str(self.lesson)


class SampleQuestion(Value, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """One line of a questions file (samples/README.md); its writer may add fields, which are ignored.

    Attributes:
        id: By default the number of the line.
        earlier: Questions of the same conversation, asked before this one.
        answered_by: The lessons that hold the answer.
        needed: The parts of a right answer; each is one or more phrases, of which one must be in the answer.
        absent: Words that only a wrong answer holds.
        forms: The special forms of the question, such as "typo" or "german".
    """

    question: str
    id: str = ""
    kind: str = PLAIN
    earlier: tuple[str, ...] = ()
    answered_by: tuple[Place, ...] = ()
    needed: tuple[tuple[str, ...], ...] = ()
    absent: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()

    @property
    def can_be_judged(self) -> bool:
        """True if the file names the parts of a right answer, or says that there is none."""
        return bool(self.needed) or self.kind == UNANSWERABLE

    @property
    def phrases(self) -> Iterator[str]:
        """All phrases of all parts."""
        return chain.from_iterable(self.needed)

    @property
    def lessons(self) -> set[Place]:
        """The lessons that hold the answer, without outlines."""
        return {place for place in self.answered_by if place.lesson is not None}

    @property
    def asks_lessons(self) -> bool:
        """True if the text of lessons answers it, and not the catalogue."""
        return bool(self.lessons) and self.kind != CATALOGUE


def read_questions(path: Path, most_chars: int) -> list[SampleQuestion]:
    """Reads the questions of a file, in either form, and checks that the service would accept each.

    Args:
        most_chars: The most characters of a question.

    Raises:
        BadInputError: The file cannot be read, or a line is not a question; the message names it.
    """
    name = one_line(str(path), 200)
    lines = {
        number: line.strip()
        for number, line in enumerate(_text(path, name).splitlines(), start=1)
        if line.strip()
    }
    if not lines:
        raise BadInputError(f"{name} holds no question: write {_HOW}.")
    is_json = _is_json(list(lines.values()))
    questions: list[SampleQuestion] = []
    for number, line in lines.items():
        where = f"{name}, line {number}"
        read = _of_json(where, line) if is_json else SampleQuestion(question=line)
        asked = read.question.strip()
        _check(where, asked, most_chars)
        questions.append(replace(read, id=read.id or str(number), question=asked))
    return questions


def _text(path: Path, name: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInputError(
            f"{name} cannot be read ({error.strerror}): name a file with {_HOW}."
        ) from error
    except UnicodeDecodeError as error:
        raise BadInputError(
            f"{name} is not text in UTF-8: name a file with {_HOW}."
        ) from error


def _is_json(lines: list[str]) -> bool:
    """Returns True if the file is meant as JSON."""
    # A JSON array is not accepted either, but it must be refused as JSON and not asked as a question.
    if lines[0].startswith("["):
        return True
    # One line of JSON makes it a file of JSON: then a plain line is a mistake rather than a question.
    return any(line.startswith("{") for line in lines)


def _of_json(where: str, line: str) -> SampleQuestion:
    try:
        question = msgspec.json.decode(line, type=prepared(SampleQuestion))
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise BadInputError(
            f"{where} is no question ({error}): write {_HOW}."
        ) from error
    # A file need not name right answers; if it does, they must be distinguishable from wrong ones.
    if question.needed:
        _check_needed(question, where)
    return question


def _check_needed(question: SampleQuestion, where: str) -> None:
    """Refuses a question whose answer could not be distinguished from a wrong one."""
    if question.kind == UNANSWERABLE:
        raise BadInputError(f"{where}: `needed` must be empty if no answer is right.")
    asked = set(words(" ".join([*question.earlier, question.question])))
    # A part without phrases could never be found; a phrase made of the question's words might be found in any answer.
    if not all(question.needed) or any(
        asked.issuperset(words(phrase)) for phrase in question.phrases
    ):
        raise BadInputError(
            f"{where}: every part of `needed` must hold a phrase, and every phrase a word that the question "
            "does not."
        )


def _check(where: str, question: str, most_chars: int) -> None:
    if not question.replace("\x00", "").strip():
        raise BadInputError(f"{where} holds an empty question: write {_HOW}.")
    if len(question) > most_chars:
        raise BadInputError(
            f"{where} has a question of {len(question):,} characters, the most is {most_chars:,}."
        )
