"""The results of a run: shares by kind, calibration, and the missed targets."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import get_args

from antiphon.cli.questions import CATALOGUE, SMALL_TALK, TWO_STEP, UNANSWERABLE
from antiphon.cli.terminal import counted
from antiphon.vocabulary.events import Confidence
from antiphon.vocabulary.values import Value
from benchmarks.evaluation.grading import Grade

LABELS: tuple[Confidence, ...] = get_args(Confidence)


MOST_ROUNDS, MOST_CALLS = 2, 3
"""The limits for any question."""


class Share(Value, frozen=True, kw_only=True):
    """`count` of `of`; with `of` 0 the share is unknown."""

    count: int
    of: int

    @property
    def value(self) -> float:
        """The share from 0 to 1."""
        return self.count / max(self.of, 1)

    def __str__(self) -> str:
        if not self.of:
            return "none"
        return f"{self.count}/{self.of} ({self.value:.0%})"


class Figures(Value, frozen=True, kw_only=True):
    """The shares of a run; all but `empty` have a target.

    Attributes:
        answered: Of the questions that lessons answer: all parts are in the answer.
        first: Of the same: the first cited lesson is a right one.
        two_step: Of the questions that need a look-up first: answered.
        catalogue: Of the questions about courses and lessons: the exact words are in the answer.
        said_so: Of the questions that nothing answers: the answer says so.
        empty: Of the answerable questions: the answer says that nothing answers it, and cites nothing.
        refused: Of the answerable questions: the answer says so too, even if it cites something.
        by_label: Of the answers with each label: they answer the question.
    """

    answered: Share
    first: Share
    two_step: Share
    catalogue: Share
    said_so: Share
    empty: Share
    refused: Share
    by_label: dict[Confidence, Share]


def figures_of(grades: Sequence[Grade]) -> Figures:
    """Sums up a run."""
    kinds = by_kind(grades)
    answerable = [each for each in grades if each.kind != UNANSWERABLE]
    apart = (CATALOGUE, SMALL_TALK)
    of_lessons = [each for each in answerable if each.kind not in apart]
    return Figures(
        answered=right_of(of_lessons),
        first=first_of(grades),
        two_step=right_of(kinds.get(TWO_STEP, [])),
        catalogue=right_of(kinds.get(CATALOGUE, [])),
        said_so=right_of(kinds.get(UNANSWERABLE, [])),
        empty=_share([each.empty for each in answerable]),
        refused=_share([each.says_so for each in answerable]),
        by_label=calibration(grades),
    )


def by_kind(grades: Sequence[Grade]) -> dict[str, list[Grade]]:
    """Returns the grades of each kind of question, in the order of the kinds' first questions."""
    kinds: dict[str, list[Grade]] = {}
    for each in grades:
        kinds.setdefault(each.kind, []).append(each)
    return kinds


def right_of(grades: Sequence[Grade]) -> Share:
    """Returns the share of right answers."""
    return _share([each.right for each in grades])


def first_of(grades: Sequence[Grade]) -> Share:
    """Returns the share that cites a right lesson first, among the questions that ask for one."""
    return _share(
        [
            each.right_lesson_first
            for each in grades
            if each.right_lesson_first is not None
        ]
    )


def _share(counted: Sequence[bool]) -> Share:
    return Share(count=sum(counted), of=len(counted))


def calibration(grades: Sequence[Grade]) -> dict[Confidence, Share]:
    """Returns, for each label, the share of answers with it that answer their question.

    No answer to an unanswerable question counts as answering it. Small talk asks nothing, and does not count.
    """
    labelled: dict[Confidence, list[bool]] = {label: [] for label in LABELS}
    for each in grades:
        if each.kind != SMALL_TALK:
            answers = each.right and each.kind != UNANSWERABLE
            labelled[each.confidence].append(answers)
    return {label: _share(answers) for label, answers in labelled.items()}


def shortfalls(grades: Sequence[Grade]) -> list[str]:
    """Returns a sentence for each target that the run misses."""
    found = figures_of(grades)
    return [
        *_below(found.answered, 0.80, "what answers the question stands in the answer"),
        *_below(found.first, 0.80, "a right lesson is cited first"),
        *_below(found.two_step, 0.60, "a question in two steps is answered"),
        *_below(found.catalogue, 0.75, "a question about the catalogue gets its exact words"),
        *_below(found.said_so, 0.70, "an unanswerable question is said to be one"),
        *_above(found.refused, 0.08, "an answerable question is said to have no answer"),
        *_below(found.by_label["high"], 0.90, "an answer labelled high answers the question"),
        *_below(found.by_label["medium"], 0.60, "an answer labelled medium answers the question"),
        *[_too_long(each) for each in grades if each.rounds > MOST_ROUNDS or each.calls > MOST_CALLS],
        *chain.from_iterable(map(_misquoted, grades)),
    ]  # fmt: skip


def _below(found: Share, least: float, what: str) -> list[str]:
    # The tolerance is for shares such as 5 of 6, which floats cannot hold exactly.
    if not found.of or found.value >= least - 1e-9:
        return []
    return [f"In {found} {what}; at least {least:.0%} is wanted."]


def _above(found: Share, most: float, what: str) -> list[str]:
    if found.value <= most + 1e-9:
        return []
    return [f"In {found} {what}; at most {most:.0%} is allowed."]


def _too_long(each: Grade) -> str:
    return (
        f"{each.id} took {counted(each.rounds, 'round')} and {counted(each.calls, 'call')}; "
        f"at most {MOST_ROUNDS} and {MOST_CALLS} are allowed."
    )


def _misquoted(each: Grade) -> list[str]:
    return [
        f"{each.id} cites words that are not in the passage it names: {words!r}."
        for words in each.wrong_citations
    ]
