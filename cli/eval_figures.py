"""What a run of `antiphon eval` comes to: shares by kind, calibration, and the targets that it misses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from antiphon.cli.judging import Verdict
from antiphon.cli.questions import CATALOGUE, SMALL_TALK, TWO_STEP, UNANSWERABLE
from antiphon.cli.terminal import counted
from antiphon.vocabulary.events import Confidence
from antiphon.vocabulary.values import Value

LABELS: tuple[Confidence, ...] = get_args(Confidence)


class Grade(Value, frozen=True, kw_only=True):
    """The grade of one answer.

    Attributes:
        verdict: For a question that nothing answers, "answered" is an answer that says so.
        parts: How many parts a right answer has; `parts_found` of them stand in the answer.
        right_lesson_first: The first cited lesson is a right one; None where the question asks for no lesson.
        says_so: The answer owns that the courses do not hold it, or only something near.
        empty: It says so, and shows nothing of the courses.
        wrong_citations: Cited words that are not in the passage that they name.
        cited: Lessons and outlines that are cited, in order.
    """

    id: str
    kind: str
    forms: tuple[str, ...]
    question: str
    verdict: Verdict
    parts: int
    parts_found: int
    right_lesson_first: bool | None
    says_so: bool
    empty: bool
    confidence: Confidence
    rounds: int
    calls: int
    answer: str
    cited: tuple[str, ...]
    wrong_citations: tuple[str, ...]
    reasoner: str
    duration_ms: float
    query_id: str

    @property
    def right(self) -> bool:
        """The answer is what was wanted: nothing is missing, or it says that nothing is there."""
        return self.verdict == "answered"


class Targets(Value, frozen=True, kw_only=True):
    """What a run must reach: shares from 0 to 1, and the most rounds and calls of each question.

    Attributes:
        least_answered: Of the questions that lessons answer: all parts stand in the answer.
        least_first: Of the same: the first cited lesson is a right one.
        least_two_step: Of the questions that take a look-up first: answered.
        least_catalogue: Of the questions about courses and lessons: the exact words stand in the answer.
        least_said_so: Of the questions that nothing answers: the answer says so.
        most_refused: Of the answerable questions: the answer says so too, whatever it shows.
        least_high: Of the answers labelled high: they answer the question.
        least_medium: Of the answers labelled medium: they answer the question.
    """

    least_answered: float = 0.8
    least_first: float = 0.80
    least_two_step: float = 0.60
    least_catalogue: float = 0.75
    least_said_so: float = 0.70
    most_refused: float = 0.08
    least_high: float = 0.90
    least_medium: float = 0.60
    most_rounds: int = 2
    most_calls: int = 3


class Share(Value, frozen=True, kw_only=True):
    """So many of so many; `of` 0 is a share that nobody can tell."""

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
    """The shares that targets are set for, each explained at its target in `Targets`, and one beside them.

    Attributes:
        empty: Of the answerable questions: nothing is shown, whatever is said.
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
    """Sums a run up."""
    kinds = by_kind(grades)
    of_lessons: list[Grade] = []
    answerable: list[Grade] = []
    for kind, of_kind in kinds.items():
        if kind not in (CATALOGUE, SMALL_TALK, UNANSWERABLE):
            of_lessons += of_kind
        if kind != UNANSWERABLE:
            answerable += of_kind
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
    """Returns the grades of each kind of question, in the order in which kinds come first."""
    kinds: dict[str, list[Grade]] = {}
    for each in grades:
        kinds.setdefault(each.kind, []).append(each)
    return kinds


def right_of(grades: Sequence[Grade]) -> Share:
    """Returns how many are right."""
    return _share([each.right for each in grades])


def first_of(grades: Sequence[Grade]) -> Share:
    """Returns how many cite a right lesson first, of those that are asked for one."""
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

    Nothing answers an unanswerable question, whatever is said of it. Small talk asks nothing.
    """
    labelled: dict[Confidence, list[bool]] = {label: [] for label in LABELS}
    for each in grades:
        if each.kind != SMALL_TALK:
            answers = each.right and each.kind != UNANSWERABLE
            labelled[each.confidence].append(answers)
    return {label: _share(answers) for label, answers in labelled.items()}


def shortfalls(grades: Sequence[Grade], targets: Targets) -> list[str]:
    """Returns a sentence for each target that the run misses."""
    found = figures_of(grades)
    return [
        *_below(found.answered, targets.least_answered, "what answers the question stands in the answer"),
        *_below(found.first, targets.least_first, "a right lesson is cited first"),
        *_below(found.two_step, targets.least_two_step, "a question in two steps is answered"),
        *_below(found.catalogue, targets.least_catalogue, "a question about the catalogue gets its exact words"),
        *_below(found.said_so, targets.least_said_so, "an unanswerable question is said to be one"),
        *_above(found.refused, targets.most_refused, "an answerable question is said to have no answer"),
        *_below(found.by_label["high"], targets.least_high, "an answer labelled high answers the question"),
        *_below(found.by_label["medium"], targets.least_medium, "an answer labelled medium answers the question"),
        *_too_long(grades, targets),
        *_misquoted(grades),
    ]  # fmt: skip


def _below(found: Share, least: float, what: str) -> list[str]:
    # A share such as 5 of 6 is no exact number.
    if not found.of or found.value >= least - 1e-9:
        return []
    return [f"In {found} {what}; at least {least:.0%} is wanted."]


def _above(found: Share, most: float, what: str) -> list[str]:
    if found.value <= most + 1e-9:
        return []
    return [f"In {found} {what}; at most {most:.0%} is allowed."]


def _too_long(grades: Sequence[Grade], targets: Targets) -> list[str]:
    sentences: list[str] = []
    for each in grades:
        if each.rounds > targets.most_rounds or each.calls > targets.most_calls:
            sentences.append(
                f"{each.id} took {counted(each.rounds, 'round')} and {counted(each.calls, 'call')}; "
                f"at most {targets.most_rounds} and {targets.most_calls} are allowed."
            )
    return sentences


def _misquoted(grades: Sequence[Grade]) -> list[str]:
    sentences: list[str] = []
    for each in grades:
        for words in each.wrong_citations:
            sentences.append(
                f"{each.id} cites words that are not in the passage it names: {words!r}."
            )
    return sentences
