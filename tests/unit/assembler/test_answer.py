"""The answer: from a reply, from the facts in hand, or as a plain statement."""

from __future__ import annotations

from antiphon.assembler import last_resort
from antiphon.vocabulary.events import AnswerRequested, ToolFailed
from antiphon.vocabulary.values import Usage
from tests.unit.assembler.scenario import (
    answer,
    asked,
    assembled,
    briefed,
    cites,
    fact,
    kinds,
    looked_up,
    partial,
    plainly,
    replied,
    started,
    synthesized,
)

LOG = fact(
    "f1", "A log is a file that is only appended to. Nothing in it ever changes."
)
BREAD = fact("f2", "Sourdough needs patience.", lesson=2)
CITED = replied(
    "Logs grow.", cites(0, 10, 0, (0, 1), "A log is a file that is only appended to.")
)


def test_a_reply_says_who_spoke_and_what_it_took() -> None:
    said = assembled(
        asked(),
        looked_up("a"),
        synthesized(LOG),
        briefed(("f1", (0, 1))),
        started("claude-sonnet-5-5"),
        CITED,
        answer(),
    )

    assert (said.answer, said.reasoner, said.rounds, said.calls) == (
        "Logs grow.",
        "claude-sonnet-5-5",
        1,
        2,
    )
    assert said.usage == Usage(input_tokens=20, output_tokens=4)


def test_the_reasoner_is_the_one_of_the_call_that_answered_and_of_its_last_attempt() -> (
    None
):
    said = assembled(
        asked(),
        synthesized(LOG),
        briefed(("f1", (0, 1))),
        started("first", "call-1"),
        started("second"),
        started("offline"),
        CITED,
        answer(),
    )

    assert said.reasoner == "offline"


def test_a_partial_answer_is_word_for_word_from_the_facts_and_says_what_is_missing() -> (
    None
):
    said = assembled(
        asked("What is a log?"),
        synthesized(BREAD, LOG, open_parts=("a queue",)),
        partial(),
    )

    assert said.answer.startswith("A log is a file that is only appended to.")
    assert "the model could not be reached" in said.answer
    assert "Nothing was found on: a queue." in said.answer
    (cited,) = said.citations
    assert cited.fact == "f1"
    assert cited.cited_text in LOG.passage.text.text
    assert said.answer[cited.start : cited.end] == " ".join(cited.cited_text.split())
    assert said.sources == ("Logs - Lesson 1",)
    assert (kinds(said), said.confidence, said.reasoner) == (
        ["partial_evidence"],
        "low",
        "none",
    )


def test_a_partial_answer_from_wrapped_lines_reads_on_one_line_and_cites_the_very_text() -> (
    None
):
    wrapped = fact("f1", "A log is a file\nthat is only appended\nto.")

    said = assembled(asked(), synthesized(wrapped), partial())

    assert said.answer.startswith("A log is a file that is only appended to.\n\n")
    assert said.citations[0].cited_text == "A log is a file\nthat is only appended\nto."


def test_facts_that_do_not_speak_to_the_question_make_no_partial_answer() -> None:
    said = assembled(asked(), synthesized(BREAD), partial())

    assert said.answer.startswith(
        "This question could not be answered: the model could not be reached."
    )
    assert said.citations == ()
    assert said.confidence == "low"


def test_an_endless_sentence_is_not_answered_with() -> None:
    said = assembled(asked(), synthesized(fact("f1", "log " * 50_000)), partial())

    assert len(said.answer) < 1_000


def test_a_plain_answer_says_what_was_tried_and_what_failed_but_nothing_of_internals() -> (
    None
):
    failed = ToolFailed(
        tool_call_id="a",
        name="search_course_content",
        failure="error",
        detail="sqlite3.Error at 0x7f in /srv/x.py",
    )

    said = assembled(
        asked(),
        looked_up("a", "b"),
        failed,
        synthesized(),
        plainly("no model answered"),
    )

    assert said.answer == (
        "This question could not be answered: no model answered. "
        "Tried: search_course_content (it failed); search_course_content."
    )
    assert kinds(said) == ["tool_failed", "no_evidence"]
    assert "sqlite3" not in " ".join(indicator.detail for indicator in said.indicators)


def test_before_anything_was_tried_a_plain_answer_says_so() -> None:
    said = assembled(asked(), plainly(""))

    assert (
        said.answer
        == "This question could not be answered: no answer came in time. Nothing could be looked up."
    )


def test_an_empty_reply_becomes_a_plain_statement() -> None:
    said = assembled(asked(), replied(" \n "), answer())

    assert said.answer.startswith(
        "This question could not be answered: the model gave no answer."
    )
    assert (said.reasoner, said.confidence) == ("none", "low")


def test_a_refusal_without_text_is_said_in_a_plain_sentence() -> None:
    said = assembled(asked(), replied("", stop_reason="refusal"), answer())

    assert said.answer.startswith(
        "This question could not be answered: the model declined to answer."
    )
    assert kinds(said) == ["refused", "no_evidence"]


def test_a_reply_that_is_not_there_is_made_up_for_from_the_facts() -> None:
    said = assembled(
        asked(), synthesized(LOG), AnswerRequested(mode="reply", call_id="never")
    )

    assert said.citations[0].fact == "f1"
    assert kinds(said) == ["partial_evidence"]


def test_a_caller_that_went_away_is_no_failure_of_a_part() -> None:
    assert [
        doubt.kind
        for doubt in last_resort("it was taken back", 7, failed=False).indicators
    ] == ["no_evidence"]


def test_the_last_resort_needs_nothing() -> None:
    said = last_resort("", 7)

    assert (
        said.answer
        == "This question could not be answered: the answer could not be put together."
    )
    assert (said.confidence, said.reasoner) == ("low", "none")
    assert {indicator.event_seq for indicator in said.indicators} == {7}
