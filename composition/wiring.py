"""Who hears what: the one table of subscriptions, and the parts that a session is built from."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from antiphon.assembler import ResponseAssembler
from antiphon.bus import Components, Ports, Subscription
from antiphon.composition.caller import Caller
from antiphon.coordinator import DeadlineTimer, ProviderCircuit, ProviderWatch, QueryCoordinator
from antiphon.dispatcher import Registry, ToolCircuits, ToolDispatcher
from antiphon.engine import CitationStyles, ReasoningEngine, SummaryEngine, rate_of
from antiphon.synthesizer import ContextSynthesizer
from antiphon.traces import Redaction
from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Reasoner, Recorded
from antiphon.vocabulary.ports import Clock, Model, Publish, TraceStore
from antiphon.vocabulary.values import Rate, StoredText


@dataclass(frozen=True)
class Resources:
    """What all sessions share: the doors to the outside, and what is remembered of their health.

    None of them holds a query's state.
    """

    clock: Clock
    models: Mapping[Reasoner, Model]
    tools: Registry
    tool_definitions: StoredText
    styles: CitationStyles | None = None
    chance: Callable[[], float] = random.random
    provider_circuit: ProviderCircuit = field(default_factory=ProviderCircuit)
    tool_circuits: ToolCircuits = field(default_factory=ToolCircuits)
    redaction: Redaction = field(default_factory=Redaction)
    rate_of: Callable[[str, str | None], Rate | None] = rate_of


class Interceptor(Protocol):
    """Stands round one query: between it and its doors, its store, and those who hear it (faults/ breaks it so)."""

    def recall(self, prefix: Sequence[Recorded[e.AnyEvent]], /) -> None:
        """Takes in what happened before the query is gone on with; said first, where there was anything."""

    def parts(self, parts: Resources, /) -> Resources: ...

    def store(self, store: TraceStore, /) -> TraceStore: ...

    def first(self, first: e.QueryReceived, /) -> e.QueryReceived: ...

    def components(self, components: Components, /) -> Components: ...


class NoInterceptor:
    """What stands round a query as a rule."""

    def recall(self, _: Sequence[Recorded[e.AnyEvent]], /) -> None:
        """There is nothing that it would have to know."""

    def parts(self, parts: Resources, /) -> Resources:
        return parts

    def store(self, store: TraceStore, /) -> TraceStore:
        return store

    def first(self, first: e.QueryReceived, /) -> e.QueryReceived:
        return first

    def components(self, components: Components, /) -> Components:
        return components


def redacting(publish: Publish, redaction: Redaction) -> Publish:
    """`publish`, for events that hold text from outside."""
    if not redaction:
        return publish

    def blotted(event: e.AnyEvent, /) -> None:
        publish(redaction.event(event))

    return blotted


def wire(parts: Resources, ports: Ports, caller: Caller) -> tuple[Subscription, ...]:
    """Builds one session's components and says who hears what, in the order in which they hear it."""
    # What acting parts bring from outside is blotted before it is an event: decisions rest on what is recorded.
    publish = redacting(ports.publish, parts.redaction)
    coordinator = QueryCoordinator(ports.publish)
    timer = DeadlineTimer(ports.publish, ports.spawn, parts.clock)
    engine = ReasoningEngine(
        publish,
        ports.tell,
        ports.spawn,
        parts.clock,
        models=parts.models,
        tools=parts.tool_definitions,
        styles=parts.styles,
        chance=parts.chance,
    )
    summaries = SummaryEngine(publish, ports.spawn, parts.clock, models=parts.models, chance=parts.chance)
    dispatcher = ToolDispatcher(publish, ports.spawn, parts.clock, parts.tools, parts.tool_circuits)
    watch = ProviderWatch(parts.provider_circuit)
    synthesizer = ContextSynthesizer(ports.publish)
    assembler = ResponseAssembler(ports.publish)
    return (
        (e.QueryReceived, synthesizer.on_query_received),
        (e.QueryReceived, assembler.on_query_received),
        (e.QueryReceived, timer.on_query_received),
        (e.QueryReceived, coordinator.on_query_received),
        (e.QueryReceived, caller.on_query_received),
        (e.RoundOpened, synthesizer.on_round_opened),
        (e.SummaryWanted, coordinator.on_summary_wanted),
        (e.SummaryRequested, summaries.on_summary_requested),
        (e.SummarySkipped, assembler.on_summary_skipped),
        (e.SummarySkipped, synthesizer.on_summary_skipped),
        (e.SummaryFailed, watch.on_summary_failed),
        (e.SummaryFailed, assembler.on_summary_failed),
        (e.SummaryFailed, coordinator.on_summary_failed),
        (e.SummaryFailed, synthesizer.on_summary_failed),
        (e.SummaryCompleted, watch.on_summary_completed),
        (e.SummaryCompleted, assembler.on_summary_completed),
        (e.SummaryCompleted, coordinator.on_summary_completed),
        (e.SummaryCompleted, synthesizer.on_summary_completed),
        (e.BriefingPrepared, assembler.on_briefing_prepared),
        (e.BriefingPrepared, coordinator.on_briefing_prepared),
        (e.ReasoningRequested, assembler.on_reasoning_requested),
        (e.ReasoningRequested, engine.on_reasoning_requested),
        (e.ReasoningRequested, watch.on_reasoning_requested),
        (e.ReasoningStarted, assembler.on_reasoning_started),
        (e.ToolCallStreamed, coordinator.on_tool_call_streamed),
        (e.ReasoningRetried, assembler.on_reasoning_retried),
        (e.ReasoningFailed, assembler.on_reasoning_failed),
        (e.ReasoningFailed, watch.on_reasoning_failed),
        (e.ReasoningFailed, coordinator.on_reasoning_failed),
        (e.ReasoningCompleted, synthesizer.on_reasoning_completed),
        (e.ReasoningCompleted, assembler.on_reasoning_completed),
        (e.ReasoningCompleted, watch.on_reasoning_completed),
        (e.ReasoningCompleted, coordinator.on_reasoning_completed),
        (e.ToolRequested, synthesizer.on_tool_requested),
        (e.ToolRequested, dispatcher.on_tool_requested),
        (e.ToolStarted, synthesizer.on_tool_started),
        (e.ToolSubstituted, synthesizer.on_tool_substituted),
        (e.ToolSubstituted, assembler.on_tool_substituted),
        (e.ToolSucceeded, synthesizer.on_tool_succeeded),
        (e.ToolFailed, synthesizer.on_tool_failed),
        (e.ToolFailed, assembler.on_tool_failed),
        (e.ToolAnsweredLate, coordinator.on_tool_answered_late),
        (e.ToolCallsConfirmed, assembler.on_tool_calls_confirmed),
        (e.ToolCallsConfirmed, dispatcher.on_tool_calls_confirmed),
        (e.ToolsSettled, synthesizer.on_tools_settled),
        (e.ToolsSettled, coordinator.on_tools_settled),
        (e.ContextSynthesized, assembler.on_context_synthesized),
        (e.ContextSynthesized, coordinator.on_context_synthesized),
        (e.BreakerTripped, synthesizer.on_breaker_tripped),
        (e.BreakerTripped, assembler.on_breaker_tripped),
        (e.DeadlineNeared, coordinator.on_deadline_neared),
        (e.DeadlinePassed, coordinator.on_deadline_passed),
        (e.CallsAbandoned, engine.on_calls_abandoned),
        (e.CallsAbandoned, summaries.on_calls_abandoned),
        (e.CallsAbandoned, dispatcher.on_calls_abandoned),
        (e.RecoveryStarted, assembler.on_recovery_started),
        (e.QueryCancelled, coordinator.on_query_cancelled),
        (e.QueryResumed, timer.on_query_resumed),
        (e.QueryResumed, coordinator.on_query_resumed),
        (e.HandlerFailed, assembler.on_handler_failed),
        (e.SessionStalled, coordinator.on_session_stalled),
        (e.RecordingFailed, assembler.on_recording_failed),
        (e.AnswerRequested, assembler.on_answer_requested),
        (e.ResponseAssembled, caller.on_response_assembled),
        (e.ResponseAssembled, coordinator.on_response_assembled),
        (e.QueryClosed, timer.on_query_closed),
        (e.QueryClosed, caller.on_query_closed),
    )
