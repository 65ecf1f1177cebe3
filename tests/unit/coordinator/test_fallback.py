"""The fallback reasoner searches before it answers, and every call of the model leaves it the time."""

from __future__ import annotations

import pytest

from antiphon.coordinator import ProviderCircuit, ProviderWatch, deadline
from antiphon.coordinator.query_state import QueryState
from antiphon.coordinator.steps import NO_MODEL, SEARCH
from antiphon.vocabulary import events as e
from antiphon.vocabulary.values import QuerySettings, ToolCall
from tests.unit.coordinator.scenario import Scenario, call, kinds, limits


def scenario(provider_open: bool = False, **settings: object) -> Scenario:
    """A query whose fallback reasoner searches."""
    wishes: dict[str, object] = {"early_dispatch": False} | settings
    return Scenario(
        QuerySettings(**wishes),  # type: ignore[arg-type]  # settings of the test's own
        tools=(SEARCH,),
        fallback_searches=True,
        provider_open=provider_open,
    )


def requested(events: list[e.Event]) -> e.ReasoningRequested:
    (request,) = [each for each in events if isinstance(each, e.ReasoningRequested)]
    return request


def searched(events: list[e.Event]) -> ToolCall | None:
    for event in events:
        if isinstance(event, e.ToolRequested):
            return event.call
    return None


@pytest.mark.parametrize("max_rounds", [0, 2])
@pytest.mark.parametrize("deadline_s", [1.0, 2.0, 10.0, 60.0, 600.0])
def test_every_call_of_the_model_leaves_the_fallback_reasoner_its_share(
    deadline_s: float, max_rounds: int
) -> None:
    query = scenario(max_rounds=max_rounds, deadline_s=deadline_s)

    asked = requested(query.brief())

    assert asked.final is (max_rounds == 0)
    settings = QuerySettings(deadline_s=deadline_s)
    ends_s = asked.elapsed_s + asked.timeout_s
    assert ends_s + asked.kept_s == pytest.approx(deadline_s)
    share_s = deadline.fallback_s(settings)
    assert ends_s <= deadline.passed_after_s(settings) - share_s
    # A timer that rings at the same moment would decide by chance what becomes of the query.
    if not asked.final:
        assert ends_s <= deadline.neared_after_s(settings) - share_s


def test_the_fallback_reasoner_and_its_tools_may_use_the_time_kept_for_a_models_final_call() -> (
    None
):
    settings = QuerySettings(deadline_s=10.0)
    state = QueryState(settings=settings, fallback_searches=True)

    away = QueryState(settings=settings, fallback_searches=True, reasoner="fallback")

    assert deadline.tool_timeout_s(state, 6.0) == deadline.LEAST_CALL_S
    assert deadline.tool_timeout_s(away, 6.0) == 9.5 - 0.5 - 6.0
    assert deadline.call_timeout_s(away, 6.0) == 9.5 - 6.0


@pytest.mark.parametrize("failure", ["timeout", "overloaded", "connection"])
def test_a_model_that_fails_in_a_query_without_rounds_is_followed_by_a_search_and_then_the_fallback(
    failure: e.FailureKind,
) -> None:
    query = scenario(max_rounds=0)
    query.brief()

    after_failure = query.fail(failure)
    after_search = query.settle(facts=2)

    assert searched(after_failure) is not None
    assert kinds(after_search) == ["round_opened"]
    asked = requested(query.brief())
    assert (asked.reasoner, asked.final) == ("fallback", True)


def test_an_open_circuit_in_a_query_without_rounds_begins_with_a_search() -> None:
    query = scenario(provider_open=True, max_rounds=0)

    assert limits(query.emitted) == ["provider_open"]
    assert searched(query.emitted) is not None
    query.settle(facts=1)
    assert requested(query.brief()).reasoner == "fallback"


def test_a_model_that_fails_with_its_final_call_is_followed_by_a_search_where_nothing_was_found() -> (
    None
):
    query = scenario(max_rounds=1)
    query.brief()
    query.reply(call(1))
    query.settle(facts=0)
    query.brief()

    after_failure = query.fail()

    assert searched(after_failure) is not None


def test_with_facts_in_hand_the_fallback_reasoner_answers_from_them_at_once() -> None:
    query = scenario(max_rounds=1)
    query.brief()
    query.reply(call(1))
    query.settle(facts=1)
    query.brief()

    after_failure = query.fail()

    assert kinds(after_failure) == ["recovery_started", "round_opened"]


def test_a_search_that_finds_nothing_ends_the_query_with_a_plain_statement_of_it() -> (
    None
):
    query = scenario(max_rounds=0)
    query.brief()
    query.fail()

    after_search = query.settle(facts=0)

    assert after_search == [e.AnswerRequested(mode="partial", why=NO_MODEL)]


def test_the_deadline_nearing_while_the_fallback_reasoner_searches_does_not_end_the_search() -> (
    None
):
    query = scenario()
    query.brief()
    query.fail("timeout")
    query.brief()
    query.reply(call(1))

    neared = query.deliver(e.DeadlineNeared(left_s=16), at=44.0)
    after_search = query.settle(facts=1, at=44.1)

    assert kinds(neared) == ["breaker_tripped"]
    assert kinds(after_search) == ["round_opened"]
    assert requested(query.brief(at=44.1)).reasoner == "fallback"


def test_the_deadline_nearing_before_the_fallback_reasoner_has_searched_leads_to_a_search() -> (
    None
):
    query = scenario()
    query.brief()
    query.fail("timeout")
    query.deliver(e.DeadlineNeared(left_s=16), at=44.0)

    after_briefing = query.brief(at=44.0)

    assert searched(after_briefing) is not None


def test_without_a_search_tool_the_fallback_reasoner_is_asked_all_the_same() -> None:
    query = Scenario(QuerySettings(max_rounds=0), fallback_searches=True)
    query.brief()

    query.fail()

    assert requested(query.brief()).reasoner == "fallback"


# A context that is too small.


@pytest.mark.parametrize("failure", ["context_window", "invalid_request"])
def test_a_request_without_facts_that_is_refused_is_not_made_smaller(
    failure: e.FailureKind,
) -> None:
    query = scenario()
    query.brief(tokens=31)

    after_failure = query.fail(failure)

    (opened,) = [each for each in after_failure if isinstance(each, e.RoundOpened)]
    assert (opened.call_id, opened.briefing_tokens) == ("call-1-fallback", None)


def test_a_smaller_briefing_still_shows_something_and_binds_the_model_alone() -> None:
    query = scenario()
    query.brief(tokens=31)
    query.reply(call(1))
    query.settle(facts=2)
    query.brief(tokens=120)

    (_, smaller) = query.fail("context_window")
    query.brief(tokens=100)
    (_, by_fallback) = query.fail("context_window")

    assert isinstance(smaller, e.RoundOpened)
    assert isinstance(by_fallback, e.RoundOpened)
    assert (smaller.call_id, smaller.briefing_tokens) == ("call-2-smaller", 100)
    assert by_fallback.briefing_tokens is None


# The provider's circuit.


def watched(
    failure: e.FailureKind, timeout_s: float, kept_s: float, elapsed_s: float = 0.0
) -> ProviderCircuit:
    """The circuit of a service with a deadline of 60 s, after one failed call."""
    circuit = ProviderCircuit(failures=1, deadline_s=60.0)
    watch = ProviderWatch(circuit)
    request = e.ReasoningRequested(
        call_id="c", round=1, final=False, reasoner="primary", model="m", max_tokens=9, timeout_s=timeout_s,
        max_rounds=2, messages=(), elapsed_s=elapsed_s, kept_s=kept_s,
    )  # fmt: skip
    failed = e.ReasoningFailed(call_id="c", failure=failure, detail="")
    watch.on_reasoning_requested(
        e.Recorded(query_id="q", seq=1, cause=0, at=0.0, event=request)
    )
    watch.on_reasoning_failed(
        e.Recorded(query_id="q", seq=2, cause=1, at=1.0, event=failed)
    )
    return circuit


@pytest.mark.parametrize(
    ("failure", "timeout_s", "kept_s", "elapsed_s", "opens"),
    [
        ("timeout", 41.0, 19.0, 0.0, True),
        ("timeout", 21.0, 19.0, 20.0, True),
        ("timeout", 0.9, 1.1, 0.0, False),
        ("timeout", 1e-6, 19.0, 0.0, False),
        ("overloaded", 0.9, 1.1, 0.0, True),
        ("silence", 0.9, 1.1, 0.0, True),
        ("context_window", 41.0, 19.0, 0.0, False),
        ("invalid_request", 41.0, 19.0, 0.0, False),
    ],
)
def test_a_timeout_that_a_callers_own_limit_caused_counts_for_no_circuit(
    failure: e.FailureKind,
    timeout_s: float,
    kept_s: float,
    elapsed_s: float,
    opens: bool,
) -> None:
    assert watched(failure, timeout_s, kept_s, elapsed_s).is_open is opens
