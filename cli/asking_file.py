"""Questions out of a file: JSON lines such as samples/questions.jsonl, or plain text with one question a line."""

from __future__ import annotations

from pathlib import Path

import msgspec

from antiphon.cli.grading import Place, SampleQuestion
from antiphon.cli.terminal import one_line
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.values import Value

PLAIN = "plain"
"""The kind of a question of which nobody said what answers it."""

_HOW = 'one question a line, or one JSON object a line, such as {"question": "What is BM25?"}'


class _Line(msgspec.Struct, frozen=True):
    """One JSON line; fields that we do not know are somebody else's."""

    question: str
    id: str | None = None
    kind: str = PLAIN
    answered_by: tuple[Place, ...] = ()
    facts: tuple[str, ...] = ()


class _Where(Value, frozen=True, kw_only=True):
    """A line of a file, for messages."""

    file: str
    number: int

    def __str__(self) -> str:
        return f"{self.file}, line {self.number}"


def read_asking_file(path: Path, most_chars: int) -> list[SampleQuestion]:
    """The questions of a file; every one can be asked.

    Args:
        most_chars: The longest question that may be asked.

    Raises:
        BadInputError: The file cannot be read, or a line is no question; the message names it.
    """
    name = one_line(str(path), 200)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInputError(f"{name} cannot be read ({error.strerror}): name a file with {_HOW}.") from error
    except UnicodeDecodeError as error:
        raise BadInputError(f"{name} is no text in UTF-8: name a file with {_HOW}.") from error
    lines = [(_Where(file=name, number=at), line.strip()) for at, line in enumerate(text.splitlines(), 1)]
    lines = [(where, line) for where, line in lines if line]
    if not lines:
        raise BadInputError(f"{name} holds no question: write {_HOW}.")
    as_json = any(line.startswith("{") for _, line in lines) or lines[0][1].startswith("[")
    questions = [_of_json(where, line) if as_json else _plain(where, line) for where, line in lines]
    for (where, _), each in zip(lines, questions, strict=True):
        _check(where, each.question, most_chars)
    return questions


def _of_json(where: _Where, line: str) -> SampleQuestion:
    try:
        read = msgspec.json.decode(line, type=_Line)
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise BadInputError(f"{where} is no question ({error}): write {_HOW}.") from error
    return SampleQuestion(
        id=read.id or str(where.number),
        kind=read.kind,
        question=read.question.strip(),
        answered_by=read.answered_by,
        facts=read.facts,
    )


def _plain(where: _Where, line: str) -> SampleQuestion:
    return SampleQuestion(id=str(where.number), kind=PLAIN, question=line)


def _check(where: _Where, question: str, most_chars: int) -> None:
    if not question.replace("\x00", "").strip():
        raise BadInputError(f"{where} holds an empty question: write {_HOW}.")
    if len(question) > most_chars:
        raise BadInputError(f"{where} has a question of {len(question):,} characters, the most is {most_chars:,}.")
