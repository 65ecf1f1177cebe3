"""Acts in a recorded fork in the place of engine, dispatcher and timer: it publishes what the recording holds.

Nothing goes out from here: no model is asked and no tool is run, and so nothing can cost anything. What came from
outside comes in its recorded order and at its recorded times, each event when its call was requested. Where a call is
requested that the recording does not hold, the query stops and says so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from antiphon.composition import Resources, Wiring, redacting, wire
from antiphon.dispatcher import Settlement
from antiphon.engine import (
    CacheMarks,
    CitationStyles,
    PreparedRequest,
    prepare,
    traits_of,
)
from antiphon.history.recorded_order import RecordedClock, WaitingEvents
from antiphon.history.recording import (
    CallRecord,
    Recording,
    Reply,
    Result,
    missing_reply,
    missing_result,
)
from antiphon.vocabulary import events as e
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Ports, Subscription, on

REPLACED = frozenset(
    {
        "ReasoningEngine",
        "SummaryEngine",
        "ToolDispatcher",
        "DeadlineTimer",
        "ProviderWatch",
    }
)
"""The acting components whose part the recording plays; subscribers from outside act as they always do."""


class RecordedActions:
    """Plays the part of the outside from a recording.

    Args:
        clock: Is set to the time of each event that is published.
        after: The last event that the fork shares; of the timer's only those after it are still to come.
        shift_s: Seconds by which the fork is later than the recording.
    """

    def __init__(
        self,
        ports: Ports,
        resources: Resources,
        recording: Recording,
        clock: RecordedClock,
        after: int,
        shift_s: float,
    ) -> None:
        self._publish = redacting(ports.publish, resources.redaction)
        self._spawn = ports.spawn
        self._resources = resources
        self._styles = resources.styles or CitationStyles()
        self._recording = recording
        self._clock = clock
        self._shift_s = shift_s
        self._settlement = Settlement()
        self._marks: dict[str, CacheMarks] = {}
        self._waiting = WaitingEvents()
        self._under_way: dict[str, Event] = {}
        self._stop_because: dict[str, str] = {}
        self._unfinished: dict[str, str] = {}
        self._stepping = False
        self._timer = [each for each in recording.timer if each.seq > after]

    def subscriptions(self) -> tuple[Subscription, ...]:
        """Returns what it hears: requests, and its own events, after each of which the next one comes."""
        own: tuple[type[Event], ...] = (
            *_kinds_of(Reply),
            *_kinds_of(Result),
            e.ReasoningStarted,
            e.ReasoningRetried,
            e.ToolCallStreamed,
            e.ToolStarted,
            e.ToolSubstituted,
            e.ToolAnsweredLate,
            e.DeadlineNeared,
            e.DeadlinePassed,
        )
        return (
            on(e.QueryReceived, self.on_begun),
            on(e.QueryResumed, self.on_begun),
            on(e.ReasoningRequested, self.on_model_requested),
            on(e.SummaryRequested, self.on_model_requested),
            on(e.ToolRequested, self.on_tool_requested),
            on(e.ToolCallsConfirmed, self.on_tool_calls_confirmed),
            on(e.CallsAbandoned, self.on_calls_abandoned),
            *[on(kind, self.on_published) for kind in own],
        )

    def recall(self, recorded: Recorded[Event]) -> None:
        """Takes in an event that the fork shares with the recording."""
        event = recorded.event
        if isinstance(event, Result):
            self._settlement.end(
                event.tool_call_id, succeeded=isinstance(event, e.ToolSucceeded)
            )

    def on_begun(self, _: Recorded[Event]) -> None:
        """Lets the timer's events wait for their turn."""
        for recorded in self._timer:
            self._waiting.add(recorded, "", recorded.event)
        self._timer = []
        self._go_on()

    def on_published(self, _: Recorded[Event]) -> None:
        """Lets the next event come, once all that follows from this one has happened."""
        self._go_on()

    def on_model_requested(
        self, recorded: Recorded[e.ReasoningRequested | e.SummaryRequested]
    ) -> None:
        """Lets what came of the call wait for its turn."""
        asked = recorded.event
        record = self._recording.reply_to(asked)
        self._under_way[asked.call_id] = asked
        words = missing_reply(asked, self._recording)
        if record is None:
            self._stop_because[asked.call_id] = words
        else:
            self._expect(asked.call_id, record, words)
            self._announce(asked, record)
        self._go_on()

    def on_tool_requested(self, recorded: Recorded[e.ToolRequested]) -> None:
        """Lets what came of the tool call wait for its turn."""
        call = recorded.event.call
        # Ids are the model's: where it repeats one, the first call's outcome stands for both.
        if call.id in self._under_way or self._settlement.has_ended(call.id):
            return
        self._under_way[call.id] = recorded.event
        record = self._recording.result_of(call)
        if record is None:
            self._stop_because[call.id] = missing_result(call)
        else:
            self._expect(call.id, record, missing_result(call))
            for each in record.events:
                # A call that was asked for under another id is answered under its own.
                event = replace(each.event, tool_call_id=call.id)
                self._waiting.add(each, call.id, event)
        self._go_on()

    def on_tool_calls_confirmed(self, recorded: Recorded[e.ToolCallsConfirmed]) -> None:
        """Settles the round where all its calls have ended already."""
        confirmed = recorded.event
        for settled in self._settlement.confirm(
            confirmed.round, confirmed.tool_call_ids
        ):
            self._publish(settled)

    def on_calls_abandoned(self, recorded: Recorded[e.CallsAbandoned]) -> None:
        """Ends those of the calls that are under way, as engine and dispatcher do."""
        abandoned = recorded.event
        for call_id in abandoned.call_ids:
            request = self._under_way.get(call_id)
            if request is None:
                continue
            self._waiting.forget(call_id)
            self._end(self._abandoned(request, abandoned.why))

    def _abandoned(self, request: Event, why: str) -> Event:
        """Returns the outcome of a call that is abandoned: as it was recorded, with what the call had used."""
        record: CallRecord | None = None
        if isinstance(request, e.ToolRequested):
            record = self._recording.result_of(request.call)
        elif isinstance(request, e.ReasoningRequested | e.SummaryRequested):
            record = self._recording.reply_to(request)
        if record is not None and record.abandoned is not None:
            return record.abandoned
        return _abandoned(request, why)

    def _expect(self, call_id: str, record: CallRecord, words: str) -> None:
        """Notes a call that never came to an outcome: something else ended it, which may not happen now."""
        if record.outcome is None:
            self._unfinished[call_id] = words

    def _announce(
        self, asked: e.ReasoningRequested | e.SummaryRequested, record: CallRecord
    ) -> None:
        """Lets the call's events wait, with the request as it would be sent now where it was another one."""
        before = self._recording.asked_as(asked.call_id)
        request = None
        if isinstance(asked, e.ReasoningRequested) and _shown(asked) != _shown(before):
            request = self._prepared(asked)
        for each in record.events:
            event = each.event
            if isinstance(event, e.ReasoningStarted) and request is not None:
                event = replace(
                    event,
                    request=replace(request.request, stream=event.request.stream),
                    repairs=request.repairs,
                    caching=request.caching,
                )
            elif isinstance(event, e.ToolCallStreamed | e.ReasoningCompleted):
                event = replace(event, round=asked.round)
            self._waiting.add(each, asked.call_id, event)

    def _prepared(self, asked: e.ReasoningRequested) -> PreparedRequest | None:
        """Returns the request as the engine would prepare it; None where it would be illegal and is as recorded."""
        before = self._marks.get(asked.reasoner, CacheMarks())
        name = self._resources.models[asked.reasoner].name or asked.model
        try:
            prepared = prepare(
                asked,
                self._resources.tool_definitions,
                self._styles.profile(asked.reasoner, traits_of(name)),
                self._recording.style,
                before,
            )
        except ModelError:
            return None
        self._marks[asked.reasoner] = prepared.marks
        return prepared

    def _go_on(self) -> None:
        # Work starts when all that the present events lead to is stored: each step sees everything that is requested.
        if not self._stepping:
            self._stepping = True
            self._spawn(self._step())

    async def _step(self) -> None:
        """Publishes the next recorded event, and those that came together with it; or stops the query."""
        self._stepping = False
        why = next(iter(self._stop_because.values()), "")
        if not why and self._may_go_on():
            self._publish_next()
            return
        if not why:
            why = next(iter(self._unfinished.values()), "")
        if why:
            self._publish(e.QueryCancelled(why=why))

    def _may_go_on(self) -> bool:
        """Returns True if there is a next event; the timer's come only while the query waits for a call."""
        if not self._under_way:
            return bool(self._waiting.first_subject)
        return self._waiting.first_subject is not None

    def _publish_next(self) -> None:
        for waiting in self._waiting.take():
            self._clock.advance(waiting.at + self._shift_s)
            ends_call = isinstance(waiting.event, Reply | Result)
            publish = self._end if ends_call else self._publish
            waiting.context.run(publish, waiting.event)

    def _end(self, outcome: Event) -> None:
        """Publishes a call's outcome, and what is settled by it."""
        call_id = str(outcome.subject())
        for known in (self._under_way, self._stop_because, self._unfinished):
            known.pop(call_id, None)
        self._publish(outcome)
        if not isinstance(outcome, Result):
            return
        succeeded = isinstance(outcome, e.ToolSucceeded)
        for settled in self._settlement.end(call_id, succeeded=succeeded):
            self._publish(settled)


def recorded_wiring(
    resources: Resources,
    ports: Ports,
    recording: Recording,
    clock: RecordedClock,
    after: int,
    shift_s: float,
) -> Wiring:
    """Returns the components of a recorded fork: those of every query, but that the recording acts."""
    wiring = wire(resources, ports)
    actions = RecordedActions(ports, resources, recording, clock, after, shift_s)
    subscribed = without_actions(wiring.actions)
    return dataclasses.replace(
        wiring,
        actions=(*actions.subscriptions(), *subscribed),
        recalling=(actions,),
    )


def without_actions(actions: Iterable[Subscription]) -> Sequence[Subscription]:
    """Returns the subscriptions of subscribers from outside."""
    return [each for each in actions if each.component not in REPLACED]


def _kinds_of(union: Any) -> tuple[type[Event], ...]:
    return tuple(union.__args__)


def _shown(asked: Event | None) -> tuple[object, ...]:
    """Returns what of a request reaches the model."""
    if not isinstance(asked, e.ReasoningRequested):
        return ()
    return (
        asked.messages,
        asked.max_tokens,
        asked.max_rounds,
        asked.effort,
        asked.thinking,
    )


def _abandoned(request: Event, why: str) -> Event:
    """Returns the outcome of a call that is abandoned, and was not when it was recorded."""
    match request:
        case e.ToolRequested(call=call):
            return e.ToolFailed(
                tool_call_id=call.id,
                name=call.name,
                failure="abandoned",
                detail=f"{call.name} was stopped: {why}",
            )
        case e.SummaryRequested():
            return e.SummaryFailed(
                call_id=request.call_id,
                for_call=request.for_call,
                failure="abandoned",
                detail=why,
            )
    return e.ReasoningFailed(
        call_id=str(request.subject()), failure="abandoned", detail=why
    )
