"""Questions out of a file: JSON lines such as samples/questions.jsonl, or plain text with one question a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import msgspec

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
        """The part of the course, in a word."""
        if self.lesson is None:
            return "outline"
        return str(self.lesson)


class SampleQuestion(Value, frozen=True, kw_only=True):
    """One line of a questions file (samples/README.md).

    Attributes:
        earlier: Questions of the same conversation, asked before this one.
        answered_by: The lessons that hold the answer.
        needed: The parts of a right answer; each is one or more phrases, of which one must stand in the answer.
        absent: Words that only a wrong answer holds.
        forms: The form the question comes in, such as "typo" or "german", where it is a special one.
    """

    id: str
    kind: str
    question: str
    earlier: tuple[str, ...] = ()
    answered_by: tuple[Place, ...] = ()
    needed: tuple[tuple[str, ...], ...] = ()
    absent: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()

    @property
    def can_be_judged(self) -> bool:
        """The file names what a right answer holds, or that none is right."""
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
        """What lessons say answers it, and not the catalogue."""
        return bool(self.lessons) and self.kind != CATALOGUE


def read_questions(lines: Iterable[str], name: str) -> list[SampleQuestion]:
    """Reads the questions of a JSON lines file.

    Raises:
        BadInputError: A line is no question, or nothing could tell a right answer to it; its number is named.
    """
    questions = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            question = msgspec.json.decode(line, type=prepared(SampleQuestion))
        except (msgspec.DecodeError, UnicodeEncodeError) as error:
            raise BadInputError(
                f"{name}, line {number} is no question ({error}): see samples/README.md."
            ) from error
        _check_needed(question, f"{name}, line {number}")
        questions.append(question)
    if not questions:
        raise BadInputError(f"{name} holds no questions: see samples/README.md.")
    return questions


def _check_needed(question: SampleQuestion, where: str) -> None:
    """Refuses a question whose answer could not be told from a wrong one."""
    if bool(question.needed) == (question.kind == UNANSWERABLE):
        raise BadInputError(
            f"{where}: `needed` must name what a right answer holds, and nothing where no answer is right."
        )
    asked = set(words(" ".join([*question.earlier, question.question])))
    # A part without a phrase could never be found; a phrase without a word of its own would always be.
    if not all(question.needed) or any(
        asked.issuperset(words(phrase)) for phrase in question.phrases
    ):
        raise BadInputError(
            f"{where}: every part of `needed` must hold a phrase, and every phrase a word that the question "
            "does not."
        )


class _Line(msgspec.Struct, frozen=True):
    """One JSON line of a file that somebody wrote; fields that we do not know are theirs."""

    question: str
    id: str | None = None
    kind: str = PLAIN
    earlier: tuple[str, ...] = ()
    answered_by: tuple[Place, ...] = ()
    needed: tuple[tuple[str, ...], ...] = ()
    absent: tuple[str, ...] = ()


def read_any_questions(path: Path, most_chars: int) -> list[SampleQuestion]:
    """Reads the questions of a file, in either form; every one can be asked.

    Args:
        most_chars: The longest question that may be asked.

    Raises:
        BadInputError: The file cannot be read, or a line is no question; the message names it.
    """
    name = one_line(str(path), 200)
    lines: dict[int, str] = {}
    for number, line in enumerate(_text(path, name).splitlines(), start=1):
        if line.strip():
            lines[number] = line.strip()
    if not lines:
        raise BadInputError(f"{name} holds no question: write {_HOW}.")
    is_json = _is_json(list(lines.values()))
    questions: list[SampleQuestion] = []
    for number, line in lines.items():
        where = f"{name}, line {number}"
        if is_json:
            question = _of_json(where, number, line)
        else:
            question = SampleQuestion(id=str(number), kind=PLAIN, question=line)
        _check(where, question.question, most_chars)
        questions.append(question)
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
            f"{name} is no text in UTF-8: name a file with {_HOW}."
        ) from error


def _is_json(lines: list[str]) -> bool:
    """Returns True if the file is meant as JSON."""
    # A JSON array is not taken, but it must be refused as one, and not be asked as a question.
    if lines[0].startswith("["):
        return True
    # One line of JSON makes it a file of JSON: then a plain line is a mistake, and not a question.
    return any(line.startswith("{") for line in lines)


def _of_json(where: str, number: int, line: str) -> SampleQuestion:
    try:
        read = msgspec.json.decode(line, type=prepared(_Line))
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise BadInputError(
            f"{where} is no question ({error}): write {_HOW}."
        ) from error
    question = SampleQuestion(
        id=read.id or str(number),
        kind=read.kind,
        question=read.question.strip(),
        earlier=read.earlier,
        answered_by=read.answered_by,
        needed=read.needed,
        absent=read.absent,
    )
    # Somebody's questions need not say what is right; where they do, it must be told from what is wrong.
    if question.needed:
        _check_needed(question, where)
    return question


def _check(where: str, question: str, most_chars: int) -> None:
    if not question.replace("\x00", "").strip():
        raise BadInputError(f"{where} holds an empty question: write {_HOW}.")
    if len(question) > most_chars:
        raise BadInputError(
            f"{where} has a question of {len(question):,} characters, the most is {most_chars:,}."
        )
