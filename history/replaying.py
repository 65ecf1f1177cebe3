"""Replays a recorded query: the deciding components run over its trace, and every event that they emit is compared.

Pure: no model, no tool, no index, no clock and no network; whatever came from those is in the trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from antiphon.bus import PendingTable, StallCount, fold_pending
from antiphon.composition import catalog_of, deciders_of, missing_subscribers
from antiphon.history.divergence import (
    Divergence,
    DivergenceKind,
    FieldDifference,
    chain_of,
    first_difference,
    in_words,
    same,
    shown,
)
from antiphon.history.folding import (
    Emission,
    Fold,
    RuleFailure,
    decided_events,
    failures_by_event,
)
from antiphon.history.prompt_versions import PromptComparison
from antiphon.traces import from_json, plain
from antiphon.vocabulary.errors import DecodeError
from antiphon.vocabulary.events import (
    VERSION,
    Event,
    HandlerFailed,
    QueryClosed,
    QueryReceived,
    Recorded,
)
from antiphon.vocabulary.subscribers import Subscriber
from antiphon.vocabulary.values import QuerySettings, Value

Form = Mapping[str, object]
"""An event as plain JSON, with the fields that it had when it was written."""

Subscribers = Sequence[Subscriber]


class ReplayResult(Value, frozen=True, kw_only=True):
    """The outcome of a replay.

    Attributes:
        events: Events of the trace.
        compared: The number of those that deciding components emit, and that were compared.
        closed: The trace has its end; an open one is replayed as far as it goes.
        divergence: The first difference, or None where there is none.
    """

    query_id: str
    events: int
    compared: int
    closed: bool
    divergence: Divergence | None = None


def replay(
    events: Sequence[Recorded[Event]],
    forms: Sequence[Form] | None = None,
    subscribers: Subscribers = (),
) -> ReplayResult:
    """Replays a whole trace, or as far as it is the same.

    Args:
        forms: Each event as the trace holds it, so that fields which are newer than the trace are not compared.
        subscribers: The components from outside that the query was recorded with.
    """
    run = ReplayRun(events, forms, subscribers)
    # Only the first difference is reported: those after it mostly follow from it.
    for recorded in events:
        divergence = run.step(recorded)
        if divergence is not None:
            return run.result(divergence)
    return run.result(run.left_over())


def replay_lines(lines: Sequence[bytes], subscribers: Subscribers = ()) -> ReplayResult:
    """Replays a trace of which each line is a recorded event as JSON; a line that cannot be read is a difference."""
    catalog = catalog_of(subscribers)
    events: list[Recorded[Event]] = []
    for line in lines:
        try:
            events.append(from_json(line, catalog))
        except DecodeError as error:
            query_id = "unknown"
            if events:
                query_id = events[0].query_id
            result = unreadable(query_id, len(lines), len(events) + 1, error)
            return with_missing(result, _versions(events), subscribers)
    forms: list[Form] = [msgspec.json.decode(line)["event"] for line in lines]
    return replay(events, forms, subscribers)


def unreadable(
    query_id: str, events: int, seq: int, error: DecodeError
) -> ReplayResult:
    """Returns the result for a trace that this program cannot read."""
    divergence = Divergence(
        seq=seq,
        kind="unknown",
        difference="schema",
        field="",
        recorded="",
        now="",
        chain=(f"{seq} unknown",),
        detail=str(error),
    )
    return ReplayResult(
        query_id=query_id,
        events=events,
        compared=0,
        closed=False,
        divergence=divergence,
    )


def with_missing(
    result: ReplayResult, versions: Sequence[tuple[str, str]], subscribers: Subscribers
) -> ReplayResult:
    """Returns the result with the subscribers that its trace was recorded with and that are not loaded.

    Args:
        versions: Those of its first event.
    """
    missing = missing_subscribers(versions, subscribers)
    # A subscriber that is missing and decided nothing makes no difference.
    if result.divergence is None or not missing:
        return result
    detail = f"{missing} ({result.divergence.detail})"
    return replace(
        result,
        divergence=replace(result.divergence, difference="settings", detail=detail),
    )


def _versions(events: Sequence[Recorded[Event]]) -> Sequence[tuple[str, str]]:
    if events and isinstance(events[0].event, QueryReceived):
        return events[0].event.versions
    return ()


class ReplayRun:
    """A replay under way, an event at a time.

    Attributes:
        fold: The deciders' states, and their emissions that the trace has not shown yet.
    """

    def __init__(
        self,
        events: Sequence[Recorded[Event]],
        forms: Sequence[Form] | None = None,
        subscribers: Subscribers = (),
    ) -> None:
        self._events = events
        self._forms = forms
        self._subscribers = subscribers
        self._catalog = catalog_of(subscribers)
        self._decided = decided_events(subscribers)
        self._failed = failures_by_event(events)
        self._stalls = StallCount()
        self._pending: PendingTable = {}
        self._prompts = PromptComparison(events)
        self._compared = 0
        self.fold = Fold(deciders_of(subscribers))

    def step(self, recorded: Recorded[Event]) -> Divergence | None:
        """Compares one event with what was emitted in its place, and delivers it."""
        divergence = self._check(recorded)
        if divergence is not None:
            return divergence
        self._stalls.recall(recorded)
        self._pending = fold_pending(self._pending, recorded, self._catalog)
        failures = self.fold.hear(recorded, self._failed.get(recorded.seq, frozenset()))
        if failures:
            return self._raised(recorded, failures[0])
        return None

    def states(self) -> dict[str, dict[str, object]]:
        """Returns each decider's state field by field, and the outcomes still owed under `pending`."""
        found: dict[str, dict[str, object]] = {}
        for decider, state in self.fold.states.items():
            found[decider.__name__] = fields_of(state)
        pending: dict[str, object] = {}
        for place, owed in enumerate(self._pending.values()):
            pending[str(place)] = str(owed)
        found["pending"] = pending
        return found

    def left_over(self) -> Divergence | None:
        """Returns the first emission that was not recorded, unless the query's end cut it off."""
        last = self._events[-1]
        if not isinstance(last.event, QueryClosed) or not self.fold.emitted:
            return None
        emission = self.fold.emitted[0]
        # After `QueryClosed` was published the session took nothing more, though the rules emit it here.
        if emission.cause >= last.cause:
            return None
        return self._divergence(last, None, emission)

    def result(self, divergence: Divergence | None) -> ReplayResult:
        """Returns the result of the whole replay, given its divergence."""
        if divergence is None:
            divergence = self._prompts.changed
        elif divergence.difference == "code" and self._has_faults():
            divergence = replace(divergence, difference="fault")
        result = ReplayResult(
            query_id=self._events[0].query_id,
            events=len(self._events),
            compared=self._compared,
            closed=isinstance(self._events[-1].event, QueryClosed),
            divergence=divergence,
        )
        return with_missing(result, _versions(self._events), self._subscribers)

    def _has_faults(self) -> bool:
        """Returns True if the query was broken on purpose, and says so."""
        first = self._events[0].event
        return isinstance(first, QueryReceived) and bool(first.faults)

    def _check(self, recorded: Recorded[Event]) -> Divergence | None:
        self._prompts.hear(recorded)
        # Events from outside the rules, such as replies and results, are the input of a replay.
        if not self._is_decided(recorded):
            return None
        if not self.fold.emitted:
            if self._gave_up(recorded.event):
                return None
            return self._divergence(recorded, recorded.event, None)
        emission = self.fold.emitted[0]
        form: Form | None = None
        if self._forms is not None:
            form = self._forms[recorded.seq - 1]
        if emission.cause != recorded.cause or not same(
            recorded.event, emission.event, form
        ):
            return self._divergence(recorded, recorded.event, emission)
        self.fold.emitted.popleft()
        self._compared += 1
        return None

    def _is_decided(self, recorded: Recorded[Event]) -> bool:
        if type(recorded.event) in self._decided:
            return True
        # Some kinds come from deciders and from acting components; a decider's is known by its having been emitted.
        return any(emission.stands_for(recorded) for emission in self.fold.emitted)

    def _gave_up(self, event: Event) -> bool:
        """Returns True if the session itself ended the query, after too many stalls."""
        return (
            isinstance(event, QueryClosed)
            and event.status == "failed"
            and not self._stalls.may_recover()
        )

    def _raised(self, recorded: Recorded[Event], failure: RuleFailure) -> Divergence:
        now = HandlerFailed(
            handler=failure.handler, error=repr(failure.error), event_seq=recorded.seq
        )
        return Divergence(
            seq=recorded.seq,
            kind=recorded.event.kind_name(),
            difference="code",
            field="",
            recorded="",
            now=shown(now),
            chain=chain_of(self._events, recorded.seq),
            detail=f"{failure.handler} raises now at event {recorded.seq}, and did not when it was recorded: "
            f"{failure.error!r}",
        )

    def _divergence(
        self, at: Recorded[Event], event: Event | None, emission: Emission | None
    ) -> Divergence:
        """Describes the difference between the event recorded at a place and what is emitted there now."""
        now: Event | None = None
        difference = FieldDifference(path="", recorded=None, now=None)
        if emission is not None:
            now = emission.event
            if type(event) is type(now):
                difference = first_difference(plain(event), plain(now))
                # Two events without a difference in their fields differ in their place: another event led to each.
                if not difference.path:
                    difference = FieldDifference(
                        path="cause", recorded=at.cause, now=emission.cause
                    )
        subject = at.event
        if event is None and now is not None:
            subject = now
        return Divergence(
            seq=at.seq,
            kind=subject.kind_name(),
            difference=self._kind_of_difference(at),
            field=difference.path,
            recorded=shown(event),
            now=shown(now),
            chain=chain_of(self._events, at.seq),
            detail=in_words(event, now, difference),
        )

    def _kind_of_difference(self, at: Recorded[Event]) -> DivergenceKind:
        if at.version != VERSION:
            return "schema"
        # What is recorded here and what is emitted now may have different causes, which must both be in another order.
        causes = {at.cause}
        if self.fold.emitted:
            causes.add(self.fold.emitted[0].cause)
        reordered = [cause for cause in causes if self._is_reordered(cause)]
        if len(reordered) == len(causes):
            return "order"
        if self._lacks_settings():
            return "settings"
        return "code"

    def _is_reordered(self, cause: int) -> bool:
        """Returns True if the events that `cause` led to are those emitted now, in another order."""
        emitted: Counter[str] = Counter()
        for emission in self.fold.emitted:
            if emission.cause == cause:
                emitted[shown(emission.event)] += 1
        recorded: Counter[str] = Counter()
        for effect in self._events:
            if effect.cause == cause and type(effect.event) in self._decided:
                recorded[shown(effect.event)] += 1
        # A single event has no order.
        return emitted.total() > 1 and not emitted - recorded

    def _lacks_settings(self) -> bool:
        """Returns True if the trace was recorded without a setting that there is now."""
        if not self._forms:
            return False
        settings = self._forms[0].get("settings")
        return isinstance(settings, Mapping) and not set(
            QuerySettings.__struct_fields__
        ) <= set(settings)


def fields_of(state: object) -> dict[str, object]:
    """Returns the fields of a state by name; those of a value inside it as `memory.facts`."""
    if not isinstance(state, msgspec.Struct):
        return {"state": state}  # a subscriber's may be any value, such as a number
    found: dict[str, object] = {}
    for name in state.__struct_fields__:
        value = getattr(state, name)
        if isinstance(value, Value):
            for inner_name, inner in fields_of(value).items():
                found[f"{name}.{inner_name}"] = inner
        else:
            found[name] = value
    return found
