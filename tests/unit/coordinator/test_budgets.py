"""Budgets in tokens and dollars: what is refused, what is kept back, and what follows."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.vocabulary import events as e
from antiphon.vocabulary.values import QuerySettings, Rate, Usage
from tests.unit.coordinator.scenario import Scenario, call, kinds, limits

SEARCH = "search_course_content"
RATES = (
    Rate(model="m", input=2.0, output=10.0),
    Rate(model="dear", input=20.0, output=100.0),
    Rate(model="fallback", input=0.0, output=0.0),
)
# A call takes 1,000 tokens beside its messages and 1,000 of output; a modest briefing is 200, raised by a quarter.
FIXED = 1_000
REPLY = 1_000
BRIEFING = 250


def limited(
    rates: tuple[Rate, ...] = RATES, tools: tuple[str, ...] = (SEARCH,), **settings: Any
) -> Scenario:
    wishes: dict[str, Any] = {
        "early_dispatch": False,
        "model": "m",
        "max_tokens": REPLY,
        "briefing_tokens": 600,
    } | settings
    return Scenario(
        QuerySettings(**wishes), rates=rates, fixed_tokens=FIXED, tools=tools
    )


def last(scenario: Scenario) -> e.Event:
    return scenario.emitted[-1]


def requests(scenario: Scenario) -> list[e.ReasoningRequested]:
    return [
        event for event in scenario.emitted if isinstance(event, e.ReasoningRequested)
    ]


def test_without_a_budget_nothing_is_kept_back() -> None:
    scenario = limited()
    scenario.brief()

    (request,) = requests(scenario)
    assert (request.spare_tokens, request.spare_usd) == (None, None)
    assert isinstance(scenario.emitted[0], e.RoundOpened)
    assert scenario.emitted[0].briefing_tokens is None


def test_a_round_that_would_leave_too_little_for_the_final_call_is_refused_and_that_call_follows() -> (
    None
):
    scenario = limited(max_total_tokens=6_000)
    scenario.brief()
    scenario.reply(call(1), usage=Usage(input_tokens=1_000, output_tokens=1_000))

    emitted = scenario.settle()

    assert limits(emitted) == ["tokens"]
    assert isinstance(emitted[-1], e.RoundOpened)
    assert emitted[-1].final


def test_a_budget_that_pays_for_both_rounds_is_no_hindrance() -> None:
    scenario = limited(max_total_tokens=9_000)
    for number in (1, 2):
        scenario.brief()
        scenario.reply(
            call(number), usage=Usage(input_tokens=1_000, output_tokens=1_000)
        )
        scenario.settle()
    scenario.brief()

    assert limits(scenario.emitted) == []
    assert [request.final for request in requests(scenario)] == [False, False, True]


def test_dollars_are_counted_by_the_recorded_rates_where_the_server_names_no_cost() -> (
    None
):
    scenario = limited(max_cost_usd=0.037)
    scenario.brief()
    scenario.reply(call(1), usage=Usage(input_tokens=1_000, output_tokens=1_000))

    assert limits(scenario.settle()) == ["cost"]


def test_a_dearer_model_for_the_final_call_needs_more_kept_back() -> None:
    assert limits(limited(max_cost_usd=0.05).emitted) == []
    assert limits(limited(max_cost_usd=0.05, final_model="dear").emitted) == ["cost"]


def test_where_only_the_final_call_is_paid_for_a_search_of_its_own_comes_before_it() -> (
    None
):
    scenario = limited(max_total_tokens=3_000)

    begun = kinds(scenario.emitted)
    emitted = scenario.settle()

    assert begun == ["breaker_tripped", "tool_requested", "tool_calls_confirmed"]
    assert emitted == [
        e.RoundOpened(
            round=2, call_id="call-2", final=True, rounds_left=0, briefing_tokens=600
        )
    ]


def test_where_nothing_can_search_the_final_call_comes_at_once() -> None:
    scenario = limited(max_total_tokens=3_000, tools=())

    assert kinds(scenario.emitted) == ["breaker_tripped", "round_opened"]


@pytest.mark.parametrize(
    "limit",
    [{"max_total_tokens": 0}, {"max_total_tokens": 2_000}, {"max_cost_usd": 0.0}],
)
def test_where_no_call_is_paid_for_the_answer_is_what_a_search_of_its_own_finds(
    limit: dict[str, Any],
) -> None:
    scenario = limited(**limit)

    emitted = scenario.settle()

    assert requests(scenario) == []
    assert isinstance(emitted[-1], e.AnswerRequested)
    assert (emitted[-1].mode, emitted[-1].why) == (
        "partial",
        "the budget does not pay for another call of the model",
    )


def test_a_reply_that_cost_more_than_it_could_leaves_the_facts_for_an_answer() -> None:
    scenario = limited(max_total_tokens=6_000)
    scenario.brief()
    scenario.reply(call(1), usage=Usage(input_tokens=5_000, output_tokens=900))

    emitted = scenario.settle()

    assert limits(emitted) == ["tokens", "tokens"]
    assert isinstance(emitted[-1], e.AnswerRequested)
    assert emitted[-1].mode == "partial"


def test_a_briefing_that_became_too_large_for_its_round_turns_to_the_final_call_and_then_to_the_facts() -> (
    None
):
    scenario = limited(max_total_tokens=5_000)

    for_a_round = scenario.brief(tokens=2_000)
    for_the_end = scenario.brief(tokens=9_000)

    assert kinds(for_a_round) == ["breaker_tripped", "round_opened"]
    assert kinds(for_the_end)[:2] == ["breaker_tripped", "recovery_started"]
    assert requests(scenario) == []


def test_the_briefing_of_a_round_is_cut_to_what_the_budget_pays_for() -> None:
    scenario = limited(max_total_tokens=6_000, briefing_tokens=6_000, max_rounds=0)
    opened = scenario.emitted[0]

    assert isinstance(opened, e.RoundOpened)
    assert opened.briefing_tokens == (6_000 - FIXED - REPLY - 4) / 1.25 // 1


def test_tokens_of_failed_attempts_are_spent() -> None:
    scenario = limited(max_total_tokens=6_000)
    scenario.brief()

    scenario.fail(usage=Usage(input_tokens=1_000, output_tokens=1_000))

    assert scenario.coordinator.state.budget.spent.tokens == 2_000
    scenario.brief()
    scenario.reply(
        call(1),
        wasted=Usage(input_tokens=400, output_tokens=50),
        usage=Usage(input_tokens=1_000),
    )
    assert scenario.coordinator.state.budget.spent.tokens == 3_450


def test_a_call_may_waste_what_neither_it_nor_the_final_call_needs() -> None:
    scenario = limited(max_total_tokens=6_000, max_cost_usd=1.0)
    scenario.brief(tokens=40)

    (request,) = requests(scenario)

    assert request.spare_tokens == 6_000 - (FIXED + 50 + REPLY) - (
        FIXED + BRIEFING + 4 + REPLY
    )
    assert request.spare_usd == pytest.approx(
        1.0 - (2 * (2_304) + 10 * 2_000) / 1_000_000
    )


def test_a_reply_that_tells_no_usage_counts_as_what_was_set_aside_for_it() -> None:
    scenario = limited(max_total_tokens=6_000)
    scenario.brief(tokens=40)
    scenario.reply(call(1), usage=Usage())

    assert scenario.coordinator.state.budget.spent.tokens == FIXED + 50 + REPLY


def test_it_costs_what_was_set_aside_for_it_too() -> None:
    scenario = limited(max_cost_usd=1.0)
    scenario.brief(tokens=40)
    scenario.reply(call(1), usage=Usage())

    spent = scenario.coordinator.state.budget.spent
    assert spent.usd == pytest.approx((2 * (FIXED + 50) + 10 * REPLY) / 1_000_000)


def test_a_tokenizer_that_makes_more_tokens_than_estimated_is_learnt_from() -> None:
    scenario = limited(max_total_tokens=9_000)
    scenario.brief(tokens=40)
    scenario.reply(
        call(1), usage=Usage(input_tokens=2 * (FIXED + 50), output_tokens=100)
    )

    assert limits(scenario.settle()) == ["tokens"]
    assert scenario.coordinator.state.budget.estimate_factor == 2.0


def test_a_model_whose_price_is_not_recorded_is_not_asked_under_a_limit_of_cost() -> (
    None
):
    scenario = limited(rates=(), max_cost_usd=5.0)

    (tripped,) = (
        event for event in scenario.emitted if isinstance(event, e.BreakerTripped)
    )
    assert tripped.detail == "what m costs is not known"


def test_a_transcript_that_does_not_fit_is_shown_as_a_briefing() -> None:
    scenario = limited(max_total_tokens=6_000, max_rounds=0, context="transcript")

    emitted = scenario.brief(tokens=5_000)

    assert kinds(emitted) == ["breaker_tripped", "round_opened"]
    assert isinstance(emitted[-1], e.RoundOpened)
    assert emitted[-1].briefing_tokens == 600


CACHED = Usage(
    input_tokens=100, cache_read_tokens=700, cache_write_tokens=200, output_tokens=1_000
)


def test_tokens_read_from_the_cache_and_written_to_it_are_spent() -> None:
    scenario = limited(max_total_tokens=9_000)
    scenario.brief()

    scenario.reply(call(1), usage=CACHED)

    assert scenario.coordinator.state.budget.spent.tokens == 2_000


def test_tokens_of_the_cache_cost_something_too() -> None:
    scenario = limited(max_cost_usd=1.0)
    scenario.brief()

    scenario.reply(call(1), usage=CACHED)

    spent = scenario.coordinator.state.budget.spent.usd
    assert spent == pytest.approx((2 * 1_000 + 10 * 1_000) / 1_000_000)


def test_a_budget_for_thinking_is_part_of_what_a_call_may_take() -> None:
    plain = limited(max_total_tokens=20_000)
    thinking = limited(max_total_tokens=20_000, thinking="2048")
    plain.brief()
    thinking.brief()

    (one,), (other,) = requests(plain), requests(thinking)

    # It is kept for this call and for the final one.
    assert one.spare_tokens is not None
    assert other.spare_tokens == one.spare_tokens - 2 * 2_048


def test_what_a_server_did_not_say_of_a_call_is_spent_once() -> None:
    scenario = limited(max_total_tokens=6_000)
    scenario.brief(tokens=40)

    scenario.reply(call(1), usage=Usage(), unreported=Usage(output_tokens=900))
    scenario.settle()
    scenario.brief(tokens=40)
    scenario.fail(usage=Usage(input_tokens=100), unreported=Usage(output_tokens=1_000))

    assert scenario.coordinator.state.budget.spent.tokens == 900 + 1_100


def test_what_was_lost_when_a_query_was_interrupted_is_spent() -> None:
    scenario = limited(max_total_tokens=6_000, max_cost_usd=1.0)
    scenario.brief(tokens=40)

    lost = Usage(input_tokens=700, output_tokens=1_000, cost_usd=0.25)
    scenario.deliver(e.QueryResumed(away_s=0.0, why="it ended", lost=lost))

    spent = scenario.coordinator.state.budget.spent
    assert (spent.tokens, spent.usd) == (1_700, 0.25)
