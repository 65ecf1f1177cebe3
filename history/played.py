"""The outside of a recorded fork, which publishes the events of the recording.

It calls no model and runs no tool, so it cannot cost anything. Events from outside come in their recorded order and at
their recorded times, each once its call has been requested. If the query requests a call that the recording lacks, it
stops and says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace

from antiphon.dispatcher import has_outcome
from antiphon.engine import CacheMarks, PreparedRequest, Profile, prepare
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
from antiphon.vocabulary.events import Event
from antiphon.vocabulary.performing import Command, Run
from antiphon.vocabulary.ports import Ports
from antiphon.vocabulary.values import StoredText


class PlayedOutside:
    """Performs requests from a recording; satisfies `Outside`.

    Args:
        clock: Advanced to the time of each published event.
        after: The last shared event; only events recorded after it are still to come.
        shift_s: Seconds by which the fork is later than the recording.
    """

    def __init__(
        self,
        ports: Ports,
        recording: Recording,
        clock: RecordedClock,
        after: int,
        shift_s: float,
    ) -> None:
        self._publish = ports.publish
        self._spawn = ports.spawn
        self._stored = ports.stored
        self._recording = recording
        self._clock = clock
        self._shift_s = shift_s
        self._marks: dict[str, CacheMarks] = {}
        self._waiting = WaitingEvents()
        self._under_way: dict[str, Event] = {}
        self._stop_because: dict[str, str] = {}
        self._unfinished: dict[str, str] = {}
        self._playing = False
        self._sleeping = False
        self._after = after
        self._has_begun = False

    def perform(self, command: Command, /) -> Run | None:
        """Queues the recorded events of the request."""
        event = command.request.event
        match event:
            case e.QueryReceived() | e.QueryResumed():
                self._begin(command)
            case e.ReasoningRequested() | e.SummaryRequested():
                self._expect_reply(event)
            case e.ToolRequested(call=call):
                # The model chooses ids: if it repeats one, the first call's outcome serves both.
                if call.id in self._under_way or has_outcome(call.id, command.past):
                    return None
                self._expect_result(event)
        self._go_on()
        return PlayedRun(str(event.subject()), self.abandon)

    def _begin(self, command: Command) -> None:
        """Queues the events that no call caused, once: a played resumption begins nothing."""
        first = command.past[0].event
        if self._has_begun or not isinstance(first, e.QueryReceived):
            return
        self._has_begun = True
        for recorded in self._recording.came_by_itself(first.settings):
            if recorded.seq > self._after:
                self._waiting.add(recorded, "", recorded.event)

    def abandon(self, call_id: str, why: str) -> None:
        """Ends a call under way, as engine and dispatcher do."""
        request = self._under_way.get(call_id)
        if request is not None:
            self._waiting.forget(call_id)
            self._end(self._abandoned(request, why))
            self._go_on()

    def _expect_reply(self, asked: e.ReasoningRequested | e.SummaryRequested) -> None:
        record = self._recording.reply_to(asked)
        self._under_way[asked.call_id] = asked
        words = missing_reply(asked, self._recording)
        if record is None:
            self._stop_because[asked.call_id] = words
        else:
            self._expect(asked.call_id, record, words)
            self._announce(asked, record)

    def _expect_result(self, asked: e.ToolRequested) -> None:
        call = asked.call
        self._under_way[call.id] = asked
        record = self._recording.result_of(call)
        if record is None:
            self._stop_because[call.id] = missing_result(call)
        else:
            self._expect(call.id, record, missing_result(call))
            for each in record.events:
                # A call with another id than the recorded one is answered under its own id, from the beginning.
                event = replace(each.event, tool_call_id=call.id)
                if each.seq > self._after or event != each.event:
                    self._waiting.add(each, call.id, event)

    def _abandoned(self, request: Event, why: str) -> Event:
        """Returns the outcome of an abandoned call: the recorded one, with its usage, if it was abandoned then too."""
        record: CallRecord | None = None
        if isinstance(request, e.ToolRequested):
            record = self._recording.result_of(request.call)
        elif isinstance(request, e.ReasoningRequested | e.SummaryRequested):
            record = self._recording.reply_to(request)
        if record is not None and record.abandoned is not None:
            return record.abandoned
        return _abandoned(request, why)

    def _expect(self, call_id: str, record: CallRecord, words: str) -> None:
        """Notes a call without a recorded outcome: something else ended it, which may not happen now."""
        if record.outcome is None:
            self._unfinished[call_id] = words

    def _announce(
        self, asked: e.ReasoningRequested | e.SummaryRequested, record: CallRecord
    ) -> None:
        """Queues the call's events, with the request rebuilt if it differs from the recorded one."""
        before = self._recording.asked_as(asked.call_id)
        request = None
        differs = _shown(asked) != _shown(before)
        if differs and isinstance(asked, e.ReasoningRequested):
            request = self._prepared(asked, record.started)
        for each in record.events:
            if each.seq <= self._after:
                continue
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

    def _prepared(
        self, asked: e.ReasoningRequested, started: e.ReasoningStarted | None
    ) -> PreparedRequest | None:
        """Prepares the request for the recorded server, with the recorded tools.

        For another program's query, only the messages of its request change.

        Returns None, for the recorded request, if none was sent then or if the new one would be illegal.
        """
        if started is None:
            return None
        before = self._marks.get(asked.reasoner, CacheMarks())
        if self._recording.is_imported:
            sent = replace(started.request, messages=asked.messages)
            return PreparedRequest(sent, started.repairs, started.caching)
        tools = started.tool_definitions or started.request.tools or StoredText("[]")
        try:
            prepared = prepare(
                asked,
                tools,
                started.profile or Profile(),
                started.citations,
                before,
            )
        except ModelError:
            return None
        self._marks[asked.reasoner] = prepared.marks
        return prepared

    def _go_on(self) -> None:
        if not self._playing:
            self._playing = True
            self._spawn(self._play())

    async def _play(self) -> None:
        """Publishes the queued events, each after all consequences of the one before."""
        while self._publish_next():
            # By then the query has requested all that the event led to.
            await self._stored()
        self._playing = False
        if self._is_left_to_the_timer() and not self._sleeping:
            self._sleeping = True
            self._spawn(self._sleep(), background=True)

    def _is_left_to_the_timer(self) -> bool:
        """Returns True if no call is under way and the next event is one that no call causes."""
        return not self._under_way and self._waiting.first_subject == ""

    async def _sleep(self) -> None:
        """Waits until an alarm is due: the query waits for a component from outside, which is never played."""
        due = self._waiting.first_at + self._shift_s
        await self._clock.sleep(max(0.0, due - self._clock.now()))
        self._sleeping = False
        if self._is_left_to_the_timer():
            self._publish_waiting()
        self._go_on()

    def _may_go_on(self) -> bool:
        """Returns True if there is a next event; those of the timer come only while the query waits for a call."""
        if not self._under_way:
            return bool(self._waiting.first_subject)
        return self._waiting.first_subject is not None

    def _publish_next(self) -> bool:
        """Publishes the next recorded event and those that came together with it, or stops the query.

        Returns:
            False if no more events can be published now.
        """
        why = next(iter(self._stop_because.values()), "")
        if not why and self._may_go_on():
            self._publish_waiting()
            return True
        # A call without a recorded outcome stops the query only when nothing else can happen.
        why = why or next(iter(self._unfinished.values()), "")
        if why:
            self._publish(e.QueryCancelled(why=why))
        return False

    def _publish_waiting(self) -> None:
        for waiting in self._waiting.take():
            self._clock.advance(waiting.at + self._shift_s)
            ends_call = isinstance(waiting.event, Reply | Result)
            publish = self._end if ends_call else self._publish
            waiting.context.run(publish, waiting.event)

    def _end(self, outcome: Event) -> None:
        """Publishes a call's outcome."""
        call_id = str(outcome.subject())
        for known in (self._under_way, self._stop_because, self._unfinished):
            known.pop(call_id, None)
        self._publish(outcome)


class PlayedRun(NamedTuple):
    """A call that the recording answers; satisfies `Run`."""

    call_id: str
    stop: Callable[[str, str], None]

    def abandon(self, why: str, /) -> None:
        """Ends it if it has no outcome yet."""
        self.stop(self.call_id, why)


def _shown(asked: Event | None) -> tuple[object, ...]:
    """Returns the parts of a request that reach the model."""
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
    """Returns the outcome of an abandoned call that was not abandoned in the recording."""
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
