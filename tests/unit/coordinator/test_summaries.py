"""Summarising calls and the breaker: when one may be made, with how much time, and what happens when it is too late."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.coordinator import ProviderCircuit, ProviderWatch, deadline
from antiphon.vocabulary import events as e
from antiphon.vocabulary.values import Message, QuerySettings, Rate, StoredText, Usage
from tests.unit.coordinator.scenario import Scenario, call, kinds, limits

SHOWN = (Message(role="user", content=(StoredText('{"type":"text","text":"m"}'),)),)


def want(scenario: Scenario, at: float = 0.0) -> list[e.Event]:
    state = scenario.coordinator.state
    return scenario.deliver(
        e.SummaryWanted(
            call_id=state.call_id, round=state.round, of=(), messages=SHOWN, tokens=9
        ),
        at=at,
    )


def completed(scenario: Scenario) -> e.SummaryCompleted:
    call_id = scenario.coordinator.state.call_id
    return e.SummaryCompleted(
        call_id=f"{call_id}-summary", for_call=call_id, content=(), text=StoredText("x"), stop_reason="end_turn",
        usage=Usage(), model="m", message_id="m",
    )  # fmt: skip


def failed(
    scenario: Scenario, failure: e.FailureKind = "overloaded"
) -> e.SummaryFailed:
    call_id = scenario.coordinator.state.call_id
    return e.SummaryFailed(
        call_id=f"{call_id}-summary", for_call=call_id, failure=failure, detail="529"
    )


def skipped(events: list[e.Event]) -> str:
    (event,) = events
    assert isinstance(event, e.SummarySkipped)
    return event.limit


def test_a_summary_is_asked_for_with_a_model_and_limits_of_its_own() -> None:
    scenario = Scenario(
        QuerySettings(
            compression="model", compression_model="small", early_dispatch=False
        )
    )

    (asked,) = want(scenario, at=4.0)

    assert isinstance(asked, e.SummaryRequested)
    assert (asked.call_id, asked.for_call, asked.model, asked.messages) == (
        "call-1-summary",
        "call-1",
        "small",
        SHOWN,
    )
    assert (asked.max_tokens, asked.timeout_s) == (400, 10.0)


def test_the_briefing_that_follows_leads_to_the_call_as_ever() -> None:
    scenario = Scenario()
    want(scenario)

    assert scenario.deliver(completed(scenario)) == []
    assert kinds(scenario.brief()) == ["reasoning_requested"]


def test_a_summary_is_refused_where_little_time_is_left() -> None:
    assert skipped(want(Scenario(), at=43.0)) == "deadline"


def test_a_summary_is_refused_where_the_model_is_away() -> None:
    assert skipped(want(Scenario(provider_open=True))) == "provider_open"


def test_there_are_no_more_summaries_than_rounds() -> None:
    scenario = Scenario(QuerySettings(max_rounds=1, early_dispatch=False))
    want(scenario)
    scenario.deliver(failed(scenario))
    scenario.brief()
    scenario.reply(call(1))
    scenario.settle()

    assert skipped(want(scenario)) == "summaries"


def test_a_wish_that_is_heard_twice_is_one_call() -> None:
    scenario = Scenario()
    want(scenario)

    assert want(scenario) == []


def test_a_wish_for_a_call_that_is_over_is_not_heard() -> None:
    scenario = Scenario()
    scenario.brief()

    assert want(scenario) == []


def test_a_summary_under_way_is_given_up_when_the_time_for_tools_is_used_up() -> None:
    scenario = Scenario()
    want(scenario)

    emitted = scenario.deliver(e.DeadlineNeared(left_s=15.0), at=44.0)

    assert kinds(emitted) == ["breaker_tripped", "calls_abandoned"]
    scenario.deliver(failed(scenario, "abandoned"))
    assert kinds(scenario.brief(at=44.0)) == ["round_opened"]
    assert scenario.coordinator.state.final


def test_the_final_call_does_not_wait_for_its_summary_beyond_its_share() -> None:
    scenario = Scenario(QuerySettings(max_rounds=1, early_dispatch=False))
    scenario.brief()
    scenario.reply(call(1))
    scenario.settle()
    want(scenario)

    (abandoned,) = scenario.deliver(e.DeadlineNeared(left_s=15.0), at=44.0)

    assert abandoned == e.CallsAbandoned(
        call_ids=("call-2-summary",), why="the time for summaries is used up"
    )


def test_a_summary_under_way_ends_with_the_deadline() -> None:
    scenario = Scenario()
    want(scenario)

    emitted = scenario.deliver(e.DeadlinePassed(left_s=1.0), at=59.0)

    assert kinds(emitted) == ["breaker_tripped", "calls_abandoned", "answer_requested"]


def test_a_summary_that_was_lost_is_done_without() -> None:
    scenario = Scenario()
    want(scenario)

    assert (
        skipped(scenario.deliver(e.SessionStalled(waiting_for=("engine",))))
        == "stalled"
    )
    assert kinds(scenario.brief()) == ["reasoning_requested"]


@given(
    deadline_s=st.floats(min_value=1.0, max_value=600.0),
    reserve_s=st.floats(min_value=0.0, max_value=600.0),
    share=st.floats(min_value=0.0, max_value=1.0),
)
def test_a_summary_never_takes_of_what_is_kept_for_the_final_call(
    deadline_s: float, reserve_s: float, share: float
) -> None:
    settings = QuerySettings(deadline_s=deadline_s, final_reserve_s=reserve_s)
    elapsed_s = share * deadline_s

    timeout_s = deadline.summary_timeout_s(settings, elapsed_s)

    assert (
        timeout_s <= max(0.0, deadline.neared_after_s(settings) - elapsed_s)
        or timeout_s < deadline.SUMMARY_LEAST_S
    )


@pytest.mark.parametrize(
    ("failure", "opens"),
    [("overloaded", True), ("timeout", False), ("not_found", False)],
)
def test_only_failures_that_tell_of_the_provider_open_its_circuit(
    failure: e.FailureKind, opens: bool
) -> None:
    circuit = ProviderCircuit(failures=1)
    watch = ProviderWatch(circuit)
    event = e.SummaryFailed(call_id="s", for_call="c", failure=failure, detail="")

    watch.on_summary_failed(
        e.Recorded(query_id="q", seq=1, cause=0, at=0.0, event=event)
    )

    assert circuit.is_open is opens


RATES = (
    Rate(model="m", input=2.0, output=10.0),
    Rate(model="small", input=0.1, output=0.5),
    Rate(model="fallback", input=0.0, output=0.0),
)


def limited(rates: tuple[Rate, ...] = RATES, **settings: Any) -> Scenario:
    wishes: dict[str, Any] = {
        "early_dispatch": False, "model": "m", "max_tokens": 1_000, "briefing_tokens": 600,
        "compression": "model", "compression_model": "small",
    } | settings  # fmt: skip
    return Scenario(QuerySettings(**wishes), rates=rates, fixed_tokens=1_000)


# This round's call and the final one take 1,000 + 1,000 each, and briefings of 750 and 250; the summary 312 + 400.
FOLLOWS, SUMMARY = 5_000, 712


def test_a_budget_that_does_not_pay_for_all_that_follows_refuses_the_summary() -> None:
    assert skipped(want(limited(max_total_tokens=FOLLOWS + SUMMARY - 20))) == "tokens"
    assert kinds(want(limited(max_total_tokens=FOLLOWS + SUMMARY + 20))) == [
        "summary_requested"
    ]


def test_a_budget_in_dollars_refuses_a_summary_whose_price_is_not_known() -> None:
    assert (
        skipped(want(limited(max_cost_usd=1.0, rates=(RATES[0], RATES[2])))) == "cost"
    )
    assert kinds(want(limited(max_cost_usd=1.0))) == ["summary_requested"]


def test_what_a_summary_used_is_spent() -> None:
    scenario = limited(max_total_tokens=20_000)
    want(scenario)

    scenario.deliver(
        msgspec.structs.replace(
            completed(scenario), usage=Usage(input_tokens=300, output_tokens=50)
        )
    )

    assert scenario.coordinator.state.budget.spent.tokens == 350


def test_a_summary_that_failed_has_spent_what_its_attempts_used() -> None:
    scenario = limited(max_total_tokens=20_000)
    want(scenario)

    scenario.deliver(
        msgspec.structs.replace(failed(scenario), usage=Usage(input_tokens=300))
    )

    assert scenario.coordinator.state.budget.spent.tokens == 300


def test_a_summary_whose_server_tells_no_usage_has_spent_what_was_set_aside() -> None:
    scenario = limited(max_total_tokens=20_000)
    want(scenario)

    scenario.deliver(completed(scenario))

    assert scenario.coordinator.state.budget.spent.tokens == SUMMARY


@given(
    budget=st.integers(min_value=1_000, max_value=20_000),
    shown=st.integers(min_value=1, max_value=4_000),
    used=st.floats(min_value=0.0, max_value=1.0),
)
def test_a_summary_never_takes_from_the_budget_what_the_calls_after_it_need(
    budget: int, shown: int, used: float
) -> None:
    scenario = limited(max_total_tokens=budget)
    opened = scenario.emitted[-1]
    if not isinstance(opened, e.RoundOpened) or opened.final:
        return
    state = scenario.coordinator.state
    wish = e.SummaryWanted(
        call_id=state.call_id, round=1, of=(), messages=SHOWN, tokens=shown
    )
    (answer,) = scenario.deliver(wish)
    if isinstance(answer, e.SummaryRequested):
        most = int(scenario.coordinator.state.set_aside.tokens)
        usage = Usage(input_tokens=max(1, int(used * most)))
        scenario.deliver(msgspec.structs.replace(completed(scenario), usage=usage))

    briefing = opened.briefing_tokens or state.settings.briefing_tokens
    emitted = scenario.brief(tokens=briefing)

    assert limits(emitted) == []
    assert kinds(emitted) == ["reasoning_requested"]
