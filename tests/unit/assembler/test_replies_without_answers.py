"""What of a reply is shown: what is no answer is left out, and citations still lead to their characters."""

from __future__ import annotations

from antiphon.vocabulary.events import RULES, AnswerRequested
from tests.unit.assembler.scenario import (
    answer,
    asked,
    assembled,
    briefed,
    cites,
    fact,
    kinds,
    replied,
    synthesized,
)

LOG = fact("f1", "A log is only appended to. Nothing in it changes.")
SHOWN = briefed(("f1", (0, 1)))
QUESTION = asked(rules=RULES)
THINKING = "<think>\nThey want logs [1.1].\n</think>\n\n"


def test_a_citation_behind_thinking_is_of_the_same_characters() -> None:
    text = f"{THINKING}Logs are only appended to. Nothing changes."
    at = len(THINKING)
    reply = replied(
        text,
        cites(at, at + 26, 0, (0, 1), "A log is only appended to. "),
        cites(at + 27, at + 43, 0, (1, 2), "Nothing in it changes."),
    )

    said = assembled(QUESTION, synthesized(LOG), SHOWN, reply, answer())

    assert said.answer == "Logs are only appended to. Nothing changes."
    assert [said.answer[each.start : each.end] for each in said.citations] == [
        "Logs are only appended to.",
        "Nothing changes.",
    ]
    assert (said.confidence, said.indicators) == ("high", ())


def test_a_citation_across_thinking_is_of_what_is_left_on_both_sides() -> None:
    text = f"Logs grow.\n{THINKING}Nothing changes."
    reply = replied(text, cites(0, len(text), 0, (0, 2), ""))

    said = assembled(QUESTION, synthesized(LOG), SHOWN, reply, answer())

    assert said.answer == "Logs grow.\nNothing changes."
    assert [(each.start, each.end) for each in said.citations] == [(0, 27)]


def test_a_citation_within_thinking_counts_for_nothing() -> None:
    text = f"{THINKING}Logs are only appended to."
    reply = replied(
        text,
        cites(8, 23, 7, (0, 1), "no such source"),
        cites(len(THINKING), len(text), 0, (0, 1), "A log is only appended to. "),
    )

    said = assembled(QUESTION, synthesized(LOG), SHOWN, reply, answer())

    assert len(said.citations) == 1
    assert said.indicators == ()


def test_what_a_model_writes_from_a_tool_call_on_is_not_shown() -> None:
    text = 'Logs are only appended to.\n\n<invoke name="search">'
    reply = replied(text, cites(0, 26, 0, (0, 1), "A log is only appended to. "))

    said = assembled(QUESTION, synthesized(LOG), SHOWN, reply, answer())

    assert said.answer == "Logs are only appended to."
    assert len(said.citations) == 1


def test_after_a_refusal_what_was_found_is_given_and_the_refusal_told() -> None:
    refused = replied("I can", stop_reason="refusal")
    wanted = AnswerRequested(
        mode="partial", call_id="call-2", why="the model declined to answer"
    )

    said = assembled(QUESTION, synthesized(LOG), SHOWN, refused, wanted)

    assert said.answer.startswith("A log is only appended to.")
    assert "I can" not in said.answer
    assert said.citations[0].fact == "f1"
    assert kinds(said) == ["refused", "partial_evidence"]
    assert [doubt.event_seq for doubt in said.indicators] == [4, 5]
    assert said.confidence == "low"


def test_the_beginning_of_an_answer_that_was_then_refused_is_not_shown() -> None:
    refused = replied("I can", stop_reason="refusal")

    said = assembled(QUESTION, refused, answer())

    assert said.answer == (
        "This question could not be answered: the model declined to answer. Nothing could be looked up."
    )
    assert kinds(said) == ["refused", "no_evidence"]


def test_by_the_rules_of_their_time_older_traces_show_the_whole_text() -> None:
    said = assembled(asked(rules=1), replied(f"{THINKING}Logs grow."), answer())

    assert said.answer == f"{THINKING}Logs grow."
