"""How answers to sample questions are graded."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from antiphon.cli.grading import Grade, Targets, grade, shortfalls
from antiphon.cli.questions import Place, SampleQuestion, read_questions
from antiphon.service import Outcome
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import Confidence, ContextSynthesized, Event, Recorded
from antiphon.vocabulary.values import Citation, Fact, Indicator, Passage, StoredText
from tests.story import placed, response_assembled

LINE = '{"id": "q1", "kind": "k", "question": "Q?", "answered_by": [{"course": "C", "lesson": 2}], "facts": ["1.2"]}'
QUESTION = SampleQuestion(
    id="q1",
    kind="comparison",
    question="Q?",
    answered_by=(Place(course="C", lesson=1), Place(course="C", lesson=2)),
)
NOBODY_KNOWS = SampleQuestion(id="q2", kind="unanswerable", question="Q?")


def _trace() -> list[Recorded[Event]]:
    passage = Passage(
        id="p",
        source="C - Lesson 2",
        text=StoredText("k1 is 1.2 in Lucene."),
        course="C",
        lesson=2,
    )
    fact = Fact(id="f1", passage=passage, tool_call_id="t1", round=1)
    return placed("q", [ContextSynthesized(round=1, facts=(fact,))])


def _outcome(
    *citations: Citation, answer: str = "It is 1.2.", confidence: Confidence = "high"
) -> Outcome:
    response = replace(
        response_assembled(answer), citations=citations, confidence=confidence
    )
    return Outcome(
        query_id="q",
        session_id="s",
        response=response,
        status="answered",
        duration_ms=1.0,
    )


def _cites(
    text: str = "k1 is 1.2", lesson: int | None = 2, fact: str = "f1"
) -> Citation:
    return Citation(
        start=0,
        end=9,
        cited_text=text,
        source="C",
        fact=fact,
        course="C",
        lesson=lesson,
    )


def test_an_answer_is_right_when_it_cites_a_right_lesson_and_complete_when_it_cites_all() -> (
    None
):
    partly = grade(QUESTION, _outcome(_cites()), _trace())
    wholly = grade(QUESTION, _outcome(_cites(), _cites(lesson=1)), _trace())

    assert (partly.right, partly.complete) == (True, False)
    assert (wholly.right, wholly.complete) == (True, True)


def test_an_answer_that_cites_another_lesson_is_not_right_and_says_what_it_cited() -> (
    None
):
    found = grade(QUESTION, _outcome(_cites(lesson=7)), _trace())

    assert (found.right, found.note) == (False, "cited C 7")


def test_the_outline_is_a_place_of_its_own() -> None:
    outline = SampleQuestion(
        id="q",
        kind="outline",
        question="Q?",
        answered_by=(Place(course="C", lesson=None),),
    )

    assert grade(outline, _outcome(_cites(lesson=None)), _trace()).right
    assert not grade(outline, _outcome(_cites(lesson=2)), _trace()).right


def test_an_unanswerable_question_wants_an_answer_that_cites_nothing_and_is_not_sure() -> (
    None
):
    assert grade(NOBODY_KNOWS, _outcome(confidence="low"), _trace()).right
    assert not grade(NOBODY_KNOWS, _outcome(confidence="high"), _trace()).right
    assert not grade(NOBODY_KNOWS, _outcome(_cites(), confidence="low"), _trace()).right


def test_an_answer_that_could_not_be_looked_for_does_not_say_that_it_is_not_there() -> (
    None
):
    outcome = _outcome(confidence="low")
    failed = Indicator(kind="tool_failed", detail="It failed.", event_seq=3)
    unsure = replace(outcome, response=replace(outcome.response, indicators=(failed,)))

    assert not grade(NOBODY_KNOWS, unsure, _trace()).right


@pytest.mark.parametrize(
    "wrong", [_cites(text="k1 is  1.2"), _cites(fact="f9"), _cites(text="K1 is 1.2")]
)
def test_cited_words_must_stand_in_the_passage_character_for_character(
    wrong: Citation,
) -> None:
    found = grade(QUESTION, _outcome(_cites(), wrong), _trace())

    assert found.wrong_citations == (wrong.cited_text,)
    assert "not in the passage" in " ".join(shortfalls([found], Targets()))


def test_a_run_that_reaches_its_targets_has_no_shortfalls() -> None:
    good = grade(QUESTION, _outcome(_cites()), _trace())
    said_so = grade(NOBODY_KNOWS, _outcome(confidence="low"), _trace())

    assert (
        shortfalls([good, *[said_so] * 5, replace(said_so, right=False)], Targets())
        == []
    )


def test_each_target_that_is_missed_is_said_in_a_sentence() -> None:
    bad: Grade = replace(grade(QUESTION, _outcome(), _trace()), rounds=3, calls=4)

    said = shortfalls(
        [bad, replace(bad, kind="unanswerable")], Targets(most_rounds=2, most_calls=3)
    )

    assert len(said) == 4
    assert said[0] == "In 0% a right lesson is cited; at least 90% is wanted."
    assert "3 rounds and 4 calls" in said[2]


def test_questions_are_read_a_line_each() -> None:
    questions = read_questions([LINE, "", LINE], "file")

    assert [question.facts for question in questions] == [("1.2",), ("1.2",)]


@pytest.mark.parametrize("lines", [[], ["[]"], [LINE, "{"], ['{"id": "q"}']])
def test_a_file_that_holds_no_questions_is_refused_by_name(lines: list[str]) -> None:
    with pytest.raises(BadInputError, match=r"questions\.jsonl"):
        read_questions(lines, "questions.jsonl")
