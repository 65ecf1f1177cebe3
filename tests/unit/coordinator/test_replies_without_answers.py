"""Replies whose text is no answer count as empty: another call follows, or what was found speaks."""

from __future__ import annotations

import pytest

from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import RULES
from antiphon.vocabulary.values import QuerySettings, ReplyCitation, StoredText, Usage
from tests.unit.coordinator.scenario import Scenario, call, kinds, limits

CALL = 'Let me search for that.\n\n<function_calls>\n<invoke name="search">'
THINKING = "<think>\nThey want"


def asked(rules: int = RULES) -> Scenario:
    settings = QuerySettings(early_dispatch=False, max_rounds=1)
    return Scenario(settings, rules=rules)


def asked_with_facts(rules: int = RULES) -> Scenario:
    """A query in its final call, after a round that found something."""
    scenario = asked(rules)
    scenario.brief()
    scenario.reply(call(1))
    scenario.settle()
    scenario.brief()
    return scenario


@pytest.mark.parametrize("text", [CALL, THINKING])
def test_in_a_round_of_tools_the_final_call_follows(text: str) -> None:
    scenario = asked()
    scenario.brief()

    emitted = scenario.reply(text=text, stop_reason="end_turn")

    assert kinds(emitted) == ["recovery_started", "round_opened"]
    assert isinstance(emitted[-1], e.RoundOpened)
    assert emitted[-1].final


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (CALL, "the model wrote a tool call in place of an answer"),
        (THINKING, "the model wrote down its thinking and no answer"),
        ("", "the model's reply was empty"),
    ],
)
def test_after_the_final_call_the_answer_is_made_of_the_facts_and_says_why(
    text: str, why: str
) -> None:
    scenario = asked_with_facts()

    emitted = scenario.reply(text=text, stop_reason="end_turn")

    assert emitted == [
        e.RecoveryStarted(level="round", why=why, event_seq=scenario.seq),
        e.AnswerRequested(mode="partial", why=why),
    ]


def test_without_facts_a_search_comes_first() -> None:
    scenario = Scenario(
        QuerySettings(max_rounds=0), rules=RULES, tools=("search_course_content",)
    )
    scenario.brief()

    emitted = scenario.reply(text=CALL, stop_reason="end_turn")

    assert "tool_requested" in kinds(emitted)


def test_an_answer_behind_thinking_is_an_answer() -> None:
    scenario = asked_with_facts()

    emitted = scenario.reply(
        text="<think>Hm.</think>\nIt ranks.", stop_reason="end_turn"
    )

    assert emitted == [e.AnswerRequested(mode="reply", call_id="call-2")]


def test_what_the_final_call_cited_before_it_broke_off_with_a_tool_call_is_given() -> (
    None
):
    scenario = asked_with_facts()
    cited = ReplyCitation(
        start=0, end=9, source=0, first_block=0, end_block=1, cited_text="It ranks."
    )
    completed = e.ReasoningCompleted(
        call_id="call-2", round=2, content=(), text=StoredText(f"It ranks. {CALL}"), tool_calls=(), citations=(cited,),
        stop_reason="end_turn", usage=Usage(), model="m", message_id="x",
    )  # fmt: skip

    emitted = scenario.deliver(completed)

    assert limits(emitted) == ["rounds"]
    assert emitted[-1] == e.AnswerRequested(mode="reply", call_id="call-2")


def test_thinking_beside_a_tool_call_that_no_round_is_left_for_is_no_answer() -> None:
    scenario = asked_with_facts()

    emitted = scenario.reply(call(2), text=THINKING)

    assert limits(emitted) == ["rounds"]
    assert emitted[-1] == e.AnswerRequested(
        mode="partial", why="the model gave no answer"
    )


def test_after_a_refusal_the_answer_is_made_of_the_facts_in_hand() -> None:
    scenario = asked_with_facts()

    emitted = scenario.reply(text="I can", stop_reason="refusal")

    assert emitted == [
        e.AnswerRequested(
            mode="partial", call_id="call-2", why="the model declined to answer"
        )
    ]


def test_after_a_refusal_without_facts_the_answer_says_so_and_nothing_is_tried() -> (
    None
):
    scenario = asked()
    scenario.brief()

    emitted = scenario.reply(text="I can", stop_reason="refusal")

    assert emitted == [e.AnswerRequested(mode="reply", call_id="call-1")]


@pytest.mark.parametrize(
    ("text", "stop_reason"),
    [(CALL, "end_turn"), (THINKING, "end_turn"), ("I can", "refusal")],
)
def test_by_the_rules_of_their_time_such_texts_of_older_traces_are_answers(
    text: str, stop_reason: str
) -> None:
    scenario = asked_with_facts(rules=1)

    emitted = scenario.reply(text=text, stop_reason=stop_reason)

    assert emitted == [e.AnswerRequested(mode="reply", call_id="call-2")]
