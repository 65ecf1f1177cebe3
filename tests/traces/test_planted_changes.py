"""Ten changes of the program, planted one at a time: a replay reports each at the right event, with the right class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

import antiphon.history.requests
from antiphon.assembler import assembler as assembling
from antiphon.coordinator import QueryCoordinator, breaker, deadline, tools
from antiphon.coordinator.query_state import Decision, QueryState
from antiphon.history.divergence import Divergence, DivergenceKind
from antiphon.history.folding import decided_events, failures_by_event
from antiphon.history.replaying import replay, replay_lines
from antiphon.synthesizer import synthesizer as synthesizing
from antiphon.traces import from_json
from antiphon.vocabulary.events import (
    BreakerTripped,
    BriefingPrepared,
    Event,
    ReasoningFailed,
    Recorded,
    ResponseAssembled,
    ToolCallsConfirmed,
    ToolCallStreamed,
    ToolsSettled,
)
from antiphon.vocabulary.values import StoredText
from tests.traces.conftest import Lines

Patch = pytest.MonkeyPatch
QUERY_RULES: dict[type[Event], Any] = dict(QueryCoordinator.rules)
"""A copy of the coordinator's table that tests may change."""
Plant = Callable[[Patch], None]


def first_divergences(
    thousand: Lines,
) -> list[tuple[list[Recorded[Event]], Divergence]]:
    """Returns the first difference of every trace that differs now."""
    found = []
    for lines in thousand.values():
        events = [from_json(line) for line in lines]
        result = replay(events, [msgspec.json.decode(line)["event"] for line in lines])
        if result.divergence is not None:
            found.append((events, result.divergence))
    return found


def wrap(patch: Patch, module: Any, name: str, change: Callable[[Any], Any]) -> None:
    """Patches a rule to change its result."""
    rule = getattr(module, name)
    patch.setattr(module, name, lambda *given, **named: change(rule(*given, **named)))


def wrap_rule(
    patch: Patch, kind: type[Event], change: Callable[[Decision], Decision]
) -> None:
    """Patches the coordinator's decision at one kind of event."""
    rule = QUERY_RULES[kind]
    patch.setitem(
        QUERY_RULES, kind, lambda state, recorded: change(rule(state, recorded))
    )


def events_changed(
    change: Callable[[tuple[Event, ...]], tuple[Event, ...]],
) -> Callable[[Decision], Decision]:
    def changed(decision: Decision) -> Decision:
        state, events = decision
        return state, change(events)

    return changed


def a_limit_is_forgotten(patch: Patch) -> None:
    refuse = breaker.refuse_call
    patch.setattr(
        tools,
        "refuse_call",
        lambda state, call: None if len(state.asked) < 99 else refuse(state, call),
    )


def a_timeout_is_shorter(patch: Patch) -> None:
    wrap(patch, deadline, "call_timeout_s", lambda seconds: seconds * 0.5)


def another_model_is_asked(patch: Patch) -> None:
    def ask_another(events: tuple[Event, ...]) -> tuple[Event, ...]:
        return tuple(
            _with(event, "ReasoningRequested", model="another") for event in events
        )

    wrap_rule(patch, BriefingPrepared, events_changed(ask_another))


def a_briefing_loses_its_last_source(patch: Patch) -> None:
    wrap(
        patch,
        synthesizing,
        "brief",
        lambda event: (
            replace(event, sources=event.sources[:-1])
            if getattr(event, "sources", ())
            else event
        ),
    )


def facts_are_numbered_from_nought(patch: Patch) -> None:
    def renumber(result: Any) -> Any:
        memory, event = result
        if event is None:
            return result
        return memory, replace(
            event, facts=tuple(replace(fact, id=f"f0{fact.id}") for fact in event.facts)
        )

    wrap(patch, synthesizing, "settle", renumber)


def an_answer_is_too_sure(patch: Patch) -> None:
    wrap(
        patch,
        assembling,
        "assemble",
        lambda response: replace(response, confidence="high"),
    )


def calls_are_confirmed_before_they_are_requested(patch: Patch) -> None:
    def confirmed_first(events: tuple[Event, ...]) -> tuple[Event, ...]:
        return tuple(
            sorted(events, key=lambda event: not isinstance(event, ToolCallsConfirmed))
        )

    wrap(patch, tools, "request_tools", events_changed(confirmed_first))


def a_recovery_is_told_of_last(patch: Patch) -> None:
    wrap_rule(
        patch, ReasoningFailed, events_changed(lambda events: tuple(reversed(events)))
    )


def a_handler_raises(patch: Patch) -> None:
    def fail(state: QueryState, said: object) -> Decision:
        raise LookupError("planted")

    patch.setitem(QUERY_RULES, ToolsSettled, fail)  # type: ignore[misc]  # mypy cannot tell the key's type


def the_prompt_is_another(patch: Patch) -> None:
    wrap(
        patch,
        antiphon.history.requests,
        "system_prompt",
        lambda _: StoredText("[]"),
    )
    patch.setattr(antiphon.history.requests, "SYSTEM_VERSION", "another")


@pytest.fixture(autouse=True)
def changeable_rules(monkeypatch: Patch) -> None:
    """Makes the coordinator use the copy of its table."""
    monkeypatch.setattr(QueryCoordinator, "rules", QUERY_RULES)


def _with(event: Event, kind: str, **fields: object) -> Event:
    return replace(event, **fields) if type(event).__name__ == kind else event


First = Callable[[Sequence[Recorded[Event]]], int | None]
"""Finds the event of a trace at which the change must show first; `anywhere` leaves that open."""


def is_a(*kinds: str, **having: object) -> First:
    """Finds the first event of these kinds whose named fields are not empty."""
    return first_of(
        lambda event: (
            type(event).__name__ in kinds
            and all(getattr(event, name) for name in having)
        )
    )


def first_of(fits: Callable[[Event], bool]) -> First:
    return lambda events: next((said.seq for said in events if fits(said.event)), None)


def anywhere(_: object) -> None:
    return None


def the_first_refused_call(events: Sequence[Recorded[Event]]) -> int | None:
    """Finds the first refusal; that of a call still streaming is silent, and shows at the next decision."""
    coordinator = QueryCoordinator(lambda _: None)
    failed = failures_by_event(events)
    for said in events:
        event = said.event
        if isinstance(event, BreakerTripped) and event.tool_call_id:
            return said.seq
        if QueryCoordinator.handler_name(type(event)) in failed.get(said.seq, ()):
            continue
        if isinstance(event, ToolCallStreamed) and _refused_silently(
            coordinator.state, event
        ):
            return next(
                each.seq
                for each in events
                if each.seq > said.seq and type(each.event) in decided_events()
            )
        if type(event) in coordinator.rules:
            coordinator.hear(said)
    return None


def _refused_silently(state: QueryState, event: ToolCallStreamed) -> bool:
    awaited = state.phase == "reasoning" and state.call_id == event.call_id
    return (
        state.settings.early_dispatch
        and awaited
        and breaker.refuse_call(state, event.call) is not None
    )


ROUND_OF_CALLS = ("breaker_tripped", "tool_requested")
PLANTED: list[tuple[Plant, DivergenceKind, tuple[str, ...], str, First]] = [
    (
        a_limit_is_forgotten,
        "code",
        ("breaker_tripped", "calls_abandoned", "tool_requested", "answer_requested"),
        "",
        the_first_refused_call,
    ),
    (
        a_timeout_is_shorter,
        "code",
        ("reasoning_requested",),
        "timeout_s",
        is_a("ReasoningRequested"),
    ),
    (
        another_model_is_asked,
        "code",
        ("reasoning_requested",),
        "model",
        is_a("ReasoningRequested"),
    ),
    (
        a_briefing_loses_its_last_source,
        "code",
        ("briefing_prepared",),
        "sources[",
        anywhere,
    ),
    (
        facts_are_numbered_from_nought,
        "code",
        ("context_synthesized",),
        "facts[0].id",
        is_a("ContextSynthesized", facts=True),
    ),
    (
        an_answer_is_too_sure,
        "code",
        ("response_assembled",),
        "confidence",
        first_of(
            lambda event: (
                isinstance(event, ResponseAssembled) and event.confidence != "high"
            )
        ),
    ),
    (
        calls_are_confirmed_before_they_are_requested,
        "order",
        (*ROUND_OF_CALLS, "calls_abandoned"),
        "",
        anywhere,
    ),
    (
        a_recovery_is_told_of_last,
        "order",
        ("recovery_started", "calls_abandoned"),
        "",
        anywhere,
    ),
    (a_handler_raises, "code", ("tools_settled",), "", is_a("ToolsSettled")),
]


@pytest.mark.parametrize(
    ("plant", "difference", "kinds", "field", "first"),
    PLANTED,
    ids=[row[0].__name__ for row in PLANTED],
)
def test_a_replay_reports_a_planted_change_at_the_first_event_that_shows_it(
    plant: Plant,
    difference: DivergenceKind,
    kinds: tuple[str, ...],
    field: str,
    first: First,
    thousand: Lines,
    monkeypatch: Patch,
) -> None:
    plant(monkeypatch)

    found = first_divergences(dict(list(thousand.items())[:150]))

    assert len(found) > 10
    for events, divergence in found:
        assert divergence.difference == difference
        assert divergence.kind in kinds
        assert divergence.field.startswith(field)
        assert divergence.chain[0].startswith(f"{divergence.seq} ")
        assert first is anywhere or first(events) == divergence.seq


def test_a_replay_mentions_a_newer_system_prompt_once_and_finds_no_difference(
    thousand: Lines, monkeypatch: Patch
) -> None:
    before = replay_lines(thousand["q3"])

    the_prompt_is_another(monkeypatch)
    result = replay_lines(thousand["q3"])

    assert (result.divergence, result.verified) == (None, before.verified)
    [said] = result.skipped
    assert said.startswith("today's system prompt, version another")


def test_a_trace_of_another_vocabulary_is_a_difference_of_schema_at_its_first_such_event(
    thousand: Lines,
) -> None:
    lines = list(thousand["q1"])
    lines[4] = lines[4].replace(b'"kind":', b'"renamed_field":1,"kind":')

    divergence = replay_lines(lines).divergence

    assert divergence is not None
    assert (divergence.seq, divergence.difference) == (5, "schema")


def test_a_field_that_is_newer_than_the_trace_is_not_compared(thousand: Lines) -> None:
    lines = [
        line.replace(b'"dropped":[],', b"").replace(b',"dropped":[]', b"")
        for line in thousand["q1"]
    ]

    assert lines != list(thousand["q1"])
    assert replay_lines(lines).divergence is None
