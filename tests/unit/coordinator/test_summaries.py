"""Summarising calls and the breaker: when one may be made, with how much time, and what happens when it is too late."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator import ProviderCircuit, ProviderWatch, ledger
from tests.unit.coordinator.test_rules import Story, call, kinds
from vocabulary import events as e
from vocabulary.values import Kept, Message, QuerySettings, Usage

SHOWN = (Message(role="user", content=(Kept('{"type":"text","text":"m"}'),)),)


def want(story: Story, at: float = 0.0) -> list[e.AnyEvent]:
    state = story.coordinator.state
    return story.tell(e.SummaryWanted(call_id=state.call_id, round=state.round, of=(), messages=SHOWN, tokens=9), at=at)


def completed(story: Story) -> e.SummaryCompleted:
    call_id = story.coordinator.state.call_id
    return e.SummaryCompleted(
        call_id=f"{call_id}-summary", for_call=call_id, content=(), text=Kept("x"), stop_reason="end_turn",
        usage=Usage(), model="m", message_id="m",
    )  # fmt: skip


def failed(story: Story, failure: e.FailureKind = "overloaded") -> e.SummaryFailed:
    call_id = story.coordinator.state.call_id
    return e.SummaryFailed(call_id=f"{call_id}-summary", for_call=call_id, failure=failure, detail="529")


def skipped(events: list[e.AnyEvent]) -> str:
    (event,) = events
    assert isinstance(event, e.SummarySkipped)
    return event.limit


def test_a_summary_is_asked_for_with_a_model_and_limits_of_its_own() -> None:
    story = Story(QuerySettings(compression="model", compression_model="small", early_dispatch=False))

    (asked,) = want(story, at=4.0)

    assert isinstance(asked, e.SummaryRequested)
    assert (asked.call_id, asked.for_call, asked.model, asked.messages) == ("call-1-summary", "call-1", "small", SHOWN)
    assert (asked.max_tokens, asked.timeout_s) == (400, 10.0)


def test_the_briefing_that_follows_leads_to_the_call_as_ever() -> None:
    story = Story()
    want(story)

    assert story.tell(completed(story)) == []
    assert kinds(story.brief()) == ["reasoning_requested"]


def test_a_summary_is_refused_where_little_time_is_left() -> None:
    assert skipped(want(Story(), at=43.0)) == "deadline"


def test_a_summary_is_refused_where_the_model_is_away() -> None:
    assert skipped(want(Story(provider_open=True))) == "provider_open"


def test_there_are_no_more_summaries_than_rounds() -> None:
    story = Story(QuerySettings(max_rounds=1, early_dispatch=False))
    want(story)
    story.tell(failed(story))
    story.brief()
    story.reply(call(1))
    story.settle()

    assert skipped(want(story)) == "summaries"


def test_a_wish_that_is_heard_twice_is_one_call() -> None:
    story = Story()
    want(story)

    assert want(story) == []


def test_a_wish_for_a_call_that_is_over_is_not_heard() -> None:
    story = Story()
    story.brief()

    assert want(story) == []


def test_a_summary_under_way_is_given_up_when_the_time_for_tools_is_used_up() -> None:
    story = Story()
    want(story)

    said = story.tell(e.DeadlineNeared(left_s=15.0), at=44.0)

    assert kinds(said) == ["breaker_tripped", "calls_abandoned"]
    story.tell(failed(story, "abandoned"))
    assert kinds(story.brief(at=44.0)) == ["round_opened"]
    assert story.coordinator.state.final


def test_the_final_call_does_not_wait_for_its_summary_beyond_its_share() -> None:
    story = Story(QuerySettings(max_rounds=1, early_dispatch=False))
    story.brief()
    story.reply(call(1))
    story.settle()
    want(story)

    (abandoned,) = story.tell(e.DeadlineNeared(left_s=15.0), at=44.0)

    assert abandoned == e.CallsAbandoned(call_ids=("call-2-summary",), why="the time for summaries is used up")


def test_a_summary_under_way_ends_with_the_deadline() -> None:
    story = Story()
    want(story)

    said = story.tell(e.DeadlinePassed(left_s=1.0), at=59.0)

    assert kinds(said) == ["breaker_tripped", "calls_abandoned", "answer_requested"]


def test_a_summary_that_was_lost_is_done_without() -> None:
    story = Story()
    want(story)

    assert skipped(story.tell(e.SessionStalled(waiting_for=("engine",)))) == "stalled"
    assert kinds(story.brief()) == ["reasoning_requested"]


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

    timeout_s = ledger.summary_timeout_s(settings, elapsed_s)

    assert timeout_s <= max(0.0, ledger.neared_after_s(settings) - elapsed_s) or timeout_s < ledger.SUMMARY_LEAST_S


@pytest.mark.parametrize(("failure", "opens"), [("overloaded", True), ("timeout", False), ("not_found", False)])
def test_only_failures_that_tell_of_the_provider_open_its_circuit(failure: e.FailureKind, opens: bool) -> None:
    circuit = ProviderCircuit(failures=1)
    watch = ProviderWatch(circuit)
    event = e.SummaryFailed(call_id="s", for_call="c", failure=failure, detail="")

    watch.on_summary_failed(e.Recorded(query_id="q", seq=1, cause=0, at=0.0, event=event))

    assert circuit.is_open is opens
