"""How runs of sample questions are read, graded and summed up."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from antiphon.cli.questions import Place, SampleQuestion
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import Confidence
from antiphon.vocabulary.values import Citation
from benchmarks.evaluation.figures import Share, calibration, figures_of, shortfalls
from benchmarks.evaluation.grading import Asked, Grade, Verdict, grade, grades_of
from benchmarks.evaluation.samples import read_samples
from tests.unit.cli.judged import cites, lesson_passage, outcome, trace

LINE = '{"id": "q1", "kind": "k", "question": "Q?", "answered_by": [{"course": "C", "lesson": 2}], "needed": [["1.2"]]}'
QUESTION = SampleQuestion(
    id="q1",
    kind="fact",
    question="Which k1?",
    answered_by=(Place(course="C", lesson=2),),
    needed=(("k1 is 1.2",),),
)
NOBODY_KNOWS = SampleQuestion(id="q2", kind="unanswerable", question="Q?")


def _grade(
    kind: str = "fact",
    verdict: Verdict = "answered",
    confidence: Confidence = "high",
    *,
    first: bool | None = True,
    says_so: bool = False,
    empty: bool = False,
) -> Grade:
    good = grade(QUESTION, outcome(cites()), trace())
    return replace(
        good,
        kind=kind,
        verdict=verdict,
        confidence=confidence,
        right_lesson_first=first,
        says_so=says_so,
        empty=empty,
    )


@pytest.mark.parametrize(
    "wrong", [cites(text="k1 is  1.2"), cites(fact="f9"), cites(text="K1 is 1.2")]
)
def test_cited_words_must_stand_in_the_passage_character_for_character(
    wrong: Citation,
) -> None:
    found = grade(QUESTION, outcome(cites(), wrong), trace())

    assert found.wrong_citations == (wrong.cited_text,)
    assert "not in the passage" in " ".join(shortfalls([found]))


def test_a_grade_keeps_the_answer_and_what_it_cites_in_order() -> None:
    found = grade(QUESTION, outcome(cites(lesson=7), cites(lesson=None)), trace())

    assert (found.answer, found.cited) == ("It is 1.2.", ("C 7", "C outline"))


def test_a_phrase_that_most_lessons_of_a_run_hold_is_found_in_no_answer() -> None:
    vague = replace(QUESTION, needed=(("of the course",),))
    passages = {
        str(number): lesson_passage(number, f"Part {number} of the course.")
        for number in range(4)
    }

    (alone,) = grades_of(
        [Asked(vague, outcome(cites(), answer="It is of the course."), {})]
    )
    (among,) = grades_of(
        [Asked(vague, outcome(cites(), answer="It is of the course."), passages)]
    )

    assert (alone.verdict, among.verdict) == ("answered", "failed")


def test_a_run_that_reaches_its_targets_has_no_shortfalls() -> None:
    good = grade(QUESTION, outcome(cites()), trace())
    said_so = _grade("unanswerable", confidence="low", first=None, says_so=True)

    assert shortfalls([good, said_so]) == []


def test_each_target_that_is_missed_is_said_in_a_sentence() -> None:
    grades = [
        _grade("fact", "failed", first=False, says_so=True, empty=True),
        _grade("two_step", "failed", "medium", first=False),
        _grade("catalogue", "in_part", first=None),
        _grade("unanswerable", "failed", first=None),
        replace(_grade(), rounds=3, calls=4),
    ]

    said = shortfalls(grades)

    assert said == [
        "In 1/3 (33%) what answers the question stands in the answer; at least 80% is wanted.",
        "In 1/3 (33%) a right lesson is cited first; at least 80% is wanted.",
        "In 0/1 (0%) a question in two steps is answered; at least 60% is wanted.",
        "In 0/1 (0%) a question about the catalogue gets its exact words; at least 75% is wanted.",
        "In 0/1 (0%) an unanswerable question is said to be one; at least 70% is wanted.",
        "In 1/4 (25%) an answerable question is said to have no answer; at most 8% is allowed.",
        "In 1/4 (25%) an answer labelled high answers the question; at least 90% is wanted.",
        "In 0/1 (0%) an answer labelled medium answers the question; at least 60% is wanted.",
        "q1 took 3 rounds and 4 calls; at most 2 and 3 are allowed.",
    ]


def test_an_answer_that_doubts_what_it_shows_is_counted_apart_from_a_refusal() -> None:
    doubted = _grade("fact", "failed", "low", says_so=True)

    assert figures_of([_grade(), doubted]).empty == Share(count=0, of=2)
    assert figures_of([_grade(), doubted]).refused == Share(count=1, of=2)


def test_what_nobody_asked_for_is_no_shortfall() -> None:
    assert shortfalls([_grade()]) == []
    assert str(figures_of([_grade()]).two_step) == "none"


def test_calibration_counts_answers_that_answer_and_takes_no_credit_for_admitting() -> (
    None
):
    grades = [
        _grade(),
        _grade(verdict="in_part"),
        _grade("unanswerable", "failed"),
        _grade("unanswerable", confidence="low", says_so=True),
        _grade("small_talk"),
    ]

    assert calibration(grades) == {
        "high": Share(count=1, of=3),
        "medium": Share(count=0, of=0),
        "low": Share(count=0, of=1),
    }


def _written(folder: Path, lines: list[str]) -> Path:
    file = folder / "questions.jsonl"
    file.write_text("\n".join(lines))
    return file


def test_questions_are_read_a_line_each(tmp_path: Path) -> None:
    questions = read_samples(_written(tmp_path, [LINE, "", LINE]))

    assert [question.needed for question in questions] == [(("1.2",),), (("1.2",),)]


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["[]"],
        [LINE, "{"],
        ['{"id": "q"}'],
        [LINE.replace('[["1.2"]]', "[]")],
        [LINE.replace('[["1.2"]]', "[[]]")],
        [LINE.replace('"1.2"', '""')],
        [LINE.replace('"1.2"', '" "')],
        [LINE.replace('"k"', '"unanswerable"')],
    ],
)
def test_a_file_that_holds_no_questions_or_no_answers_is_refused_by_name(
    tmp_path: Path, lines: list[str]
) -> None:
    with pytest.raises(BadInputError, match=r"questions\.jsonl"):
        read_samples(_written(tmp_path, lines))


@pytest.mark.parametrize("phrase", ["a Retry", "“retry”", "what is", "first"])
def test_a_phrase_of_the_questions_own_words_is_refused(
    tmp_path: Path, phrase: str
) -> None:
    line = (
        '{"id": "q1", "kind": "k", "earlier": ["What comes first?"], "question": "What is a retry?", '
        f'"needed": [["{phrase}"]]}}'
    )

    with pytest.raises(BadInputError, match="a word that the question does not"):
        read_samples(_written(tmp_path, [line]))
