"""The synthesizer's table of rules, which turn events into memory, and memory into the next call's messages."""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.synthesizer.briefing import brief
from antiphon.synthesizer.memory import Memory, remember, settle, within
from antiphon.synthesizer.summaries import want_summary
from antiphon.synthesizer.transcript import transcribe
from antiphon.vocabulary.deciding import Decider, Rules
from antiphon.vocabulary.events import (
    SYNTHESIZER,
    BreakerTripped,
    Event,
    QueryReceived,
    ReasoningCompleted,
    Recorded,
    RoundOpened,
    SummaryCompleted,
    SummaryFailed,
    SummarySkipped,
    ToolFailed,
    ToolRequested,
    ToolsSettled,
    ToolStarted,
    ToolSubstituted,
    ToolSucceeded,
)
from antiphon.vocabulary.values import Value


class Synthesis(Value, frozen=True, kw_only=True):
    """The synthesizer's state: the memory, and the round whose briefing waits for a summary, if any."""

    memory: Memory = Memory()
    waiting: RoundOpened | None = None


Decision = tuple[Synthesis, tuple[Event, ...]]


def after_memorable_event(state: Synthesis, recorded: Recorded[Event]) -> Decision:
    """Remembers an event that needs no reaction."""
    return replace(state, memory=remember(state.memory, recorded.event)), ()


def after_tools_settled(state: Synthesis, recorded: Recorded[ToolsSettled]) -> Decision:
    """Takes a round's outcomes into memory; a round that settles twice counts once."""
    memory, synthesized = settle(state.memory, recorded.event)
    state = replace(state, memory=memory)
    if synthesized is None:
        return state, ()
    return state, (synthesized,)


def after_round_opened(state: Synthesis, recorded: Recorded[RoundOpened]) -> Decision:
    """Prepares the briefing, or the transcript if calls see that; or first requests a summary."""
    opened = recorded.event
    memory = within(state.memory, opened)
    state = Synthesis(memory=memory)
    # A round with a limit of its own gets a briefing, because a transcript cannot be shortened.
    if memory.settings.context == "transcript" and opened.briefing_tokens is None:
        return state, (
            transcribe(memory.transcript, memory.head, memory.sources, opened),
        )
    wanted = want_summary(memory, opened)
    if wanted is None:
        return _briefed(state, opened)
    return Synthesis(memory=remember(memory, wanted), waiting=opened), (wanted,)


def after_summary(
    state: Synthesis,
    recorded: Recorded[SummaryCompleted]
    | Recorded[SummaryFailed]
    | Recorded[SummarySkipped],
) -> Decision:
    """Prepares the waiting briefing, with or without the summary."""
    opened = state.waiting
    if opened is None or opened.call_id != recorded.event.for_call:
        return state, ()
    return _briefed(Synthesis(memory=remember(state.memory, recorded.event)), opened)


def _briefed(state: Synthesis, opened: RoundOpened) -> Decision:
    briefing = brief(state.memory, opened)
    return replace(state, memory=remember(state.memory, briefing)), (briefing,)


RULES: Rules[Synthesis] = {
    QueryReceived: after_memorable_event,
    RoundOpened: after_round_opened,
    SummarySkipped: after_summary,
    SummaryFailed: after_summary,
    SummaryCompleted: after_summary,
    ReasoningCompleted: after_memorable_event,
    ToolRequested: after_memorable_event,
    ToolStarted: after_memorable_event,
    ToolSubstituted: after_memorable_event,
    ToolSucceeded: after_memorable_event,
    ToolFailed: after_memorable_event,
    ToolsSettled: after_tools_settled,
    BreakerTripped: after_memorable_event,
}


class ContextSynthesizer(Decider[Synthesis]):
    """Decides what to remember of one query, and what each of its reasoning calls sees."""

    role = SYNTHESIZER
    initial = Synthesis()
    rules = RULES
