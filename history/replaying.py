"""Replay: the deciding parts run again over a recorded query, and every event that they say is compared.

Pure: no model, no tool, no index, no clock and no network; what those brought is in the trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from antiphon.bus import PendingTable, StallCount, fold_pending
from antiphon.composition.wiring import Deciders, deciders_of
from antiphon.history.divergence import Class, Divergence, chain_of, first_difference, kind_of, same, shown
from antiphon.history.folding import Emission, Fold, RuleFailure, failures_by_event
from antiphon.history.prompt_versions import PromptsThen
from antiphon.history.rendering import fields_of, in_words
from antiphon.traces import from_json, plain
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.errors import DecodeError
from antiphon.vocabulary.events import VERSION, Event, HandlerFailed, QueryClosed, Recorded
from antiphon.vocabulary.values import QuerySettings, Value


def decided_by(deciders: Deciders, catalog: Catalog = BUILT_IN) -> frozenset[type[Event]]:
    """Returns the events that only deciders emit; everything else in a trace came from outside them."""
    decided: set[type[Event]] = set()
    for decider in deciders:
        decided.update(catalog.emitted_by(decider.role))
    return frozenset(decided)


DECIDED = decided_by(deciders_of())

Form = Mapping[str, object]


class Replayed(Value, frozen=True, kw_only=True):
    """What came of a replay.

    Attributes:
        events: Events of the trace.
        compared: Those of them that deciding parts said, and that were compared.
        closed: The trace has its end; an open one is replayed as far as it goes.
        divergence: The first difference, or None where there is none.
    """

    query_id: str
    events: int
    compared: int
    closed: bool
    divergence: Divergence | None = None


def replay(events: Sequence[Recorded[Event]], forms: Sequence[Form] | None = None) -> Replayed:
    """Replays a whole trace, or as far as it is the same.

    Args:
        forms: Each event as the trace holds it, so that fields which are newer than the trace are not compared.
    """
    replaying = Replaying(events, forms)
    divergence = next((found for found in map(replaying.step, events) if found is not None), None)
    return replaying.result(divergence or replaying.left_over())


def replay_lines(lines: Sequence[bytes]) -> Replayed:
    """Replays a trace of which each line is a recorded event as JSON; a line that cannot be read is a difference."""
    events: list[Recorded[Event]] = []
    for line in lines:
        try:
            events.append(from_json(line))
        except DecodeError as error:
            return unreadable(events[0].query_id if events else "unknown", len(lines), len(events) + 1, error)
    forms: list[Form] = [msgspec.json.decode(line)["event"] for line in lines]
    return replay(events, forms)


def unreadable(query_id: str, events: int, seq: int, error: DecodeError) -> Replayed:
    """What comes of a trace that this program cannot read."""
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
    return Replayed(query_id=query_id, events=events, compared=0, closed=False, divergence=divergence)


class Replaying:
    """A replay under way, an event at a time."""

    def __init__(self, events: Sequence[Recorded[Event]], forms: Sequence[Form] | None = None) -> None:
        self._events = events
        self._forms = forms
        self._failed = failures_by_event(events)
        self._stalls = StallCount()
        self._compared = 0
        self._table: PendingTable = {}
        self._prompts = PromptsThen(events)
        self.fold = Fold()

    def step(self, recorded: Recorded[Event]) -> Divergence | None:
        """Compares one event with what was said, and delivers it."""
        divergence = self._check(recorded)
        if divergence is not None:
            return divergence
        self._stalls.recall(recorded)
        self._table = fold_pending(self._table, recorded)
        raised = self.fold.hear(recorded, self._failed.get(recorded.seq, frozenset()))
        return self._raised(recorded, raised[0]) if raised else None

    def states(self) -> dict[str, dict[str, object]]:
        """What each deciding part knows now, and who owes what (`waiting`)."""
        found: dict[str, dict[str, object]] = {
            decider.__name__: fields_of(state) for decider, state in self.fold.states.items()
        }
        found["waiting"] = {str(place): str(each) for place, each in enumerate(self._table.values())}
        return found

    def left_over(self) -> Divergence | None:
        """What was said now and not recorded; what a query's end cut off is none."""
        last = self._events[-1]
        if not isinstance(last.event, QueryClosed) or not self.fold.emitted:
            return None
        said = self.fold.emitted[0]
        # After QueryClosed was said, a session takes nothing any more.
        return None if said.cause >= last.cause else self._divergence(last, None, said)

    def result(self, divergence: Divergence | None) -> Replayed:
        """What came of it, once `divergence` is known."""
        return Replayed(
            query_id=self._events[0].query_id,
            events=len(self._events),
            compared=self._compared,
            closed=isinstance(self._events[-1].event, QueryClosed),
            divergence=divergence or self._prompts.changed,
        )

    def _check(self, recorded: Recorded[Event]) -> Divergence | None:
        event, said = recorded.event, self.fold.emitted
        self._prompts.hear(recorded)
        if not self._is_decided(recorded):
            return None
        if said and said[0].cause == recorded.cause and same(event, said[0].event, self._form(recorded)):
            said.popleft()
            self._compared += 1
            return None
        if not said and isinstance(event, QueryClosed) and event.status == "failed" and not self._stalls.may_recover():
            return None  # the session gave up by itself
        return self._divergence(recorded, event, said[0] if said else None)

    def _is_decided(self, recorded: Recorded[Event]) -> bool:
        kind = type(recorded.event)
        return kind in DECIDED or any(
            one.cause == recorded.cause and type(one.event) is kind for one in self.fold.emitted
        )

    def _raised(self, recorded: Recorded[Event], raised: RuleFailure) -> Divergence:
        failure = HandlerFailed(handler=raised.handler, error=repr(raised.error), event_seq=recorded.seq)
        return Divergence(
            seq=recorded.seq,
            kind=kind_of(recorded.event),
            difference="code",
            field="",
            recorded="",
            now=shown(failure),
            chain=chain_of(self._events, recorded.seq),
            detail=f"{raised.handler} raises now at event {recorded.seq}, and did not when it was recorded: "
            f"{raised.error!r}",
        )

    def _divergence(self, at: Recorded[Event], event: Event | None, said: Emission | None) -> Divergence:
        now = said.event if said else None
        alike = event is not None and now is not None and type(event) is type(now)
        field, was, new = first_difference(plain(event), plain(now)) if alike else ("", event, now)
        if alike and said is not None and not field:
            field, was, new = "cause", at.cause, said.cause
        return Divergence(
            seq=at.seq,
            kind=kind_of(event if event is not None else said.event if said else at.event),
            difference=self._class_of(at),
            field=field,
            recorded=shown(event),
            now=shown(now),
            chain=chain_of(self._events, at.seq),
            detail=in_words(event, now, field, was, new),
        )

    def _class_of(self, at: Recorded[Event]) -> Class:
        if at.version != VERSION:
            return "schema"
        causes = {at.cause, *(said.cause for said in list(self.fold.emitted)[:1])}
        if all(self._only_reordered(cause) for cause in causes):
            return "order"
        return "settings" if self._lacks_settings() else "code"

    def _only_reordered(self, cause: int) -> bool:
        """Whether what is still to come under `cause` is what is said now, in another order."""
        said = Counter(shown(one.event) for one in self.fold.emitted if one.cause == cause)
        recorded = Counter(
            shown(each.event)
            for each in self._events
            if each.cause == cause and type(each.event) in DECIDED and each.seq > cause
        )
        return bool(said) and not said - recorded and sum(said.values()) > 1

    def _lacks_settings(self) -> bool:
        """Whether the trace was recorded without a setting that there is now."""
        held = self._forms[0].get("settings") if self._forms else None
        return isinstance(held, Mapping) and set(QuerySettings.__struct_fields__) - set(held) != set()

    def _form(self, recorded: Recorded[Event]) -> Form | None:
        return self._forms[recorded.seq - 1] if self._forms else None
