"""A replay recomputes what a trace shows of the acting components, and so finds a wrongly recorded trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from antiphon.composition import outcome
from antiphon.dispatcher import Registry, tool_from_function
from antiphon.history import Divergence, answer_in, replay
from antiphon.history.tool_versions import changes_of
from antiphon.history.verifying import AlarmCheck, CallerCheck
from antiphon.vocabulary.events import (
    DeadlineNeared,
    DeadlinePassed,
    Event,
    QueryClosed,
    QueryReceived,
    ReasoningStarted,
    Recorded,
    ResponseAssembled,
    SessionStalled,
    ToolsSettled,
)
from antiphon.vocabulary.ports import ToolOutput
from antiphon.vocabulary.values import StoredText
from tests.traces.conftest import Lines
from tests.traces.plants import ACTING, Plant
from tests.traces.test_replay import events_of

Trace = list[Recorded[Event]]
Alarm = DeadlineNeared | DeadlinePassed


def traces_with(lines: Lines, kind: Any) -> Iterator[tuple[Trace, int]]:
    """Traces with an event of this kind, each with the index of the first."""
    for each in list(lines.values())[:300]:
        trace = events_of(each)
        for place, recorded in enumerate(trace):
            if isinstance(recorded.event, kind):
                yield trace, place
                break


def changed(trace: Trace, place: int, **fields: object) -> Trace:
    event = replace(trace[place].event, **fields)
    return [*trace[:place], replace(trace[place], event=event), *trace[place + 1 :]]


def differs_at(trace: Trace, place: int) -> Divergence:
    divergence = replay(trace).divergence
    assert divergence is not None
    assert divergence.seq == place + 1
    return divergence


def test_the_check_finds_a_request_other_than_the_one_that_was_due(
    thousand: Lines,
) -> None:
    for trace, place in list(traces_with(thousand, ReasoningStarted))[:20]:
        started = trace[place].event
        assert isinstance(started, ReasoningStarted)
        for lost in (
            {"messages": started.request.messages[1:]},
            {"tools": StoredText('[{"name":"another"}]')},
            {"max_tokens": 1},
            {"model": "another"},
            {"tool_choice": '{"type":"any"}'},
        ):
            request = replace(started.request, **lost)

            divergence = differs_at(changed(trace, place, request=request), place)

            assert divergence.difference == "code"
            assert divergence.field.startswith(f"request.{next(iter(lost))}")


def test_tools_that_are_not_those_of_the_query_are_found(thousand: Lines) -> None:
    trace, place = next(traces_with(thousand, ReasoningStarted))

    others = changed(trace, place, tool_definitions=StoredText('[{"name":"a"}]'))

    assert "not those that the query began with" in differs_at(others, place).detail


@pytest.mark.parametrize(
    "change",
    [
        lambda settled: {"succeeded": settled.failed, "failed": settled.succeeded},
        lambda _: {"succeeded": (), "failed": ()},
        lambda settled: {"round": settled.round + 7},
    ],
    ids=["the other way round", "without calls", "another round"],
)
def test_a_settlement_that_does_not_follow_from_the_outcomes_is_found(
    change: Callable[[ToolsSettled], dict[str, Any]], thousand: Lines
) -> None:
    for trace, place in list(traces_with(thousand, ToolsSettled))[:20]:
        settled = trace[place].event
        assert isinstance(settled, ToolsSettled)

        assert (
            differs_at(changed(trace, place, **change(settled)), place).kind
            == "tools_settled"
        )


def test_a_round_that_was_never_settled_is_found_at_the_end(thousand: Lines) -> None:
    trace, place = next(traces_with(thousand, ToolsSettled))
    lost = [*trace[:place], *trace[place + 1 :]]

    divergence = replay(lost).divergence

    assert divergence is not None
    assert "tools_settled" in divergence.now


def test_a_check_that_raises_is_itself_the_finding(
    thousand: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(check: AlarmCheck, recorded: Recorded[Event]) -> None:
        raise LookupError(f"planted at {recorded.seq} in {type(check).__name__}")

    monkeypatch.setattr(AlarmCheck, "hear", fail)
    trace, _ = next(traces_with(thousand, Alarm))

    divergence = replay(trace).divergence

    assert divergence is not None
    assert "AlarmCheck raises now: LookupError" in divergence.detail


@pytest.mark.parametrize("share", [0.5, 0.9, 1.5])
def test_the_check_finds_an_alarm_at_a_wrong_time(
    share: float, thousand: Lines
) -> None:
    alarmed = list(traces_with(thousand, Alarm))
    assert len(alarmed) > 5

    for trace, place in alarmed:
        first, alarm = trace[0], trace[place]
        at = first.at + (alarm.at - first.at) * share
        moved = [*trace[:place], replace(alarm, at=at), *trace[place + 1 :]]

        divergence = replay(moved).divergence

        # A busy machine may delay an alarm, so the check allows some lateness, but no clearly early alarm.
        late_s = at - alarm.at
        settings = getattr(first.event, "settings", None)
        assert settings is not None
        if late_s > 1 + 0.05 * settings.deadline_s:
            assert divergence is not None
            assert (divergence.difference, divergence.seq) == ("time", alarm.seq)
        elif late_s < 0:
            assert divergence is not None
            assert (divergence.difference, divergence.seq) == ("code", alarm.seq)


def test_the_check_finds_an_alarm_with_a_wrong_time_left(thousand: Lines) -> None:
    for trace, place in traces_with(thousand, Alarm):
        assert differs_at(changed(trace, place, left_s=99.0), place).field == "left_s"


def test_the_check_finds_a_caller_who_got_nothing_when_no_answer_could_be_built(
    thousand: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = answer_in(events_of(thousand["q3"]))
    unanswered: Trace = []
    for recorded in events_of(thousand["q3"]):
        # The session gave up: only then does a query close without an answer.
        event = recorded.event
        if isinstance(event, ResponseAssembled):
            event = SessionStalled(waiting_for=("nobody",))
        if isinstance(event, QueryClosed):
            event = QueryClosed(status="failed")
        unanswered.append(replace(recorded, event=event))
    check = CallerCheck(unanswered)
    said = [check.hear(recorded) for recorded in unanswered]

    monkeypatch.setattr(
        outcome, "last_resort", lambda *_, **__: replace(answer, answer="")
    )
    check = CallerCheck(unanswered)
    unsaid = [check.hear(recorded) for recorded in unanswered]

    assert said == [None] * len(unanswered)
    assert unsaid[-1] is not None
    assert unsaid[-1].detail == "the caller receives another answer, or none, now"


@pytest.mark.parametrize("plant", ACTING, ids=lambda plant: plant.__name__)
def test_a_replay_finds_a_planted_change_of_an_acting_component_and_nothing_else(
    plant: Plant, thousand: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    found = [
        divergence
        for lines in list(thousand.values())[:150]
        if (divergence := replay(events_of(lines)).divergence) is not None
    ]

    assert {divergence.kind for divergence in found} <= {
        "reasoning_started",
        "tools_settled",
        "deadline_neared",
        "deadline_passed",
        "query_closed",
    }
    assert {divergence.difference for divergence in found} <= {"code"}


def test_the_replay_of_a_trace_older_than_the_profile_says_what_it_did_not_compare(
    thousand: Lines,
) -> None:
    trace = events_of(thousand["q3"])
    without: Trace = []
    for recorded in trace:
        if isinstance(recorded.event, ReasoningStarted):
            event = replace(recorded.event, profile=None, tool_definitions=None)
            recorded = replace(recorded, event=event)
        without.append(recorded)

    whole, partly = replay(trace), replay(without)

    assert (whole.divergence, whole.skipped) == (None, ())
    assert partly.divergence is None
    assert [reason.split(":")[0] for reason in partly.skipped] == ["the requests"]


# --- the tools of now


async def search(text: str, course: str | None = None) -> ToolOutput:
    """Searches the courses."""
    return ToolOutput(text=text)


async def lookup(text: str) -> str:
    """Looks something up."""
    return text


def definitions(*tools: Any) -> StoredText:
    return Registry([tool_from_function(tool) for tool in tools]).definitions()


def test_a_replay_names_a_changed_tool_and_the_change() -> None:
    now = definitions(search, lookup).text
    renamed = StoredText(now.replace('"course":', '"course_name":'))
    retyped = StoredText(now.replace('"type":"string"', '"type":"integer"', 1))
    described = StoredText(now.replace("Looks something up.", "Finds a word."))

    assert changes_of(definitions(search, lookup), definitions(lookup)) == [
        "the tool `search` is gone"
    ]
    assert changes_of(definitions(lookup), definitions(search, lookup)) == [
        "the tool `search` is new"
    ]
    assert changes_of(StoredText(now), renamed) == [
        "search: the parameter `course` is gone",
        "search: the parameter `course_name` is new",
    ]
    [change] = changes_of(StoredText(now), retyped)
    assert change.endswith("has another schema")
    assert changes_of(StoredText(now), described) == [
        "lookup: it is described otherwise"
    ]


def test_definitions_that_cannot_be_read_are_a_change_and_no_crash() -> None:
    for hostile in ("", "[", "3", '[{"no":"name"}]', "[" * 5_000):
        assert changes_of(StoredText(hostile), definitions(lookup))


def test_a_trace_whose_tools_are_others_now_replays_by_its_own_and_says_which(
    thousand: Lines,
) -> None:
    trace = events_of(thousand["q3"])
    first = trace[0].event
    assert isinstance(first, QueryReceived)
    started = next(
        recorded.event
        for recorded in trace
        if isinstance(recorded.event, ReasoningStarted)
    )
    tools = started.tool_definitions
    assert tools is not None
    assert dict(first.versions)["tools"] == tools.key

    same = replay(trace, tools=tools)
    renamed = replay(trace, tools=StoredText(tools.text.replace('"text":', '"words":')))

    assert (same.divergence, same.skipped) == (None, ())
    assert renamed.divergence is None
    assert renamed.verified == same.verified
    [said] = renamed.skipped
    assert "search: the parameter `text` is gone" in said


def test_a_trace_that_names_its_tools_by_their_hash_alone_says_that_they_are_others(
    thousand: Lines,
) -> None:
    trace: Trace = []
    for recorded in events_of(thousand["q3"]):
        if isinstance(recorded.event, ReasoningStarted):
            request = replace(recorded.event.request, tools=None)
            event = replace(
                recorded.event, request=request, profile=None, tool_definitions=None
            )
            recorded = replace(recorded, event=event)
        trace.append(recorded)

    result = replay(trace, tools=StoredText("[]"))

    assert result.divergence is None
    assert result.skipped[-1].startswith("today's tools: they are others")
