"""The dispatcher's table of rules: a round is settled once every confirmed call has its outcome."""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.vocabulary.deciding import Decider, Rules
from antiphon.vocabulary.events import (
    DISPATCHER,
    Recorded,
    ToolCallsConfirmed,
    ToolFailed,
    ToolsSettled,
    ToolSucceeded,
)
from antiphon.vocabulary.values import Value


class ConfirmedRound(Value, frozen=True, kw_only=True):
    """The calls of a round that waits for outcomes."""

    round: int
    tool_call_ids: tuple[str, ...]


class DispatcherState(Value, frozen=True, kw_only=True):
    """The tool calls of a query that have ended, and the rounds that wait for others."""

    succeeded: frozenset[str] = frozenset()
    failed: frozenset[str] = frozenset()
    waiting: tuple[ConfirmedRound, ...] = ()


Decision = tuple[DispatcherState, tuple[ToolsSettled, ...]]


def after_tool_succeeded(
    state: DispatcherState, recorded: Recorded[ToolSucceeded]
) -> Decision:
    """Settles the round whose last call it was."""
    call_id = {recorded.event.tool_call_id}
    return _settle(
        replace(
            state, succeeded=state.succeeded | call_id, failed=state.failed - call_id
        )
    )


def after_tool_failed(
    state: DispatcherState, recorded: Recorded[ToolFailed]
) -> Decision:
    """Settles the round whose last call it was."""
    call_id = {recorded.event.tool_call_id}
    return _settle(
        replace(
            state, succeeded=state.succeeded - call_id, failed=state.failed | call_id
        )
    )


def after_tool_calls_confirmed(
    state: DispatcherState, recorded: Recorded[ToolCallsConfirmed]
) -> Decision:
    """Settles the round if its calls have already ended: tools start before the reply is complete."""
    confirmed = ConfirmedRound(
        round=recorded.event.round, tool_call_ids=recorded.event.tool_call_ids
    )
    others = [each for each in state.waiting if each.round != confirmed.round]
    return _settle(replace(state, waiting=(*others, confirmed)))


def _settle(state: DispatcherState) -> Decision:
    ended = state.succeeded | state.failed
    waiting = [
        each for each in state.waiting if not ended.issuperset(each.tool_call_ids)
    ]
    settled = [_settled(state, each) for each in state.waiting if each not in waiting]
    return replace(state, waiting=tuple(waiting)), tuple(settled)


def _settled(state: DispatcherState, confirmed: ConfirmedRound) -> ToolsSettled:
    ids = confirmed.tool_call_ids
    return ToolsSettled(
        round=confirmed.round,
        succeeded=tuple([each for each in ids if each in state.succeeded]),
        failed=tuple([each for each in ids if each in state.failed]),
    )


RULES: Rules[DispatcherState] = {
    ToolSucceeded: after_tool_succeeded,
    ToolFailed: after_tool_failed,
    ToolCallsConfirmed: after_tool_calls_confirmed,
}


class ToolDispatcher(Decider[DispatcherState]):
    """Decides when all tool calls of a round have ended; `ToolPerformer` runs them."""

    role = DISPATCHER
    initial = DispatcherState()
    rules = RULES
    emits = (ToolsSettled,)
