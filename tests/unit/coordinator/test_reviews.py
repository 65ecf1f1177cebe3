"""Reviews of a draft: who is waited for, what a rejection leads to, and that there is always an answer."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.vocabulary import events as e
from antiphon.vocabulary.values import QuerySettings, Rate, Usage
from tests.unit.coordinator.scenario import Scenario, call, kinds, limits

WORDS = "Nothing found says that it ranks."


def reviewed(*reviewers: str, **settings: Any) -> Scenario:
    """A query with reviewers whose first round has brought a fact."""
    wishes = {"early_dispatch": False} | settings
    scenario = Scenario(QuerySettings(**wishes), reviewers=reviewers or ("verifier",))
    if scenario.coordinator.state.settings.max_rounds > 0:
        scenario.brief()
        scenario.reply(call(1))
        scenario.settle()
    return scenario


def draft(scenario: Scenario, at: float = 0.0) -> list[e.Event]:
    scenario.brief(at=at)
    return scenario.reply(text="It ranks.", stop_reason="end_turn", at=at)


def judge(
    scenario: Scenario, accepted: bool, reviewer: str = "verifier", why: str = WORDS
) -> list[e.Event]:
    call_id = scenario.coordinator.state.call_id
    review = e.DraftReviewed(
        call_id=call_id,
        reviewer=reviewer,
        accepted=accepted,
        why="" if accepted else why,
    )
    return scenario.deliver(review)


def test_a_reply_that_would_be_the_answer_is_reviewed_first() -> None:
    scenario = reviewed()

    assert draft(scenario) == [e.ReviewRequested(call_id="call-2", round=2)]


def test_an_accepted_draft_becomes_the_answer() -> None:
    scenario = reviewed()
    draft(scenario)

    assert judge(scenario, accepted=True) == [
        e.AnswerRequested(mode="reply", call_id="call-2")
    ]


def test_every_reviewer_is_waited_for_even_after_a_rejection() -> None:
    scenario = reviewed("verifier", "lawyer", max_rounds=3)
    draft(scenario)

    assert judge(scenario, accepted=False) == []
    (opened,) = judge(
        scenario, accepted=False, reviewer="lawyer", why="It gives advice."
    )

    assert isinstance(opened, e.RoundOpened)
    assert opened.note == f"verifier: {WORDS}\nlawyer: It gives advice."


def test_a_rejected_draft_opens_one_more_round_of_tools_that_is_shown_why() -> None:
    scenario = reviewed(max_rounds=3)
    draft(scenario)

    said = judge(scenario, accepted=False)

    assert said == [
        e.RoundOpened(
            round=3,
            call_id="call-3",
            final=False,
            rounds_left=0,
            note=f"verifier: {WORDS}",
        )
    ]


def test_the_calls_after_that_round_are_shown_the_reviewers_words_too() -> None:
    scenario = reviewed(max_rounds=3)
    draft(scenario)
    judge(scenario, accepted=False)
    scenario.brief()
    scenario.reply(call(2))

    (opened,) = scenario.settle()

    assert isinstance(opened, e.RoundOpened)
    assert (opened.final, opened.note) == (True, f"verifier: {WORDS}")


def test_where_no_round_of_tools_is_left_the_final_call_may_mend_the_draft() -> None:
    scenario = reviewed()
    draft(scenario)

    (opened,) = judge(scenario, accepted=False)

    assert isinstance(opened, e.RoundOpened)
    assert (opened.round, opened.final) == (3, True)


def test_a_rejected_draft_of_the_final_call_is_the_answer_all_the_same() -> None:
    scenario = reviewed()
    draft(scenario)
    judge(scenario, accepted=False)
    draft(scenario)

    assert judge(scenario, accepted=False) == [
        e.AnswerRequested(mode="reply", call_id="call-3")
    ]


@pytest.mark.parametrize("max_rounds", [0, 1, 2, 3, 5])
def test_there_are_never_more_replies_than_rounds_and_a_final_call_however_often_a_reviewer_refuses(
    max_rounds: int,
) -> None:
    scenario = reviewed(max_rounds=max_rounds)
    replies = min(max_rounds, 1)

    while not any(isinstance(event, e.AnswerRequested) for event in scenario.emitted):
        draft(scenario)
        judge(scenario, accepted=False)
        replies += 1

    assert replies == max_rounds + 1


def test_judgements_that_nobody_waits_for_change_nothing() -> None:
    scenario = reviewed()
    before = judge(scenario, accepted=False)
    draft(scenario)
    stranger = judge(scenario, accepted=False, reviewer="stranger")
    late = scenario.deliver(
        e.DraftReviewed(call_id="call-1", reviewer="verifier", accepted=False)
    )

    assert before == stranger == late == []
    assert kinds(judge(scenario, accepted=True)) == ["answer_requested"]
    assert judge(scenario, accepted=False) == []


def test_a_reviewer_that_fails_is_noticed_as_a_stall_and_the_draft_is_the_answer() -> (
    None
):
    scenario = reviewed()
    draft(scenario)

    said = scenario.deliver(
        e.SessionStalled(
            waiting_for=("reviewer: draft_reviewed of call-2, since seq 9",)
        )
    )

    assert said == [e.AnswerRequested(mode="reply", call_id="call-2")]


def test_a_review_that_takes_until_the_deadline_is_given_up_and_the_draft_is_the_answer() -> (
    None
):
    scenario = reviewed()
    draft(scenario)

    neared = scenario.deliver(e.DeadlineNeared(left_s=15.0), at=44.0)
    passed = scenario.deliver(e.DeadlinePassed(left_s=1.0), at=59.0)

    assert neared == []
    assert limits(passed) == ["deadline"]
    assert passed[-1] == e.AnswerRequested(mode="reply", call_id="call-2")


def test_a_rejection_after_the_time_for_tools_leads_to_the_final_call() -> None:
    scenario = reviewed(max_rounds=3)
    draft(scenario)
    scenario.deliver(e.DeadlineNeared(left_s=15.0), at=44.0)

    said = judge(scenario, accepted=False)

    assert limits(said) == ["deadline"]
    assert isinstance(said[-1], e.RoundOpened)
    assert said[-1].final


def test_a_round_that_the_budget_does_not_pay_for_is_not_opened_for_a_reviewer() -> (
    None
):
    rates = (Rate(model="m", input=2.0, output=10.0),)
    settings = QuerySettings(
        early_dispatch=False,
        model="m",
        max_tokens=1_000,
        briefing_tokens=600,
        max_total_tokens=5_000,
    )
    scenario = Scenario(
        settings, rates=rates, fixed_tokens=1_000, reviewers=("verifier",)
    )
    scenario.brief()
    scenario.reply(
        text="It ranks.",
        stop_reason="end_turn",
        usage=Usage(input_tokens=2_500, output_tokens=1_000),
    )

    said = judge(scenario, accepted=False)

    assert limits(said) == ["tokens", "tokens"]
    assert said[-1] == e.AnswerRequested(mode="reply", call_id="call-1")


def test_an_answer_from_the_facts_is_not_reviewed() -> None:
    scenario = reviewed()
    scenario.brief()

    scenario.fail()
    scenario.brief()
    scenario.fail()
    scenario.brief()
    scenario.fail()

    assert not any(isinstance(event, e.ReviewRequested) for event in scenario.emitted)
    assert isinstance(scenario.emitted[-1], e.AnswerRequested)
    assert scenario.emitted[-1].mode == "partial"
