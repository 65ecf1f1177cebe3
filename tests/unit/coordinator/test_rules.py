"""The coordinator's decisions, told as stories: what came, what is said."""

from __future__ import annotations

from antiphon.vocabulary import events as e
from antiphon.vocabulary.values import QuerySettings, Usage
from tests.unit.coordinator.stories import Story, call, kinds, limits


def test_a_question_opens_the_first_round() -> None:
    story = Story()

    assert story.said == [e.RoundOpened(round=1, call_id="call-1", final=False, rounds_left=1)]


def test_a_briefing_leads_to_one_reasoning_call_within_the_time_left() -> None:
    story = Story(QuerySettings(deadline_s=60, final_reserve_s=15))

    (request,) = story.brief(at=10.0)

    assert isinstance(request, e.ReasoningRequested)
    assert request.timeout_s == 60 - 1 - 15 - 10
    assert (request.elapsed_s, request.kept_s) == (10, 1 + 15)


def test_a_reply_without_tool_calls_is_the_answer_in_whichever_round_it_comes() -> None:
    for rounds_before in (0, 1, 2):
        story = Story()
        for number in range(rounds_before):
            story.brief()
            story.reply(call(number))
            story.settle()
        story.brief()

        said = story.reply(text="It ranks.", stop_reason="end_turn")

        assert said == [e.AnswerRequested(mode="reply", call_id=f"call-{rounds_before + 1}")]


def test_two_rounds_of_tools_are_followed_by_a_final_call_and_no_more() -> None:
    story = Story()
    story.brief()
    story.reply(call(1))
    story.settle()
    story.brief()
    story.reply(call(2))

    said = story.settle()

    assert said == [e.RoundOpened(round=3, call_id="call-3", final=True, rounds_left=0)]


def test_a_third_round_is_refused_and_the_trace_says_so() -> None:
    story = Story(QuerySettings(max_rounds=1))
    story.brief()
    story.reply(call(1))
    story.settle()
    story.brief()

    said = story.reply(call(2), text="Let me look further.")

    assert limits(said) == ["rounds"]
    assert said[-1] == e.AnswerRequested(mode="reply", call_id="call-2")


def test_no_rounds_allowed_means_one_call_without_tools() -> None:
    story = Story(QuerySettings(max_rounds=0))

    assert story.said == [e.RoundOpened(round=1, call_id="call-1", final=True, rounds_left=0)]


def test_all_calls_of_a_reply_are_requested_at_once_and_confirmed() -> None:
    story = Story()
    story.brief()

    said = story.reply(call(1), call(2))

    assert kinds(said) == ["tool_requested", "tool_requested", "tool_calls_confirmed"]


def test_a_call_that_was_made_before_is_not_run_again() -> None:
    story = Story()
    story.brief()
    story.reply(call(1, query="bm25"))
    story.settle()
    story.brief()

    said = story.reply(call(2, query="bm25"), call(3, query="cosine"))

    assert limits(said) == ["repeated_call"]
    assert said[-1] == e.ToolCallsConfirmed(round=2, tool_call_ids=("t3",))


def test_when_every_call_is_a_repeat_the_final_call_follows() -> None:
    story = Story()
    story.brief()
    story.reply(call(1, query="bm25"))
    story.settle()
    story.brief()

    said = story.reply(call(2, query="bm25"))

    assert kinds(said) == ["breaker_tripped", "round_opened"]
    assert isinstance(said[-1], e.RoundOpened)
    assert said[-1].final


def test_a_reply_with_too_many_calls_runs_as_many_as_a_round_may_hold() -> None:
    story = Story(QuerySettings(max_tool_calls=2, early_dispatch=False))
    story.brief()

    said = story.reply(*(call(n) for n in range(5)))

    assert limits(said) == ["tool_calls"] * 3
    assert said[-1] == e.ToolCallsConfirmed(round=1, tool_call_ids=("t0", "t1"))


def test_a_streamed_call_starts_early_and_once() -> None:
    story = Story(QuerySettings(early_dispatch=True))
    story.brief()
    streamed = story.tell(e.ToolCallStreamed(call_id="call-1", round=1, call=call(1)))

    said = story.reply(call(1), call(2))

    assert kinds(streamed) == ["tool_requested"]
    assert kinds(said) == ["tool_requested", "tool_calls_confirmed"]
    assert said[-1] == e.ToolCallsConfirmed(round=1, tool_call_ids=("t1", "t2"))


def test_calls_started_early_are_given_up_when_the_model_refuses() -> None:
    story = Story(QuerySettings(early_dispatch=True))
    story.brief()
    story.tell(e.ToolCallStreamed(call_id="call-1", round=1, call=call(1)))

    said = story.reply(call(1), stop_reason="refusal")

    assert said == [
        e.CallsAbandoned(call_ids=("t1",), why="the model refused"),
        e.AnswerRequested(mode="reply", call_id="call-1"),
    ]


def test_a_failed_call_is_made_again_by_the_fallback_reasoner() -> None:
    story = Story()
    story.brief()

    said = story.fail()
    (request,) = story.brief()

    assert kinds(said) == ["recovery_started", "round_opened"]
    assert isinstance(request, e.ReasoningRequested)
    assert (request.reasoner, request.round, request.call_id) == ("fallback", 1, "call-1-fallback")


def test_where_another_model_is_configured_it_is_asked_before_the_fallback_reasoner() -> None:
    story = Story(QuerySettings(other_model="another"))
    story.brief()

    first, asked_other = story.fail(), story.brief()
    second, asked_fallback = story.fail(), story.brief()

    assert [event.level for event in (*first, *second) if isinstance(event, e.RecoveryStarted)] == ["round", "response"]
    requests = [event for event in (*asked_other, *asked_fallback) if isinstance(event, e.ReasoningRequested)]
    assert [(request.model, request.reasoner) for request in requests] == [
        ("another", "primary"),
        ("another", "fallback"),
    ]
    assert requests[0].call_id == "call-1-other"


def test_another_model_is_no_help_where_the_provider_cannot_be_reached_or_refuses_the_key() -> None:
    for failure in ("connection", "authentication"):
        story = Story(QuerySettings(other_model="another"))
        story.brief()

        said = story.fail(failure)

        assert [event.level for event in said if isinstance(event, e.RecoveryStarted)] == ["response"]


def test_when_the_fallback_fails_too_the_answer_is_built_from_the_facts() -> None:
    story = Story()
    story.brief()
    story.fail()
    story.brief()

    (asked,) = story.fail()

    assert isinstance(asked, e.AnswerRequested)
    assert (asked.mode, asked.why) == ("partial", "no model could be asked")


def test_a_call_given_up_with_its_reply_may_be_asked_for_again_by_the_fallback() -> None:
    story = Story(QuerySettings(early_dispatch=True))
    story.brief()
    story.tell(e.ToolCallStreamed(call_id="call-1", round=1, call=call(1, query="bm25")))
    story.fail()
    story.brief()

    said = story.reply(call(2, query="bm25"))

    assert kinds(said) == ["tool_requested", "tool_calls_confirmed"]


def test_an_open_provider_circuit_goes_straight_to_the_fallback() -> None:
    story = Story(provider_open=True)

    (request,) = story.brief()

    assert limits(story.said) == ["provider_open"]
    assert isinstance(request, e.ReasoningRequested)
    assert request.reasoner == "fallback"


def test_the_deadline_nearing_in_a_tool_round_gives_up_the_tools_and_opens_the_final_call() -> None:
    story = Story()
    story.brief()
    story.reply(call(1))

    neared = story.tell(e.DeadlineNeared(left_s=16), at=44.0)
    said = story.settle(facts=0, failed=["t1"], at=44.0)

    assert kinds(neared) == ["breaker_tripped", "calls_abandoned"]
    assert said == [e.RoundOpened(round=2, call_id="call-2", final=True, rounds_left=0)]


def test_the_deadline_nearing_in_a_reasoning_call_leads_to_the_final_call() -> None:
    story = Story()
    story.brief()

    neared = story.tell(e.DeadlineNeared(left_s=16))
    said = story.fail("abandoned")

    assert e.CallsAbandoned(call_ids=("call-1",), why="the time for tools is used up; the final call follows") in neared
    assert said == [e.RoundOpened(round=2, call_id="call-2", final=True, rounds_left=0)]


def test_the_deadline_nearing_while_the_briefing_is_made_turns_that_round_into_the_final_one() -> None:
    story = Story()
    story.tell(e.DeadlineNeared(left_s=16))

    said = story.brief()

    assert said == [e.RoundOpened(round=2, call_id="call-2", final=True, rounds_left=0)]


def test_the_final_call_is_left_in_peace_when_the_deadline_nears() -> None:
    story = Story(QuerySettings(max_rounds=0))
    story.brief()

    assert story.tell(e.DeadlineNeared(left_s=16)) == []


def test_the_deadline_passing_gives_up_the_call_and_answers_from_what_is_there() -> None:
    story = Story(QuerySettings(max_rounds=0))
    story.brief()

    passed = story.tell(e.DeadlinePassed(left_s=1))
    (asked,) = story.fail("abandoned")

    assert kinds(passed) == ["breaker_tripped", "calls_abandoned"]
    assert isinstance(asked, e.AnswerRequested)
    assert asked.mode == "partial"


def test_a_stalled_session_answers_then_answers_plainly_then_closes() -> None:
    story = Story()
    stalled = e.SessionStalled(waiting_for=("ContextSynthesizer owes BriefingPrepared",))

    modes = [kinds(story.tell(stalled)), kinds(story.tell(stalled)), kinds(story.tell(stalled))]

    assert modes == [["recovery_started", "answer_requested"]] * 2 + [["query_closed"]]
    asked = [event.mode for event in story.said if isinstance(event, e.AnswerRequested)]
    assert asked == ["partial", "plain"]


def test_an_empty_reply_gets_one_final_call_and_then_an_answer_from_the_facts() -> None:
    story = Story()
    story.brief()
    first = story.reply(stop_reason="end_turn")
    story.brief()

    second = story.reply(stop_reason="end_turn")

    assert kinds(first) == ["recovery_started", "round_opened"]
    assert kinds(second) == ["recovery_started", "answer_requested"]


def test_the_first_failed_tool_ends_tool_use_when_the_query_asks_for_that() -> None:
    story = Story(QuerySettings(on_tool_failure="stop"))
    story.brief()
    story.reply(call(1))

    said = story.settle(failed=["t1"])

    assert limits(said) == ["tool_failed"]
    assert isinstance(said[-1], e.RoundOpened)
    assert said[-1].final


def test_a_later_round_that_brings_nothing_new_is_the_last() -> None:
    story = Story(QuerySettings(max_rounds=5))
    story.brief()
    story.reply(call(1))
    story.settle(facts=0)
    story.brief()
    story.reply(call(2))

    said = story.settle(facts=0)

    assert limits(said) == ["no_progress"]


def test_late_outcomes_of_a_finished_call_change_nothing() -> None:
    story = Story()
    story.brief()
    story.fail()

    late = e.ReasoningFailed(call_id="call-1", failure="timeout", detail="late")

    assert story.tell(late) == []


def test_an_assembled_answer_closes_the_query_with_how_it_came() -> None:
    story = Story()
    story.brief()
    story.reply(text="It ranks.", stop_reason="end_turn")
    answer = e.ResponseAssembled(
        answer="It ranks.", sources=(), source_links=(), citations=(), confidence="high", indicators=(), rounds=0,
        reasoner="m", calls=1, usage=Usage(),
    )  # fmt: skip

    assert story.tell(answer) == [e.QueryClosed(status="answered")]
    assert story.tell(answer) == []


def test_a_cancelled_query_closes_at_once() -> None:
    story = Story()

    assert story.tell(e.QueryCancelled(why="gone")) == [e.QueryClosed(status="cancelled")]
