"""Budgets in tokens and dollars: what is refused, what is kept back, and what follows."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.vocabulary import events as e
from antiphon.vocabulary.values import QuerySettings, Rate, Usage
from tests.unit.coordinator.stories import Story, call, kinds, limits

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


def limited(rates: tuple[Rate, ...] = RATES, tools: tuple[str, ...] = (SEARCH,), **settings: Any) -> Story:
    wishes: dict[str, Any] = {
        "early_dispatch": False,
        "model": "m",
        "max_tokens": REPLY,
        "briefing_tokens": 600,
    } | settings
    return Story(QuerySettings(**wishes), rates=rates, fixed_tokens=FIXED, tools=tools)


def last(story: Story) -> e.Event:
    return story.said[-1]


def requests(story: Story) -> list[e.ReasoningRequested]:
    return [event for event in story.said if isinstance(event, e.ReasoningRequested)]


def test_without_a_budget_nothing_is_kept_back() -> None:
    story = limited()
    story.brief()

    (request,) = requests(story)
    assert (request.spare_tokens, request.spare_usd) == (None, None)
    assert isinstance(story.said[0], e.RoundOpened)
    assert story.said[0].briefing_tokens is None


def test_a_round_that_would_leave_too_little_for_the_final_call_is_refused_and_that_call_follows() -> None:
    story = limited(max_total_tokens=6_000)
    story.brief()
    story.reply(call(1), usage=Usage(input_tokens=1_000, output_tokens=1_000))

    said = story.settle()

    assert limits(said) == ["tokens"]
    assert isinstance(said[-1], e.RoundOpened)
    assert said[-1].final


def test_a_budget_that_pays_for_both_rounds_is_no_hindrance() -> None:
    story = limited(max_total_tokens=9_000)
    for number in (1, 2):
        story.brief()
        story.reply(call(number), usage=Usage(input_tokens=1_000, output_tokens=1_000))
        story.settle()
    story.brief()

    assert limits(story.said) == []
    assert [request.final for request in requests(story)] == [False, False, True]


def test_dollars_are_counted_by_the_recorded_rates_where_the_server_names_no_cost() -> None:
    story = limited(max_cost_usd=0.037)
    story.brief()
    story.reply(call(1), usage=Usage(input_tokens=1_000, output_tokens=1_000))

    assert limits(story.settle()) == ["cost"]


def test_a_dearer_model_for_the_final_call_needs_more_kept_back() -> None:
    assert limits(limited(max_cost_usd=0.05).said) == []
    assert limits(limited(max_cost_usd=0.05, final_model="dear").said) == ["cost"]


def test_where_only_the_final_call_is_paid_for_a_search_of_its_own_comes_before_it() -> None:
    story = limited(max_total_tokens=3_000)

    begun = kinds(story.said)
    said = story.settle()

    assert begun == ["breaker_tripped", "tool_requested", "tool_calls_confirmed"]
    assert said == [e.RoundOpened(round=2, call_id="call-2", final=True, rounds_left=0, briefing_tokens=600)]


def test_where_nothing_can_search_the_final_call_comes_at_once() -> None:
    story = limited(max_total_tokens=3_000, tools=())

    assert kinds(story.said) == ["breaker_tripped", "round_opened"]


@pytest.mark.parametrize("limit", [{"max_total_tokens": 0}, {"max_total_tokens": 2_000}, {"max_cost_usd": 0.0}])
def test_where_no_call_is_paid_for_the_answer_is_what_a_search_of_its_own_finds(limit: dict[str, Any]) -> None:
    story = limited(**limit)

    said = story.settle()

    assert requests(story) == []
    assert isinstance(said[-1], e.AnswerRequested)
    assert (said[-1].mode, said[-1].why) == ("partial", "the budget does not pay for another call of the model")


def test_a_reply_that_cost_more_than_it_could_leaves_the_facts_for_an_answer() -> None:
    story = limited(max_total_tokens=6_000)
    story.brief()
    story.reply(call(1), usage=Usage(input_tokens=5_000, output_tokens=900))

    said = story.settle()

    assert limits(said) == ["tokens", "tokens"]
    assert isinstance(said[-1], e.AnswerRequested)
    assert said[-1].mode == "partial"


def test_a_briefing_that_became_too_large_for_its_round_turns_to_the_final_call_and_then_to_the_facts() -> None:
    story = limited(max_total_tokens=5_000)

    for_a_round = story.brief(tokens=2_000)
    for_the_end = story.brief(tokens=9_000)

    assert kinds(for_a_round) == ["breaker_tripped", "round_opened"]
    assert kinds(for_the_end)[:2] == ["breaker_tripped", "recovery_started"]
    assert requests(story) == []


def test_the_briefing_of_a_round_is_cut_to_what_the_budget_pays_for() -> None:
    story = limited(max_total_tokens=6_000, briefing_tokens=6_000, max_rounds=0)
    opened = story.said[0]

    assert isinstance(opened, e.RoundOpened)
    assert opened.briefing_tokens == (6_000 - FIXED - REPLY - 4) / 1.25 // 1


def test_tokens_of_failed_attempts_are_spent() -> None:
    story = limited(max_total_tokens=6_000)
    story.brief()

    story.fail(usage=Usage(input_tokens=1_000, output_tokens=1_000))

    assert story.coordinator.state.purse.spent.tokens == 2_000
    story.brief()
    story.reply(call(1), wasted=Usage(input_tokens=400, output_tokens=50), usage=Usage(input_tokens=1_000))
    assert story.coordinator.state.purse.spent.tokens == 3_450


def test_a_call_may_waste_what_neither_it_nor_the_final_call_needs() -> None:
    story = limited(max_total_tokens=6_000, max_cost_usd=1.0)
    story.brief(tokens=40)

    (request,) = requests(story)

    assert request.spare_tokens == 6_000 - (FIXED + 50 + REPLY) - (FIXED + BRIEFING + 4 + REPLY)
    assert request.spare_usd == pytest.approx(1.0 - (2 * (2_304) + 10 * 2_000) / 1_000_000)


def test_a_reply_that_tells_no_usage_counts_as_what_was_set_aside_for_it() -> None:
    story = limited(max_total_tokens=6_000)
    story.brief(tokens=40)
    story.reply(call(1), usage=Usage())

    assert story.coordinator.state.purse.spent.tokens == FIXED + 50 + REPLY


def test_a_tokenizer_that_makes_more_tokens_than_estimated_is_learnt_from() -> None:
    story = limited(max_total_tokens=9_000)
    story.brief(tokens=40)
    story.reply(call(1), usage=Usage(input_tokens=2 * (FIXED + 50), output_tokens=100))

    assert limits(story.settle()) == ["tokens"]
    assert story.coordinator.state.purse.stretch == 2.0


def test_a_model_whose_price_is_not_recorded_is_not_asked_under_a_limit_of_cost() -> None:
    story = limited(rates=(), max_cost_usd=5.0)

    (tripped,) = (event for event in story.said if isinstance(event, e.BreakerTripped))
    assert tripped.detail == "what m costs is not known"


def test_a_transcript_that_does_not_fit_is_shown_as_a_briefing() -> None:
    story = limited(max_total_tokens=6_000, max_rounds=0, context="transcript")

    said = story.brief(tokens=5_000)

    assert kinds(said) == ["breaker_tripped", "round_opened"]
    assert isinstance(said[-1], e.RoundOpened)
    assert said[-1].briefing_tokens == 600
