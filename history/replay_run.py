"""A replay under way: what each recorded event should have been, by the rules and by what acting components do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from antiphon.bus import PendingTable, StallCount, fold_pending
from antiphon.composition import catalog_of, deciders_of
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
from antiphon.history.requests import RequestCheck
from antiphon.history.tool_versions import ToolCheck
from antiphon.history.verifying import (
    AlarmCheck,
    CallerCheck,
    Check,
    Finding,
)
from antiphon.traces import plain
from antiphon.vocabulary.containment import words_of
from antiphon.vocabulary.events import (
    VERSION,
    Event,
    HandlerFailed,
    QueryClosed,
    QueryReceived,
    Recorded,
    ToolsSettled,
)
from antiphon.vocabulary.subscribers import Subscriber
from antiphon.vocabulary.unknown import UnknownEvent, unknown_words
from antiphon.vocabulary.values import StoredText, Value

SETTLES_BY_RULE = 3
"""The first version of the rules that settle rounds."""
Form = Mapping[str, object]
"""An event as plain JSON, with the fields that it had when it was written."""

Subscribers = Sequence[Subscriber]
Trace = Sequence[Recorded[Event]]


class ReplayRun:
    """A replay under way, an event at a time.

    Args:
        forms: Each event as the trace holds it, so that fields which are newer than the trace are not compared.
        subscribers: The components from outside that the query was recorded with.
        tools: The definitions of the tools that there are now; None: they are not compared.

    Attributes:
        fold: The deciders' states, and their emissions that the trace has not shown yet.
        compared: Events of deciding components that were compared so far, and `verified` those of acting ones.
        unknown: The first event of a kind that nothing here defines; None if there was none.
    """

    def __init__(
        self,
        events: Trace,
        forms: Sequence[Form] | None = None,
        subscribers: Subscribers = (),
        tools: StoredText | None = None,
    ) -> None:
        self._events = events
        self._forms = forms
        self._subscribers = subscribers
        self._catalog = catalog_of(subscribers)
        self._decided = decided_events(subscribers)
        self._failed = failures_by_event(events)
        self._stalls = StallCount()
        self._heard = 0
        self._requests = RequestCheck(events)
        self._checks = _by_event(
            (
                ToolCheck(
                    tools
                ),  # before the requests, which are built with these tools
                self._requests,
                AlarmCheck(),
                CallerCheck(events),
            )
        )
        self._by_hand = _changed_by_hand(events)
        self._inherited = self._by_hand if _changes_settings(events) else 0
        self._not_compared: list[str] = []
        self.unknown: Divergence | None = None
        self.compared = 0
        self.verified = 0
        self.fold = Fold(deciders_of(subscribers))
        self._settlements = OlderSettlements() if _is_older(events) else None

    @property
    def skipped(self) -> tuple[str, ...]:
        """What could not be compared so far, and why."""
        if not self._requests.skipped:
            return tuple(self._not_compared)
        return (self._requests.skipped, *self._not_compared)

    def step(self, recorded: Recorded[Event]) -> Divergence | None:
        """Compares one event with what was emitted in its place, and delivers it."""
        if recorded.seq <= self._inherited:
            self._inherit(recorded)
            divergence = None
        else:
            divergence = self._check(recorded) or self._verify(recorded)
        if divergence is not None:
            return divergence
        if isinstance(recorded.event, UnknownEvent) and self.unknown is None:
            self.unknown = self._unknown(recorded)
        self._stalls.recall(recorded)
        self._heard += 1
        failures = self.fold.hear(recorded, self._failed.get(recorded.seq, frozenset()))
        if failures:
            return self._raised(recorded, failures[0])
        if self._settlements is not None:
            self._settlements.take_from(self.fold)
        return None

    def states(self) -> dict[str, dict[str, object]]:
        """Returns each decider's state field by field, and the outcomes still owed under `pending`."""
        found: dict[str, dict[str, object]] = {}
        for decider, state in self.fold.states.items():
            found[decider.__name__] = fields_of(state)
        table: PendingTable = {}
        # Only here, and not with every step: nothing is compared with it.
        for recorded in self._events[: self._heard]:
            table = fold_pending(table, recorded, self._catalog)
        pending: dict[str, object] = {}
        for place, owed in enumerate(table.values()):
            pending[str(place)] = str(owed)
        found["pending"] = pending
        return found

    def left_over(self) -> Divergence | None:
        """Returns the first emission that was not recorded, unless the query's end cut it off."""
        last = self._events[-1]
        if not isinstance(last.event, QueryClosed):
            return None
        if self._settlements is not None and not self._tools_failed():
            lost = self._settlements.first_unseen()
            if lost is not None:
                return self._divergence(last, None, lost)
        if not self.fold.emitted:
            return None
        emission = self.fold.emitted[0]
        # After `QueryClosed` was published the session took nothing more, though the rules emit it here.
        if emission.cause >= last.cause:
            return None
        return self._divergence(last, None, emission)

    def _inherit(self, recorded: Recorded[Event]) -> None:
        """Takes an event of the parent's as it is, as the fork did: the settings that led to it are not the fork's."""
        self.fold.take(recorded)
        for check in self._checks.get(type(recorded.event), ()):
            self._finding(check, recorded)
        if recorded.seq == self._inherited > 1:
            self._not_compared.append(
                f"events 1 to {recorded.seq}: they are the parent's, and the fork has other settings"
            )

    def _check(self, recorded: Recorded[Event]) -> Divergence | None:
        # Events from outside the rules, such as replies and results, are the input of a replay.
        if not self._is_decided(recorded):
            return None
        event = recorded.event
        if self._settlements is not None and isinstance(event, ToolsSettled):
            return self._check_settlement(recorded, event.round, self._settlements)
        if not self.fold.emitted:
            if self._gave_up(recorded.event):
                return None
            return self._divergence(recorded, recorded.event, None)
        emission = self.fold.emitted[0]
        if emission.cause != recorded.cause or not same(
            recorded.event, emission.event, self._form_of(recorded)
        ):
            return self._divergence(recorded, recorded.event, emission)
        self.fold.emitted.popleft()
        self.compared += 1
        return None

    def _tools_failed(self) -> bool:
        """Returns True if a part that runs tools failed: what it did not do is recorded by that."""
        handlers = [name for names in self._failed.values() for name in names]
        return any(name.startswith("Tool") for name in handlers)

    def _check_settlement(
        self, recorded: Recorded[Event], number: int, settlements: OlderSettlements
    ) -> Divergence | None:
        emission = settlements.see(number)
        if emission is None or emission.event != recorded.event:
            return self._divergence(recorded, recorded.event, emission)
        self.compared += 1
        return None

    def _verify(self, recorded: Recorded[Event]) -> Divergence | None:
        """Compares an event of an acting component with what follows from the events before it."""
        kind = type(recorded.event)
        for check in self._checks.get(kind, ()):
            finding = self._finding(check, recorded)
            if kind in check.compares:
                self.verified += 1
            if finding is None or recorded.seq == self._by_hand:
                continue
            if finding.difference != "settings":
                return self._verified_otherwise(recorded, finding)
            self._not_compared.append(finding.detail)
        return None

    def _finding(self, check: Check, recorded: Recorded[Event]) -> Finding | None:
        try:
            finding = check.hear(recorded)
        except Exception as error:  # noqa: BLE001 - as with the rules: what is raised is the finding
            return Finding(None, f"{type(check).__name__} raises now: {error!r}")
        if finding is None or finding.detail or finding.now is None:
            return finding
        # Fields that are newer than the trace are not compared.
        if same(recorded.event, finding.now, self._form_of(recorded)):
            return None
        return finding

    def _verified_otherwise(
        self, recorded: Recorded[Event], finding: Finding
    ) -> Divergence:
        event = recorded.event
        difference = FieldDifference(path="", recorded=None, now=None)
        if type(finding.now) is type(event):
            difference = first_difference(plain(event), plain(finding.now))
        detail = f"{event.kind_name()}: {finding.detail}"
        if not finding.detail:
            detail = in_words(event, finding.now, difference)
        return Divergence(
            seq=recorded.seq,
            kind=event.kind_name(),
            difference=finding.difference,
            field=difference.path,
            recorded=shown(event),
            now=shown(finding.now),
            chain=chain_of(self._events, recorded.seq),
            detail=detail,
        )

    def _unknown(self, recorded: Recorded[Event]) -> Divergence:
        kind = recorded.event.kind_name()
        return Divergence(
            seq=recorded.seq,
            kind=kind,
            difference="settings",
            field="",
            recorded=shown(recorded.event),
            now="",
            chain=chain_of(self._events, recorded.seq),
            detail=unknown_words(kind),
        )

    def _form_of(self, recorded: Recorded[Event]) -> Form | None:
        if self._forms is None:
            return None
        return self._forms[recorded.seq - 1]

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
        error = words_of(failure.error)
        now = HandlerFailed(
            handler=failure.handler, error=error, event_seq=recorded.seq
        )
        return Divergence(
            seq=recorded.seq,
            kind=recorded.event.kind_name(),
            difference="code",
            field="",
            recorded="",
            now=shown(now),
            chain=chain_of(self._events, recorded.seq),
            detail=f"{failure.handler} raises now at event {recorded.seq}, and did not when it was recorded: {error}",
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
        subject = now if event is None and now is not None else at.event
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


class OlderSettlements:
    """The settlements in a trace of older rules.

    Then whoever ran a tool settled the round as well: the event is wherever that happened, and its cause is the
    request of the tool. It is compared with what the rules settled by then, whatever else they emitted.
    """

    def __init__(self) -> None:
        self._emitted: dict[int, Emission] = {}
        self._seen: set[int] = set()

    def take_from(self, fold: Fold) -> None:
        """Takes the settlements from what was emitted."""
        for emission in list(fold.emitted):
            if isinstance(emission.event, ToolsSettled):
                fold.emitted.remove(emission)
                self._emitted[emission.event.round] = emission

    def see(self, number: int) -> Emission | None:
        """Notes that a round was settled; returns its settlement by the rules, None if there is none."""
        self._seen.add(number)
        return self._emitted.get(number)

    def first_unseen(self) -> Emission | None:
        """Returns a settlement that the trace does not hold."""
        unseen = [each for n, each in self._emitted.items() if n not in self._seen]
        return next(iter(unseen), None)


def _is_older(events: Trace) -> bool:
    first = events[0].event
    return isinstance(first, QueryReceived) and first.rules < SETTLES_BY_RULE


def _by_event(checks: Sequence[Check]) -> dict[type[Event], list[Check]]:
    found: dict[type[Event], list[Check]] = {}
    for check in checks:
        for kind in check.hears:
            found.setdefault(kind, []).append(check)
    return found


def _changed_by_hand(events: Trace) -> int:
    """Returns the `seq` of the event that somebody changed to fork a query; 0 if nobody did."""
    first = events[0].event
    if isinstance(first, QueryReceived) and first.parent is not None:
        return first.parent_seq
    return 0


def _changes_settings(events: Trace) -> bool:
    """Returns True for a fork that somebody gave other settings than its parent had (`Change`)."""
    first = events[0].event
    if not isinstance(first, QueryReceived) or first.parent is None:
        return False
    return any(
        words.startswith(("setting ", "set settings."))
        for words in first.change.split("; ")
    )


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
