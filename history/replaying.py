"""Replay: the deciding components run again over a recorded query, and every event that they emit is compared.

Pure: no model, no tool, no index, no clock and no network; what those brought is in the trace.
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
from antiphon.history.folding import Emission, Fold, RuleFailure, decided_events, failures_by_event
from antiphon.history.prompt_versions import PromptComparison
from antiphon.traces import from_json, plain
from antiphon.vocabulary.errors import DecodeError
from antiphon.vocabulary.events import VERSION, Event, HandlerFailed, QueryClosed, QueryReceived, Recorded
from antiphon.vocabulary.subscribers import Subscriber
from antiphon.vocabulary.values import QuerySettings, Value

Form = Mapping[str, object]
"""An event as plain JSON, with the fields that it had when it was written."""

Subscribers = Sequence[Subscriber]


class ReplayResult(Value, frozen=True, kw_only=True):
    """The outcome of a replay.

    Attributes:
        events: Events of the trace.
        compared: Those of them that deciding components emit, and that were compared.
        closed: The trace has its end; an open one is replayed as far as it goes.
        divergence: The first difference, or None where there is none.
    """

    query_id: str
    events: int
    compared: int
    closed: bool
    divergence: Divergence | None = None


def replay(
    events: Sequence[Recorded[Event]], forms: Sequence[Form] | None = None, subscribers: Subscribers = ()
) -> ReplayResult:
    """Replays a whole trace, or as far as it is the same.

    Args:
        forms: Each event as the trace holds it, so that fields which are newer than the trace are not compared.
        subscribers: The components from outside that the query was recorded with.
    """
    run = ReplayRun(events, forms, subscribers)
    # The first difference alone is told: what comes after it mostly follows from it.
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
            query_id = events[0].query_id if events else "unknown"
            result = unreadable(query_id, len(lines), len(events) + 1, error)
            return with_missing(result, _versions(events), subscribers)
    forms: list[Form] = [msgspec.json.decode(line)["event"] for line in lines]
    return replay(events, forms, subscribers)


def unreadable(query_id: str, events: int, seq: int, error: DecodeError) -> ReplayResult:
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
    return ReplayResult(query_id=query_id, events=events, compared=0, closed=False, divergence=divergence)


def with_missing(result: ReplayResult, versions: Sequence[tuple[str, str]], subscribers: Subscribers) -> ReplayResult:
    """Returns a result that says, if its trace differs, which subscribers it was recorded with and are not loaded.

    Args:
        versions: Those of its first event.
    """
    missing = missing_subscribers(versions, subscribers)
    if result.divergence is None or not missing:
        return result
    detail = f"{missing} ({result.divergence.detail})"
    return replace(result, divergence=replace(result.divergence, difference="settings", detail=detail))


def _versions(events: Sequence[Recorded[Event]]) -> Sequence[tuple[str, str]]:
    if events and isinstance(events[0].event, QueryReceived):
        return events[0].event.versions
    return ()


class ReplayRun:
    """A replay under way, an event at a time.

    Attributes:
        fold: The deciders' states, and what they emitted that the trace has not shown yet.
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
        """Returns each decider's state field by field, and who owes what under `pending`."""
        found: dict[str, dict[str, object]] = {}
        for decider, state in self.fold.states.items():
            found[decider.__name__] = fields_of(state)
        pending: dict[str, object] = {}
        for place, owed in enumerate(self._pending.values()):
            pending[str(place)] = str(owed)
        found["pending"] = pending
        return found

    def left_over(self) -> Divergence | None:
        """Returns what was emitted now and not recorded; what a query's end cut off does not count."""
        last = self._events[-1]
        if not isinstance(last.event, QueryClosed) or not self.fold.emitted:
            return None
        emission = self.fold.emitted[0]
        # After QueryClosed was published, a session takes nothing any more.
        if emission.cause >= last.cause:
            return None
        return self._divergence(last, None, emission)

    def result(self, divergence: Divergence | None) -> ReplayResult:
        """Returns the outcome, once it is known whether there is a divergence."""
        result = ReplayResult(
            query_id=self._events[0].query_id,
            events=len(self._events),
            compared=self._compared,
            closed=isinstance(self._events[-1].event, QueryClosed),
            divergence=divergence or self._prompts.changed,
        )
        return with_missing(result, _versions(self._events), self._subscribers)

    def _check(self, recorded: Recorded[Event]) -> Divergence | None:
        self._prompts.hear(recorded)
        # What came from outside the rules is taken as it was recorded.
        if not self._is_decided(recorded):
            return None
        emitted = self.fold.emitted
        if not emitted:
            return None if self._gave_up(recorded.event) else self._divergence(recorded, recorded.event, None)
        emission = emitted[0]
        if emission.cause != recorded.cause or not same(recorded.event, emission.event, self._form(recorded)):
            return self._divergence(recorded, recorded.event, emission)
        emitted.popleft()
        self._compared += 1
        return None

    def _is_decided(self, recorded: Recorded[Event]) -> bool:
        if type(recorded.event) in self._decided:
            return True
        # Some kinds come from deciders and from acting components; a decider's is known by its having been emitted.
        return any(emission.stands_for(recorded) for emission in self.fold.emitted)

    def _gave_up(self, event: Event) -> bool:
        """Returns True if the session itself ended the query, after too many stalls."""
        return isinstance(event, QueryClosed) and event.status == "failed" and not self._stalls.may_recover()

    def _raised(self, recorded: Recorded[Event], failure: RuleFailure) -> Divergence:
        now = HandlerFailed(handler=failure.handler, error=repr(failure.error), event_seq=recorded.seq)
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

    def _divergence(self, at: Recorded[Event], event: Event | None, emission: Emission | None) -> Divergence:
        """Describes the difference between the event recorded at a place and what is emitted there now."""
        now = None if emission is None else emission.event
        difference = FieldDifference(path="", recorded=event, now=now)
        if event is not None and emission is not None and type(event) is type(emission.event):
            difference = first_difference(plain(event), plain(emission.event))
            if not difference.path:
                difference = FieldDifference(path="cause", recorded=at.cause, now=emission.cause)
        return Divergence(
            seq=at.seq,
            kind=(event or now or at.event).kind_name(),
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
        if all(self._is_reordered(cause) for cause in causes):
            return "order"
        return "settings" if self._lacks_settings() else "code"

    def _is_reordered(self, cause: int) -> bool:
        """Returns True if what is still to come under `cause` is what is emitted now, in another order."""
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
        held = self._forms[0].get("settings") if self._forms else None
        return isinstance(held, Mapping) and not set(QuerySettings.__struct_fields__) <= set(held)

    def _form(self, recorded: Recorded[Event]) -> Form | None:
        return self._forms[recorded.seq - 1] if self._forms else None


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
