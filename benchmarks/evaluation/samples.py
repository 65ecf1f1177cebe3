"""The sample questions: lines of a questions file, each with its right answer or the note that there is none."""

from __future__ import annotations

from pathlib import Path

from antiphon.cli.questions import SampleQuestion, read_questions
from antiphon.vocabulary.errors import BadInputError

MOST_CHARS = 8_000


def read_samples(path: Path) -> list[SampleQuestion]:
    """Reads the questions of a file.

    Raises:
        BadInputError: The file cannot be read, or a line is no question or has no criterion for a right answer.
    """
    questions = read_questions(path, MOST_CHARS)
    for question in questions:
        if not question.can_be_judged:
            raise BadInputError(
                f"{path}: `needed` must name what a right answer to {question.id} holds (samples/README.md)."
            )
    return questions
