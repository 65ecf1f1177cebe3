"""The outside of a recorded query: the events of each call, found by the call instead of by its request's content."""

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
        events: Its events, including those of earlier attempts that an interruption of the query ended.
        abandoned: Its outcome if it was abandoned, which came from `CallsAbandoned` and is not among its events.
    """

    def __init__(self) -> None:
        self.events: list[Recorded[Event]] = []
        self.abandoned: Event | None = None
        self._interrupted = 0

    @property
    def started(self) -> ReasoningStarted | None:
        """The first request sent for it."""
        for recorded in self.events:
            if isinstance(recorded.event, ReasoningStarted):
                return recorded.event
        return None

    @property
    def last_attempt(self) -> Sequence[Recorded[Event]]:
        """Its events since the query was last interrupted."""
        return self.events[self._interrupted :]

    def interrupt(self) -> None:
        """Notes an interruption of the query, after which the call is repeated if it has no outcome."""
        if self.outcome is None:
            self._interrupted = len(self.events)

    @property
    def outcome(self) -> Reply | Result | None:
        """The reply or the result; None if the call never had its own outcome."""
        for recorded in self.events:
            if isinstance(recorded.event, Reply | Result):
                return recorded.event
        return None


class ToolOutcome(NamedTuple):
    """One run of a tool within a call: its result, or the reason why another run followed."""

    tool: str
    result: Result | None
    why: str = ""


class Recording:
    """The outside of a recorded query: the replies of its model, the results of its tools, and its timer.

    Args:
        dropped: Ids of passages to remove from all results.

    Attributes:
        style: The form of sources in the model's requests.
        labels: The labels of answers by reasoner, if they were not the model's name.
        tool_definitions: The definitions of the tools; None if the recording lacks them.
        is_imported: True if another program ran the query.
    """

    def __init__(self, events: Trace, dropped: frozenset[str] = frozenset()) -> None:
        self._dropped = dropped
        self._asked: dict[str, ModelRequest] = {}
        self._replies: dict[str, CallRecord] = {}
        self._calls: dict[str, ToolCall] = {}
        self._results: dict[str, CallRecord] = {}
        self._claimed: dict[str, str] = {}
        self._events = events
        first = events[0].event
        self.is_imported = (
            isinstance(first, QueryReceived) and first.imported is not None
        )
        self._by_itself: list[Recorded[Event]] = []
        self.style: CitationStyle = "native"
        self.labels: dict[Reasoner, str] = {}
        self.tool_definitions: StoredText | None = None
        for recorded in events:
            self._note(recorded)

    def came_by_itself(self, settings: QuerySettings) -> list[Recorded[Event]]:
        """Returns the events of the timer and of the caller, who may have left or come back.

        Args:
            settings: If they have another deadline than the recording, the alarms are those of this deadline.
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
                # At the first later event; if there is none, the query was over by then.
                if each.at >= at:
                    came.append(replace(each, cause=1, at=at, event=alarm))
                    break
        return came

    def reply_to(self, asked: ModelRequest) -> CallRecord | None:
        """Returns the record of the same call; None if the recording has no such call.

        The same means: with the same id, to the same reasoner and model, and also final or not; its messages may
        differ.
        """
        recorded = self._asked.get(asked.call_id)
        if recorded is None or _kind_of_call(recorded) != _kind_of_call(asked):
            return None
        return self._replies[asked.call_id]

    @property
    def tool_names(self) -> frozenset[str]:
        """The names of the tools that were called."""
        return frozenset(call.name for call in self._calls.values())

    def asked_as(self, call_id: str) -> ModelRequest | None:
        """Returns the recorded request of a call."""
        return self._asked.get(call_id)

    def result_of(self, call: ToolCall) -> CallRecord | None:
        """Returns the record of the same tool call: the one with this id if equal, else the first equal one left."""
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
                # The event with which a fork began belongs only to that fork.
                if not why.startswith(FORKED):
                    self._by_itself.append(recorded)
            # A stop because a recording ended was not the caller's act, and must not be repeated.
            case QueryCancelled() if not event.why.startswith(RECORDING_ENDS):
                self._by_itself.append(recorded)
            case ToolSucceeded() if self._dropped:
                left = [p for p in event.passages if p.id not in self._dropped]
                event = replace(event, passages=tuple(left))
                self._add(replace(recorded, event=event))
            case _:
                self._add(recorded)

    def _add(self, recorded: Recorded[Event]) -> None:
        """Adds an event to its call, but keeps the outcome of an abandoned call apart."""
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
    """Returns the tool runs within one call, in order; all but the last failed."""
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
    """Returns the identity of a tool call, which is equal for calls that would do the same."""
    return call_identity(call.name, call.arguments)


def missing_reply(asked: ModelRequest, recording: Recording) -> str:
    """Says which reply the recording lacks, why, and how to go on."""
    what = f"it has no {asked.call_id}"
    recorded = recording.asked_as(asked.call_id)
    if recorded is not None:
        what = f"its {asked.call_id} was {_in_words(recorded)}"
    return (
        f"{RECORDING_ENDS}{asked.call_id} is {_in_words(asked)}, and {what}. "
        "With the mode `remodel` the model is asked, with `live` the tools too."
    )


def missing_result(call: ToolCall) -> str:
    """Says which tool call the recording lacks, and how to go on."""
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
