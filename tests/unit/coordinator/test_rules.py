"""The coordinator's decisions, as scenarios: what came, what is emitted."""

from __future__ import annotations

from antiphon.vocabulary import events as e
from antiphon.vocabulary.values import QuerySettings, ToolCall, Usage
from tests.unit.coordinator.scenario import Scenario, call, kinds, limits


def test_a_question_opens_the_first_round() -> None:
    scenario = Scenario()

    assert scenario.emitted == [
        e.RoundOpened(round=1, call_id="call-1", final=False, rounds_left=1)
    ]


def test_a_briefing_leads_to_one_reasoning_call_within_the_time_left() -> None:
    scenario = Scenario(QuerySettings(deadline_s=60, final_reserve_s=15))

    (request,) = scenario.brief(at=10.0)

    assert isinstance(request, e.ReasoningRequested)
    assert request.timeout_s == 60 - 1 - 15 - 10
    assert (request.elapsed_s, request.kept_s) == (10, 1 + 15)


def test_a_reply_without_tool_calls_is_the_answer_in_whichever_round_it_comes() -> None:
    for rounds_before in (0, 1, 2):
        scenario = Scenario()
        for number in range(rounds_before):
            scenario.brief()
            scenario.reply(call(number))
            scenario.settle()
        scenario.brief()

        emitted = scenario.reply(text="It ranks.", stop_reason="end_turn")

        assert emitted == [
            e.AnswerRequested(mode="reply", call_id=f"call-{rounds_before + 1}")
        ]


def test_two_rounds_of_tools_are_followed_by_a_final_call_and_no_more() -> None:
    scenario = Scenario()
    scenario.brief()
    scenario.reply(call(1))
    scenario.settle()
    scenario.brief()
    scenario.reply(call(2))

    emitted = scenario.settle()

    assert emitted == [
        e.RoundOpened(round=3, call_id="call-3", final=True, rounds_left=0)
    ]


def test_a_third_round_is_refused_and_the_trace_says_so() -> None:
    scenario = Scenario(QuerySettings(max_rounds=1))
    scenario.brief()
    scenario.reply(call(1))
    scenario.settle()
    scenario.brief()

    emitted = scenario.reply(call(2), text="Let me look further.")

    assert limits(emitted) == ["rounds"]
    assert emitted[-1] == e.AnswerRequested(mode="reply", call_id="call-2")


def test_no_rounds_allowed_means_one_call_without_tools() -> None:
    scenario = Scenario(QuerySettings(max_rounds=0))

    assert scenario.emitted == [
        e.RoundOpened(round=1, call_id="call-1", final=True, rounds_left=0)
    ]


def test_all_calls_of_a_reply_are_requested_at_once_and_confirmed() -> None:
    scenario = Scenario()
    scenario.brief()

    emitted = scenario.reply(call(1), call(2))

    assert kinds(emitted) == [
        "tool_requested",
        "tool_requested",
        "tool_calls_confirmed",
    ]


def test_a_call_that_was_made_before_is_not_run_again() -> None:
    scenario = Scenario()
    scenario.brief()
    scenario.reply(call(1, query="bm25"))
    scenario.settle()
    scenario.brief()

    emitted = scenario.reply(call(2, query="bm25"), call(3, query="cosine"))

    assert limits(emitted) == ["repeated_call"]
    assert emitted[-1] == e.ToolCallsConfirmed(round=2, tool_call_ids=("t3",))


def test_when_every_call_is_a_repeat_the_final_call_follows() -> None:
    scenario = Scenario()
    scenario.brief()
    scenario.reply(call(1, query="bm25"))
    scenario.settle()
    scenario.brief()

    emitted = scenario.reply(call(2, query="bm25"))

    assert kinds(emitted) == ["breaker_tripped", "round_opened"]
    assert isinstance(emitted[-1], e.RoundOpened)
    assert emitted[-1].final


def test_a_reply_with_too_many_calls_runs_as_many_as_a_round_may_hold() -> None:
    scenario = Scenario(QuerySettings(max_tool_calls=2, early_dispatch=False))
    scenario.brief()

    emitted = scenario.reply(*(call(n) for n in range(5)))

    assert limits(emitted) == ["tool_calls"] * 3
    assert emitted[-1] == e.ToolCallsConfirmed(round=1, tool_call_ids=("t0", "t1"))


def test_a_streamed_call_starts_early_and_once() -> None:
    scenario = Scenario(QuerySettings(early_dispatch=True))
    scenario.brief()
    streamed = scenario.deliver(
        e.ToolCallStreamed(call_id="call-1", round=1, call=call(1))
    )

    emitted = scenario.reply(call(1), call(2))

    assert kinds(streamed) == ["tool_requested"]
    assert kinds(emitted) == ["tool_requested", "tool_calls_confirmed"]
    assert emitted[-1] == e.ToolCallsConfirmed(round=1, tool_call_ids=("t1", "t2"))


def test_calls_started_early_are_given_up_when_the_model_refuses() -> None:
    scenario = Scenario(QuerySettings(early_dispatch=True))
    scenario.brief()
    scenario.deliver(e.ToolCallStreamed(call_id="call-1", round=1, call=call(1)))

    emitted = scenario.reply(call(1), stop_reason="refusal")

    assert emitted == [
        e.CallsAbandoned(call_ids=("t1",), why="the model refused"),
        e.AnswerRequested(mode="reply", call_id="call-1"),
    ]


def test_a_failed_call_is_made_again_by_the_fallback_reasoner() -> None:
    scenario = Scenario()
    scenario.brief()

    emitted = scenario.fail()
    (request,) = scenario.brief()

    assert kinds(emitted) == ["recovery_started", "round_opened"]
    assert isinstance(request, e.ReasoningRequested)
    assert (request.reasoner, request.round, request.call_id) == (
        "fallback",
        1,
        "call-1-fallback",
    )


def test_where_another_model_is_configured_it_is_asked_before_the_fallback_reasoner() -> (
    None
):
    scenario = Scenario(QuerySettings(other_model="another"))
    scenario.brief()

    first, asked_other = scenario.fail(), scenario.brief()
    second, asked_fallback = scenario.fail(), scenario.brief()

    assert [
        event.level
        for event in (*first, *second)
        if isinstance(event, e.RecoveryStarted)
    ] == ["round", "response"]
    requests = [
        event
        for event in (*asked_other, *asked_fallback)
        if isinstance(event, e.ReasoningRequested)
    ]
    assert [(request.model, request.reasoner) for request in requests] == [
        ("another", "primary"),
        ("another", "fallback"),
    ]
    assert requests[0].call_id == "call-1-other"


def test_another_model_is_no_help_where_the_provider_cannot_be_reached_or_refuses_the_key() -> (
    None
):
    for failure in ("connection", "authentication"):
        scenario = Scenario(QuerySettings(other_model="another"))
        scenario.brief()

        emitted = scenario.fail(failure)

        assert [
            event.level for event in emitted if isinstance(event, e.RecoveryStarted)
        ] == ["response"]


def test_when_the_fallback_fails_too_the_answer_is_built_from_the_facts() -> None:
    scenario = Scenario()
    scenario.brief()
    scenario.fail()
    scenario.brief()

    (asked,) = scenario.fail()

    assert isinstance(asked, e.AnswerRequested)
    assert (asked.mode, asked.why) == ("partial", "no model could be asked")


def test_a_call_given_up_with_its_reply_may_be_asked_for_again_by_the_fallback() -> (
    None
):
    scenario = Scenario(QuerySettings(early_dispatch=True))
    scenario.brief()
    scenario.deliver(
        e.ToolCallStreamed(call_id="call-1", round=1, call=call(1, query="bm25"))
    )
    scenario.fail()
    scenario.brief()

    emitted = scenario.reply(call(2, query="bm25"))

    assert kinds(emitted) == ["tool_requested", "tool_calls_confirmed"]


def test_an_open_provider_circuit_goes_straight_to_the_fallback() -> None:
    scenario = Scenario(provider_open=True)

    (request,) = scenario.brief()

    assert limits(scenario.emitted) == ["provider_open"]
    assert isinstance(request, e.ReasoningRequested)
    assert request.reasoner == "fallback"


def test_the_deadline_nearing_in_a_tool_round_gives_up_the_tools_and_opens_the_final_call() -> (
    None
):
    scenario = Scenario()
    scenario.brief()
    scenario.reply(call(1))

    neared = scenario.deliver(e.DeadlineNeared(left_s=16), at=44.0)
    emitted = scenario.settle(facts=0, failed=["t1"], at=44.0)

    assert kinds(neared) == ["breaker_tripped", "calls_abandoned"]
    assert emitted == [
        e.RoundOpened(round=2, call_id="call-2", final=True, rounds_left=0)
    ]


def test_the_deadline_nearing_in_a_reasoning_call_leads_to_the_final_call() -> None:
    scenario = Scenario()
    scenario.brief()

    neared = scenario.deliver(e.DeadlineNeared(left_s=16))
    emitted = scenario.fail("abandoned")

    assert (
        e.CallsAbandoned(
            call_ids=("call-1",),
            why="the time for tools is used up; the final call follows",
        )
        in neared
    )
    assert emitted == [
        e.RoundOpened(round=2, call_id="call-2", final=True, rounds_left=0)
    ]


def test_the_deadline_nearing_while_the_briefing_is_made_turns_that_round_into_the_final_one() -> (
    None
):
    scenario = Scenario()
    scenario.deliver(e.DeadlineNeared(left_s=16))

    emitted = scenario.brief()

    assert emitted == [
        e.RoundOpened(round=2, call_id="call-2", final=True, rounds_left=0)
    ]


def test_the_final_call_is_left_in_peace_when_the_deadline_nears() -> None:
    scenario = Scenario(QuerySettings(max_rounds=0))
    scenario.brief()

    assert scenario.deliver(e.DeadlineNeared(left_s=16)) == []


def test_the_deadline_passing_gives_up_the_call_and_answers_from_what_is_there() -> (
    None
):
    scenario = Scenario(QuerySettings(max_rounds=0))
    scenario.brief()

    passed = scenario.deliver(e.DeadlinePassed(left_s=1))
    (asked,) = scenario.fail("abandoned")

    assert kinds(passed) == ["breaker_tripped", "calls_abandoned"]
    assert isinstance(asked, e.AnswerRequested)
    assert asked.mode == "partial"


def test_a_stalled_session_answers_then_answers_plainly_then_closes() -> None:
    scenario = Scenario()
    stalled = e.SessionStalled(
        waiting_for=("ContextSynthesizer owes BriefingPrepared",)
    )

    modes = [
        kinds(scenario.deliver(stalled)),
        kinds(scenario.deliver(stalled)),
        kinds(scenario.deliver(stalled)),
    ]

    assert modes == [["recovery_started", "answer_requested"]] * 2 + [["query_closed"]]
    asked = [
        event.mode for event in scenario.emitted if isinstance(event, e.AnswerRequested)
    ]
    assert asked == ["partial", "plain"]


def test_an_empty_reply_gets_one_final_call_and_then_an_answer_from_the_facts() -> None:
    scenario = Scenario()
    scenario.brief()
    first = scenario.reply(stop_reason="end_turn")
    scenario.brief()

    second = scenario.reply(stop_reason="end_turn")

    assert kinds(first) == ["recovery_started", "round_opened"]
    assert kinds(second) == ["recovery_started", "answer_requested"]


def test_the_first_failed_tool_ends_tool_use_when_the_query_asks_for_that() -> None:
    scenario = Scenario(QuerySettings(on_tool_failure="stop"))
    scenario.brief()
    scenario.reply(call(1))

    emitted = scenario.settle(failed=["t1"])

    assert limits(emitted) == ["tool_failed"]
    assert isinstance(emitted[-1], e.RoundOpened)
    assert emitted[-1].final


def test_a_later_round_that_brings_nothing_new_is_the_last() -> None:
    scenario = Scenario(QuerySettings(max_rounds=5))
    scenario.brief()
    scenario.reply(call(1))
    scenario.settle(facts=0)
    scenario.brief()
    scenario.reply(call(2))

    emitted = scenario.settle(facts=0)

    assert limits(emitted) == ["no_progress"]


def test_late_outcomes_of_a_finished_call_change_nothing() -> None:
    scenario = Scenario()
    scenario.brief()
    scenario.fail()

    late = e.ReasoningFailed(call_id="call-1", failure="timeout", detail="late")

    assert scenario.deliver(late) == []


def test_an_assembled_answer_closes_the_query_with_how_it_came() -> None:
    scenario = Scenario()
    scenario.brief()
    scenario.reply(text="It ranks.", stop_reason="end_turn")
    answer = e.ResponseAssembled(
        answer="It ranks.", sources=(), source_links=(), citations=(), confidence="high", indicators=(), rounds=0,
        reasoner="m", calls=1, usage=Usage(),
    )  # fmt: skip

    assert scenario.deliver(answer) == [e.QueryClosed(status="answered")]
    assert scenario.deliver(answer) == []


def test_a_cancelled_query_closes_at_once() -> None:
    scenario = Scenario()

    assert scenario.deliver(e.QueryCancelled(why="gone")) == [
        e.QueryClosed(status="cancelled")
    ]


def test_two_calls_of_one_id_are_not_both_run_though_their_arguments_differ() -> None:
    scenario = Scenario()
    scenario.brief()
    second = ToolCall(id="t1", name="search", arguments='{"query": "another"}')

    emitted = scenario.reply(call(1), second)

    assert limits(emitted) == ["repeated_call"]
    assert emitted[-1] == e.ToolCallsConfirmed(round=1, tool_call_ids=("t1",))
