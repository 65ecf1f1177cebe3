"""A recorded query seen from outside: for each call, everything that came of it; by the call, not by what was sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from antiphon.composition import RECORDING_ENDS
from antiphon.coordinator import alarms
from antiphon.history.forking import FORKED
from antiphon.vocabulary.events import (
    ENGINE,
    TIMER,
    CitationStyle,
    Event,
    QueryCancelled,
    QueryReceived,
    QueryResumed,
    Reasoner,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    ReasoningStarted,
    Recorded,
    SummaryCompleted,
    SummaryFailed,
    SummaryRequested,
    ToolAnsweredLate,
    ToolCallStreamed,
    ToolFailed,
    ToolRequested,
    ToolStarted,
    ToolSubstituted,
    ToolSucceeded,
)
from antiphon.vocabulary.tool_calls import CallIdentity, call_identity
from antiphon.vocabulary.values import QuerySettings, StoredText, ToolCall

Trace = Sequence[Recorded[Event]]
ModelRequest = ReasoningRequested | SummaryRequested
Reply = ReasoningCompleted | ReasoningFailed | SummaryCompleted | SummaryFailed
Result = ToolSucceeded | ToolFailed
OfTool = ToolStarted | ToolSubstituted | ToolSucceeded | ToolFailed | ToolAnsweredLate
"""The events of one tool call after its request."""


class CallRecord:
    """One call to the model or a tool, and the events that came of it, in order.

    Attributes:
        events: Those of earlier attempts, which an interruption of the query ended, among them.
        abandoned: How it ended if it was abandoned; that came of `CallsAbandoned`, and is none of its events.
    """

    def __init__(self) -> None:
        self.events: list[Recorded[Event]] = []
        self.abandoned: Event | None = None
        self._interrupted = 0

    @property
    def started(self) -> ReasoningStarted | None:
        """The first request that was sent for it."""
        for recorded in self.events:
            if isinstance(recorded.event, ReasoningStarted):
                return recorded.event
        return None

    @property
    def last_attempt(self) -> Sequence[Recorded[Event]]:
        """What came of it since the query was last interrupted."""
        return self.events[self._interrupted :]

    def interrupt(self) -> None:
        """Notes that the query was interrupted, so that the call is made once more if it has no outcome."""
        if self.outcome is None:
            self._interrupted = len(self.events)

    @property
    def outcome(self) -> Reply | Result | None:
        """The reply or the result; None if the call never came to one of its own."""
        for recorded in self.events:
            if isinstance(recorded.event, Reply | Result):
                return recorded.event
        return None


class ToolOutcome(NamedTuple):
    """One run of a tool within a call: its result, or why another run followed it."""

    tool: str
    result: Result | None
    why: str = ""


class Recording:
    """The outside of a recorded query: the replies of its model, the results of its tools, and its timer.

    Args:
        dropped: Ids of passages that no tool may bring.

    Attributes:
        style: The way in which the model was shown sources.
        labels: The names that answers were labelled with, by reasoner, if that was not the model's own.
        tool_definitions: The definitions of the tools that there were; None if the recording does not tell.
    """

    def __init__(self, events: Trace, dropped: frozenset[str] = frozenset()) -> None:
        self._dropped = dropped
        self._asked: dict[str, ModelRequest] = {}
        self._replies: dict[str, CallRecord] = {}
        self._calls: dict[str, ToolCall] = {}
        self._results: dict[str, CallRecord] = {}
        self._claimed: dict[str, str] = {}
        self._events = events
        self._by_itself: list[Recorded[Event]] = []
        self.style: CitationStyle = "native"
        self.labels: dict[Reasoner, str] = {}
        self.tool_definitions: StoredText | None = None
        for recorded in events:
            self._note(recorded)

    def came_by_itself(self, settings: QuerySettings) -> list[Recorded[Event]]:
        """Returns what the timer and the caller did, who may have left or come back.

        Args:
            settings: With another deadline than the recording's, the alarms are those of that deadline.
        """
        first = self._events[0]
        due = alarms(settings)
        if (
            isinstance(first.event, QueryReceived)
            and alarms(first.event.settings) == due
        ):
            return self._by_itself
        came = [each for each in self._by_itself if TIMER not in each.event.emitted_by]
        for alarm in due:
            at = first.at + alarm.after_s
            for each in self._events:
                if isinstance(each.event, QueryResumed) and each.at <= at:
                    at += each.event.away_s
                # Before the first event that is later; if none is, the query was over by then.
                if each.at >= at:
                    came.append(replace(each, cause=1, at=at, event=alarm))
                    break
        return came

    def reply_to(self, asked: ModelRequest) -> CallRecord | None:
        """Returns what came of the same call in the recording; None if it had no such call.

        The same is one of the same number in the query to the same reasoner and model, with or without tools as it was;
        what it is shown may differ.
        """
        recorded = self._asked.get(asked.call_id)
        if recorded is None or _kind_of_call(recorded) != _kind_of_call(asked):
            return None
        return self._replies[asked.call_id]

    def asked_as(self, call_id: str) -> ModelRequest | None:
        """Returns the request of a call as it was recorded."""
        return self._asked.get(call_id)

    def result_of(self, call: ToolCall) -> CallRecord | None:
        """Returns what came of the same tool call: the one of this id, or else the first equal one that is left."""
        wanted = self._claimed.get(call.id)
        if wanted is None:
            wanted = self._unclaimed(call)
        if wanted is None:
            return None
        self._claimed[call.id] = wanted
        return self._results[wanted]

    def _unclaimed(self, call: ToolCall) -> str | None:
        identity = identity_of(call)
        same = self._calls.get(call.id)
        if same is not None and identity_of(same) == identity:
            return call.id
        taken = set(self._claimed.values())
        for call_id, recorded in self._calls.items():
            if call_id not in taken and identity_of(recorded) == identity:
                return call_id
        return None

    def _note(self, recorded: Recorded[Event]) -> None:
        event = recorded.event
        match event:
            case ReasoningRequested() | SummaryRequested():
                self._asked[event.call_id] = event
                self._replies[event.call_id] = CallRecord()
            case ToolRequested() if event.call.id not in self._calls:
                self._calls[event.call.id] = event.call
                self._results[event.call.id] = CallRecord()
            case QueryResumed(why=why):
                self._interrupt()
                # What a fork was begun by belongs to it alone.
                if not why.startswith(FORKED):
                    self._by_itself.append(recorded)
            case QueryCancelled() if not event.why.startswith(RECORDING_ENDS):
                self._by_itself.append(recorded)
            case ToolSucceeded() if self._dropped:
                left = [p for p in event.passages if p.id not in self._dropped]
                event = replace(event, passages=tuple(left))
                self._add(replace(recorded, event=event))
            case _:
                self._add(recorded)

    def _add(self, recorded: Recorded[Event]) -> None:
        """Adds an event to its call; what a call got by being abandoned is not of its own."""
        event = recorded.event
        if TIMER in event.emitted_by:
            self._by_itself.append(recorded)
        if isinstance(event, ReasoningStarted):
            self._note_server(event)
        record: CallRecord | None = None
        if isinstance(event, ToolCallStreamed):
            record = self._replies.get(event.call_id)
        elif isinstance(event, OfTool):
            record = self._results.get(event.tool_call_id)
        elif ENGINE in event.emitted_by:
            record = self._replies.get(str(event.subject()))
        if record is None:
            return
        if getattr(event, "failure", "") == "abandoned":
            record.abandoned = event
        else:
            record.events.append(recorded)

    def _note_server(self, started: ReasoningStarted) -> None:
        self.style = started.citations
        self.tool_definitions = started.tool_definitions or self.tool_definitions
        asked = self._asked.get(started.call_id)
        if asked is not None and started.reasoner != started.request.model:
            self.labels[asked.reasoner] = started.reasoner

    def _interrupt(self) -> None:
        for record in (*self._replies.values(), *self._results.values()):
            record.interrupt()


def runs_of(record: CallRecord) -> list[ToolOutcome]:
    """Returns the runs of tools within one call, in order: all but the last failed."""
    runs: list[ToolOutcome] = []
    for recorded in record.last_attempt:
        match recorded.event:
            case ToolStarted(name=name):
                runs.append(ToolOutcome(name, None, f"{name} failed"))
            case ToolSubstituted(why=why) if runs:
                runs[-1] = runs[-1]._replace(why=why)
            case (ToolSucceeded() | ToolFailed()) as result if runs:
                runs[-1] = runs[-1]._replace(result=result)
    return runs


def identity_of(call: ToolCall) -> CallIdentity:
    """Returns the identity of a tool call: the same for two that would do the same."""
    return call_identity(call.name, call.arguments)


def missing_reply(asked: ModelRequest, recording: Recording) -> str:
    """Says which reply the recording does not hold, why, and how to go on."""
    what = f"it has no {asked.call_id}"
    recorded = recording.asked_as(asked.call_id)
    if recorded is not None:
        what = f"its {asked.call_id} was {_in_words(recorded)}"
    return (
        f"{RECORDING_ENDS}{asked.call_id} is {_in_words(asked)}, and {what}. "
        "With the mode `remodel` the model is asked, with `live` the tools too."
    )


def missing_result(call: ToolCall) -> str:
    """Says which tool call the recording does not hold, and how to go on."""
    return (
        f"{RECORDING_ENDS}it has no result of {call.name} {call.arguments[:200]} ({call.id}). "
        "With the mode `remodel` or `live` the tool is run."
    )


def _kind_of_call(asked: ModelRequest) -> tuple[object, ...]:
    final = isinstance(asked, ReasoningRequested) and asked.final
    return type(asked), final, asked.reasoner, asked.model


def _in_words(asked: ModelRequest) -> str:
    what = "a summarising call"
    if isinstance(asked, ReasoningRequested):
        what = "a final call" if asked.final else f"a call of round {asked.round}"
    return f"{what} to the {asked.reasoner} reasoner ({asked.model})"
