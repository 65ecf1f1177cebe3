"""Explains why two traces differ: finds differences with their own cause, and those that follow from earlier ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec.structs import replace

from antiphon.history.differing_fields import FieldChange
from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.events import (
    CALLER,
    DISPATCHER,
    ENGINE,
    REVIEWER,
    TIMER,
    Event,
    QueryReceived,
    ReasoningCompleted,
    ReasoningStarted,
    Recorded,
    Role,
    ToolsSettled,
)
from antiphon.vocabulary.values import Request, Value

Cause = Literal[
    "question", "change", "model", "tool", "code", "order", "settings", "time", "subscriber",
]  # fmt: skip
"""`question`: another question, or another conversation before it; `change`: a change made by hand in a fork; `model`:
another reply; `tool`: another result; `settings`: other settings or versions; `time`: a timeout, or a caller who left;
`subscriber`: a component from outside acted differently; `order`: the same events in another order; `code`: no earlier
event differs, so the rules must."""

ASKED = frozenset({"query", "history", "history_missing"})
"""The fields of a query's first event that contain the question; the others determine how to answer it."""

_BY_ROLE: dict[Role, Cause] = {
    ENGINE: "model",
    DISPATCHER: "tool",
    TIMER: "time",
    CALLER: "time",
    REVIEWER: "subscriber",
}
"""The cause of a difference in an acting part's events; deciders' events only follow from other events."""

_EXCEPTIONS: dict[type[Event], Cause | None] = {
    # These two only repeat the decisions of other events: the content of a request, and the end of a round's calls.
    ReasoningStarted: None,
    ToolsSettled: None,
}

_BUILT_IN_ROLES: frozenset[Role] = frozenset().union(
    *[kind.emitted_by for kind in BUILT_IN.events]
)

Trace = Sequence[Recorded[Event]]


class Difference(Value, frozen=True, kw_only=True):
    """One event that is not the same in both traces, or that only one has (the other `seq` is then None).

    Attributes:
        because: The cause of the difference; an event that only follows from an earlier difference has that one's.
        field: The first field that differs; empty if a whole event does.
        detail: The difference in words.
        fields: All fields that differ.
    """

    kind: str
    left: int | None
    right: int | None
    because: Cause
    field: str
    detail: str
    fields: tuple[FieldChange, ...] = ()

    @property
    def place(self) -> tuple[int, int]:
        """The position by which differences are sorted."""
        seqs = [seq for seq in (self.left, self.right) if seq is not None]
        return min(seqs), max(seqs)


class _Side:
    """One of the two traces, and the causes of its differences so far."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.causes: dict[int, Cause] = {}

    def inherited(self, seq: int | None) -> Cause | None:
        """Returns the cause of the nearest difference that led to an event; None if there is none, or no event."""
        while seq:
            cause = self.trace[seq - 1].cause
            if cause in self.causes:
                return self.causes[cause]
            if cause >= seq:
                return None  # a trace from a file may claim anything
            seq = cause
        return None


class Explainer:
    """Explains the differences of two traces one after the other, in order.

    Args:
        decided: The events that follow from others by rules.
    """

    def __init__(
        self, left: Trace, right: Trace, decided: frozenset[type[Event]]
    ) -> None:
        self._left = _Side(left)
        self._right = _Side(right)
        self._decided = decided
        self._last: Cause | None = None
        self._shared_left = _shared_seq(left, right)
        self._shared_right = _shared_seq(right, left)
        same = _requests(left) & _requests(right)
        self._same_requests = {call_id for call_id, _ in same}

    def explain(
        self, differences: Iterable[Difference], reordered: Difference | None
    ) -> list[Difference]:
        """Returns the differences in order, each with its cause.

        Args:
            reordered: A further difference, of which the cause is known: the order itself.
        """
        explained: list[Difference] = []
        ordered = list(differences)
        if reordered is not None:
            ordered.append(reordered)
        # In the order of the traces, so that each difference finds the cause of the earlier one from which it follows.
        ordered.sort(key=lambda difference: difference.place)
        for difference in ordered:
            if difference is not reordered:
                difference = replace(difference, because=self._because(difference))
            self._note(difference)
            explained.append(difference)
        return explained

    def _note(self, difference: Difference) -> None:
        self._last = difference.because
        if difference.left is not None:
            self._left.causes.setdefault(difference.left, difference.because)
        if difference.right is not None:
            self._right.causes.setdefault(difference.right, difference.because)

    def _because(self, difference: Difference) -> Cause:
        event = self._event_of(difference)
        if isinstance(event, QueryReceived):
            return _cause_of_beginning(difference)
        followed = self._follows_from(event, difference)
        if followed is not None:
            return followed
        own = self._own_cause(event)
        if own is None:
            return self._cause_of_decision(difference)
        one_sided = None in (difference.left, difference.right)
        if one_sided and own in ("model", "tool") and self._last is not None:
            # Requested in both but answered in one: an earlier difference made it fail, or repeated the request.
            return self._last
        return own

    def _follows_from(self, event: Event, difference: Difference) -> Cause | None:
        """Returns the cause of the difference from which this one follows; None if there is none."""
        # The same request got two replies, no matter what else differs between the queries.
        if (
            isinstance(event, ReasoningCompleted)
            and event.call_id in self._same_requests
        ):
            return "model"
        inherited = self._left.inherited(difference.left)
        if inherited is not None:
            return inherited
        return self._right.inherited(difference.right)

    def _cause_of_decision(self, difference: Difference) -> Cause:
        """Returns why rules decided differently: a change by hand, or else the last difference before it."""
        if self._is_changed_by_hand(difference):
            return "change"
        return self._last or "code"

    def _is_changed_by_hand(self, difference: Difference) -> bool:
        """Returns True if a fork differs from its parent in a shared event, which somebody must have changed."""
        for seq, shared in (
            (difference.left, self._shared_left),
            (difference.right, self._shared_right),
        ):
            if seq is not None and seq <= shared:
                return True
        return False

    def _own_cause(self, event: Event) -> Cause | None:
        """Returns the cause in an event itself; None if the event can only follow from others."""
        kind = type(event)
        if kind in self._decided:
            return None
        if kind in _EXCEPTIONS:
            return _EXCEPTIONS[kind]
        # Several parts of the service may emit an event, which declares the usual one first.
        for role in event.emitted_by:
            if role in _BY_ROLE:
                return _BY_ROLE[role]
            if role not in _BUILT_IN_ROLES:
                return "subscriber"
        return None

    def _event_of(self, difference: Difference) -> Event:
        if difference.left is not None:
            return self._left.trace[difference.left - 1].event
        assert difference.right is not None, (
            "a difference is in one of the traces at least"
        )
        return self._right.trace[difference.right - 1].event


def _cause_of_beginning(difference: Difference) -> Cause:
    """Returns why the beginnings of two queries differ."""
    for field in difference.fields:
        name = field.path.partition(".")[0].partition("[")[0]
        if name in ASKED:
            return "question"
    return "settings"


def _shared_seq(fork: Trace, parent: Trace) -> int:
    """Returns the last event that a fork shares with its parent; 0 if it is not a fork of it."""
    first = fork[0].event
    if isinstance(first, QueryReceived) and first.parent == parent[0].query_id:
        return first.parent_seq
    return 0


def _requests(trace: Trace) -> set[tuple[str, Request]]:
    """Returns the requests that were sent, each with its call."""
    sent: set[tuple[str, Request]] = set()
    for recorded in trace:
        if isinstance(recorded.event, ReasoningStarted):
            sent.add((recorded.event.call_id, recorded.event.request))
    return sent
