"""Saved sets of questions, and the comparison of two settings on one: kept beside the traces, not as events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from antiphon.vocabulary.access import without_keys
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.feedback import Rating
from antiphon.vocabulary.fields import Id
from antiphon.vocabulary.values import Value

MOST_SETS = 100
"""Sets of a tenant, those with answers included."""
MOST_QUESTIONS = 50
MOST_SET_CHARS = 60_000
"""Characters of all questions of a set together, with earlier ones and notes."""
MOST_SET_NAME_CHARS = 120

Verdict = Literal["left", "right", "both_good", "both_bad"]


class SavedQuestion(Value, frozen=True, kw_only=True):
    """One question of a set: a line of what `antiphon traces questions` prints, and its answers if it was asked.

    Attributes:
        id: A name that its writer may give it.
        earlier: Questions of the same conversation, asked before this one.
        rating: How an answer to it was judged, with a note.
        left: The trace of its answer with the settings on the left.
        right: The same on the right.
        verdict: Which of the two somebody found better.
    """

    question: str
    id: str = ""
    earlier: tuple[str, ...] = ()
    rating: Rating | None = None
    note: str | None = None
    left: Id | None = None
    right: Id | None = None
    verdict: Verdict | None = None

    @property
    def chars(self) -> int:
        """The length of its texts; each earlier question counts, however short it is."""
        earlier = sum(max(1, len(each)) for each in self.earlier)
        return len(self.question) + earlier + len(self.note or "")


class Comparison(Value, frozen=True, kw_only=True):
    """The settings that a set was asked with, on either side, by their names; without any: the service's own.

    Attributes:
        of: The set whose questions these are; it may have been deleted since.
    """

    of: Id
    left: dict[str, str]
    right: dict[str, str]


class QuestionSet(Value, frozen=True, kw_only=True):
    """Questions under a name.

    Attributes:
        at: When it was stored, in seconds since the epoch.
        comparison: The settings that they were asked with; None for questions alone.
    """

    set_id: Id
    name: str
    at: float
    questions: tuple[SavedQuestion, ...]
    comparison: Comparison | None = None


class QuestionSets(Protocol):
    """The sets of one tenant; without tenants, those of the service's owner."""

    async def all(self) -> Sequence[QuestionSet]:
        """Returns every set, the last stored first. Raises TraceError if the store cannot be read."""

    async def put(self, saved: QuestionSet) -> QuestionSet:
        """Stores a set in place of the one with its id; returns the stored form, redacted as events are.

        Raises:
            TraceError: The store cannot be written.
        """

    async def delete(self, set_id: str) -> None:
        """Deletes a set if it exists; its traces stay. Raises as `put` does."""


def check_question_set(
    new: QuestionSet, others: Sequence[str], most_chars: int
) -> None:
    """Refuses a set that is too large, or exceeds the number allowed.

    Args:
        others: The ids of the sets that exist.
        most_chars: Most characters of a question.

    Raises:
        BadInputError: It is refused; the message gives the limit.
    """
    if not new.name:
        raise BadInputError("The name is empty: send some text in `name`.")
    asked = len(new.questions)
    if not 1 <= asked <= MOST_QUESTIONS:
        raise BadInputError(
            f"A set holds 1 to {MOST_QUESTIONS} questions, and this one has {asked}."
        )
    for number, each in enumerate(new.questions, start=1):
        _check_question(number, each, most_chars)
    if new.comparison and _holds_key(new.comparison.of):
        raise BadInputError(
            "`of` is a key (`antiphon keys`): send the set's id, and rotate the key."
        )
    chars = sum(each.chars for each in new.questions)
    if chars > MOST_SET_CHARS:
        raise BadInputError(
            f"The questions have {chars:,} characters, the most of a set is {MOST_SET_CHARS:,}: make two of it."
        )
    if new.set_id not in others and len(others) >= MOST_SETS:
        raise BadInputError(
            f"There are {len(others)} sets and comparisons, which is the most: delete one first."
        )


def _check_question(number: int, saved: SavedQuestion, most_chars: int) -> None:
    if not saved.question.replace("\x00", "").strip():
        raise BadInputError(f"Question {number} is empty: leave it out.")
    if len(saved.question) > most_chars:
        raise BadInputError(
            f"Question {number} has {len(saved.question):,} characters, the most is {most_chars:,}."
        )
    # Names of things are stored as they are.
    if _holds_key(saved.left) or _holds_key(saved.right):
        raise BadInputError(
            f"Question {number} names a trace by a key (`antiphon keys`): send the trace's id, and rotate the key."
        )


def _holds_key(name: str | None) -> bool:
    return name is not None and without_keys(name) != name
