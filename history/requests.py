"""Rebuilds each request of a trace from the recorded events, and compares it with the one that was sent."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from antiphon.engine import (
    SYSTEM_VERSION,
    CacheMarks,
    PreparedRequest,
    Profile,
    prepare,
    prepare_rest,
    prepare_summary,
    prepare_wider,
    system_prompt,
    unmarked,
)
from antiphon.history.verifying import Finding
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.events import (
    Event,
    QueryReceived,
    QueryResumed,
    Reasoner,
    ReasoningRequested,
    ReasoningRetried,
    ReasoningStarted,
    Recorded,
    SummaryRequested,
)
from antiphon.vocabulary.values import StoredText

OLDER = "the requests: they are built otherwise today (system prompt version {now}, and in the trace {then})"
"""Reported for a trace whose requests are not rebuilt."""
IMPORTED = "the requests: another program built them"
"""Reported for a trace that was imported from another program's recording."""
FIRST_COMPARED = 2
"""The first version of the rules whose requests are built as today."""


class RequestCheck:
    """Checks that requests follow from the requesting event, the server's profile and the tools alone.

    Attributes:
        skipped: The requests that could not be compared, and why; empty if all were.
    """

    hears = (
        QueryResumed,
        ReasoningRequested,
        SummaryRequested,
        ReasoningStarted,
        ReasoningRetried,
    )
    compares = (ReasoningStarted,)

    def __init__(self, events: Sequence[Recorded[Event]]) -> None:
        self._version = _prompt_version(events)
        self._is_older = _rules(events) < FIRST_COMPARED
        self._is_imported = is_imported(events)
        self._asked: dict[str, ReasoningRequested | SummaryRequested] = {}
        self._prepared: dict[str, PreparedRequest] = {}
        self._marks: dict[Reasoner, CacheMarks] = {}
        self._told_of_prompt = False
        self.skipped = ""

    def hear(self, recorded: Recorded[Event]) -> Finding | None:
        match recorded.event:
            case QueryResumed():
                # A new engine goes on, without the first one's cache marks.
                self._marks.clear()
            case ReasoningRequested() | SummaryRequested() as asked:
                self._asked[asked.call_id] = asked
            case ReasoningRetried(why="out_of_tokens", call_id=call_id):
                if call_id in self._prepared:
                    self._prepared[call_id] = prepare_wider(self._prepared[call_id])
            case ReasoningStarted(call_id=call_id) as started:
                # A fork or a fault may have left out the requesting event.
                if call_id in self._asked:
                    return self._compare(started, self._asked[call_id])
        return None

    def _compare(
        self,
        started: ReasoningStarted,
        asked: ReasoningRequested | SummaryRequested,
    ) -> Finding | None:
        if self._is_imported:
            self.skipped = IMPORTED
            return None
        if self._is_older or started.profile is None:
            self.skipped = OLDER.format(now=SYSTEM_VERSION, then=self._version)
            return None
        try:
            today, prepared = self._built(started, asked)
        except ModelError as error:
            return Finding(None, f"the request cannot be built now: {error}")
        # Only the request itself records whether it streamed, which depended on followers.
        request = replace(prepared.request, stream=started.request.stream)
        expected = replace(
            started,
            request=request,
            repairs=prepared.repairs,
            caching=prepared.caching,
        )
        if started != expected:
            return Finding(expected)
        return self._compare_prompt(started, today)

    def _built(
        self, started: ReasoningStarted, asked: ReasoningRequested | SummaryRequested
    ) -> tuple[StoredText, PreparedRequest]:
        """Returns today's system prompt, and the request that is prepared today with the recorded prompt."""
        first = started.attempt == 1 and started.part == 1
        if first or started.call_id not in self._prepared:
            self._prepared[started.call_id] = self._prepare(started, asked)
        prepared = self._prepared[started.call_id]
        if isinstance(asked, SummaryRequested):
            today = prepare_summary(asked).request.system
        else:
            today = system_prompt(
                asked.max_rounds,
                inline=prepared.style == "inline",
                catalogue=asked.catalogue.text,
            )
        if started.part == 1:
            return today, prepared
        return today, prepare_rest(prepared, _paused(started, prepared))

    def _prepare(
        self, started: ReasoningStarted, asked: ReasoningRequested | SummaryRequested
    ) -> PreparedRequest:
        profile = started.profile or Profile()
        if isinstance(asked, SummaryRequested):
            summary = prepare_summary(asked, profile)
            request = replace(summary.request, system=started.request.system)
            return summary._replace(request=request)
        prepared = prepare(
            asked,
            started.tool_definitions or StoredText("[]"),
            profile,
            started.citations,
            self._marks.get(asked.reasoner, CacheMarks()),
            started.request.system,
        )
        self._marks[asked.reasoner] = prepared.marks
        return prepared

    def _compare_prompt(
        self, started: ReasoningStarted, today: StoredText
    ) -> Finding | None:
        if self._told_of_prompt or unmarked(started.request.system) == today:
            return None
        self._told_of_prompt = True
        if self._version == SYSTEM_VERSION:
            # A prompt that changed without a new version is our mistake, not a setting.
            now = replace(started, request=replace(started.request, system=today))
            detail = f"the system prompt is another one now, though both are called version {SYSTEM_VERSION}"
            return Finding(now, detail)
        detail = (
            f"today's system prompt, version {SYSTEM_VERSION}: the trace has version {self._version}, "
            "and its requests were built with that"
        )
        return Finding(None, detail, "settings")


def _paused(
    started: ReasoningStarted, prepared: PreparedRequest
) -> tuple[StoredText, ...]:
    """Returns the paused reply that a request continues, which only that request records."""
    before = len(prepared.request.messages)
    # Empty if the request left out a paused reply of white space only.
    for message in started.request.messages[before : before + 1]:
        return message.content
    return ()


def _prompt_version(events: Sequence[Recorded[Event]]) -> str | None:
    first = events[0].event
    if not isinstance(first, QueryReceived):
        return None
    return dict(first.versions).get("system_prompt")


def is_imported(events: Sequence[Recorded[Event]]) -> bool:
    """Returns True for a query that another program ran, and for forks of one."""
    first = events[0].event
    return isinstance(first, QueryReceived) and first.imported is not None


def _rules(events: Sequence[Recorded[Event]]) -> int:
    first = events[0].event
    if not isinstance(first, QueryReceived):
        return 1
    return first.rules
