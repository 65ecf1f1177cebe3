"""A replay under way: compares each recorded event with the one that rules or acting components would make now."""

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
"""The first version of the rules in which rules settle rounds."""
Form = Mapping[str, object]
"""An event as plain JSON, with the fields that it had when it was written."""

Subscribers = Sequence[Subscriber]
Trace = Sequence[Recorded[Event]]


class ReplayRun:
    """A replay under way, one event at a time.

    Args:
        forms: Each event in the trace's form, so that fields newer than the trace are not compared.
        subscribers: The components from outside that took part when the query was recorded.
        tools: The definitions of today's tools; None: they are not compared.

    Attributes:
        fold: The deciders' states, and their emissions that the trace has not shown yet.
        compared: The number of compared events of deciding components, and `verified` that of acting ones.
        unknown: The first event of an unknown kind; None if there was none.
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
        """The parts that could not be compared so far, and why."""
        if not self._requests.skipped:
            return tuple(self._not_compared)
        return (self._requests.skipped, *self._not_compared)

    def step(self, recorded: Recorded[Event]) -> Divergence | None:
        """Compares one event with the emission for it, and delivers it."""
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
        """Returns each decider's state field by field, and the pending outcomes under `pending`."""
        found = {
            decider.__name__: fields_of(state)
            for decider, state in self.fold.states.items()
        }
        table: PendingTable = {}
        # Computed only here and not in every step, because no comparison needs it.
        for recorded in self._events[: self._heard]:
            table = fold_pending(table, recorded, self._catalog)
        found["pending"] = {
            str(place): str(owed) for place, owed in enumerate(table.values())
        }
        return found

    def left_over(self) -> Divergence | None:
        """Returns the divergence of the first emission that was not recorded, unless the query's end cut it off."""
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
        # The session accepted nothing after `QueryClosed`, although the rules still emit events here.
        if emission.cause >= last.cause:
            return None
        return self._divergence(last, None, emission)

    def _inherit(self, recorded: Recorded[Event]) -> None:
        """Accepts an event of the parent without comparison, because the fork's settings did not lead to it."""
        self.fold.take(recorded)
        for check in self._checks.get(type(recorded.event), ()):
            self._finding(check, recorded)
        if recorded.seq == self._inherited > 1:
            self._not_compared.append(
                f"events 1 to {recorded.seq}: they are the parent's, and the fork has other settings"
            )

    def _check(self, recorded: Recorded[Event]) -> Divergence | None:
        # Events that do not come from rules, such as replies and results, are the input of a replay.
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
        """Returns True if a component that runs tools failed, which explains events that it did not emit."""
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
        """Compares an event of an acting component with the one that follows from the events before it."""
        kind = type(recorded.event)
        for check in self._checks.get(kind, ()):
            finding = self._finding(check, recorded)
            if kind in check.compares:
                self.verified += 1
            # An event changed by hand does not follow from the events before it.
            if finding is None or recorded.seq == self._by_hand:
                continue
            if finding.difference != "settings":
                return self._verified_otherwise(recorded, finding)
            self._not_compared.append(finding.detail)
        return None

    def _finding(self, check: Check, recorded: Recorded[Event]) -> Finding | None:
        try:
            finding = check.hear(recorded)
        except Exception as error:  # noqa: BLE001 - as with the rules: the exception is the finding
            return Finding(None, f"{type(check).__name__} raises now: {error!r}")
        if finding is None or finding.detail or finding.now is None:
            return finding
        # Does not compare fields newer than the trace.
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
        # Some kinds come from both deciders and acting components; a decider's event matches an emission.
        return any(emission.stands_for(recorded) for emission in self.fold.emitted)

    def _gave_up(self, event: Event) -> bool:
        """Returns True if the session itself ended the query after too many stalls."""
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
        """Describes the difference between the event recorded at a place and the one emitted now."""
        now: Event | None = None
        difference = FieldDifference(path="", recorded=None, now=None)
        if emission is not None:
            now = emission.event
            if type(event) is type(now):
                difference = first_difference(plain(event), plain(now))
                # Events with equal fields differ in their causes.
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
        # The recorded event and the emission may have different causes; both causes' events must be reordered.
        causes = {at.cause}
        if self.fold.emitted:
            causes.add(self.fold.emitted[0].cause)
        reordered = [cause for cause in causes if self._is_reordered(cause)]
        if len(reordered) == len(causes):
            return "order"
        return "code"

    def _is_reordered(self, cause: int) -> bool:
        """Returns True if `cause` led to the events that are emitted now, but in another order."""
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

    At that time the component that ran the last tool also settled the round: the event may be at any place, with the
    tool's request as its cause. It is compared with the rules' settlements so far, apart from their other emissions.
    """

    def __init__(self) -> None:
        self._emitted: dict[int, Emission] = {}
        self._seen: set[int] = set()

    def take_from(self, fold: Fold) -> None:
        """Takes the settlements out of the emissions."""
        for emission in list(fold.emitted):
            if isinstance(emission.event, ToolsSettled):
                fold.emitted.remove(emission)
                self._emitted[emission.event.round] = emission

    def see(self, number: int) -> Emission | None:
        """Notes a recorded settlement of a round; returns that of the rules, None if there is none."""
        self._seen.add(number)
        return self._emitted.get(number)

    def first_unseen(self) -> Emission | None:
        """Returns the first settlement that the trace lacks; None if it has all."""
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
    """Returns the `seq` of the event that was changed to fork a query; 0 if the query is not a fork."""
    first = events[0].event
    if isinstance(first, QueryReceived) and first.parent is not None:
        return first.parent_seq
    return 0


def _changes_settings(events: Trace) -> bool:
    """Returns True for a fork whose settings were changed (`Change`)."""
    first = events[0].event
    if not isinstance(first, QueryReceived) or first.parent is None:
        return False
    return any(
        words.startswith(("setting ", "set settings."))
        for words in first.change.split("; ")
    )


def fields_of(state: object) -> dict[str, object]:
    """Returns the fields of a state by name, with those of inner values as `memory.facts`."""
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
