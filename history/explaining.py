"""Explains why two traces differ where they do: what differs of itself, and what only follows from that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec.structs import replace

from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.events import (
    CALLER,
    DISPATCHER,
    ENGINE,
    REVIEWER,
    TIMER,
    Event,
    QueryReceived,
    ReasoningStarted,
    Recorded,
    Role,
    ToolsSettled,
)
from antiphon.vocabulary.values import Value

Cause = Literal["model", "tool", "code", "order", "settings", "time", "subscriber"]
"""`model`: it replied something else; `tool`: it brought something else; `settings`: other settings or versions;
`time`: somebody waited, or went away; `subscriber`: a component from outside did something else; `order`: the same, in
another order; `code`: nothing before it differs, so the rules do."""

_BY_ROLE: dict[Role, Cause] = {
    ENGINE: "model",
    DISPATCHER: "tool",
    TIMER: "time",
    CALLER: "time",
    REVIEWER: "subscriber",
}
"""The cause of a difference in what a part of the service emits; what a decider emits only follows from the rest."""

_EXCEPTIONS: dict[type[Event], Cause | None] = {
    QueryReceived: "settings",
    # These two say what was decided already: what is sent in a request, and that a round's calls have ended.
    ReasoningStarted: None,
    ToolsSettled: None,
}

_BUILT_IN_ROLES: frozenset[Role] = frozenset().union(*(kind.emitted_by for kind in BUILT_IN.events))

Trace = Sequence[Recorded[Event]]


class Difference(Value, frozen=True, kw_only=True):
    """One event that is not the same in both traces, or that only one has (the other `seq` is then None).

    Attributes:
        because: What differs of itself; an event that only follows from an earlier difference has that one's.
    """

    kind: str
    left: int | None
    right: int | None
    because: Cause
    field: str
    detail: str

    @property
    def place(self) -> tuple[int, int]:
        """The order in which differences are met."""
        seqs = [seq for seq in (self.left, self.right) if seq is not None]
        return min(seqs), max(seqs)


class _Side:
    """One of the two traces, and the causes of its differences so far."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.causes: dict[int, Cause] = {}

    def inherited(self, seq: int | None) -> Cause | None:
        """Returns the cause of the nearest difference that led to an event; None where none did, or there is none."""
        while seq:
            cause = self.trace[seq - 1].cause
            if cause in self.causes:
                return self.causes[cause]
            if cause >= seq:
                return None  # a trace from a file may claim anything
            seq = cause
        return None


class Explainer:
    """Explains the differences of two traces, one after the other in their order.

    Args:
        decided: The events that only follow from others, by rules.
    """

    def __init__(self, left: Trace, right: Trace, decided: frozenset[type[Event]]) -> None:
        self._left = _Side(left)
        self._right = _Side(right)
        self._decided = decided
        self._last: Cause | None = None

    def explain(self, differences: Iterable[Difference], reordered: Difference | None) -> list[Difference]:
        """Returns the differences in their order, each with why it is one.

        Args:
            reordered: One more, of which the cause is known: the order itself.
        """
        explained: list[Difference] = []
        known = [] if reordered is None else [reordered]
        for difference in sorted([*differences, *known], key=lambda difference: difference.place):
            if difference is not reordered:
                difference = replace(difference, because=self._because(difference))
            self._note(difference)
            explained.append(difference)
        return explained

    def _note(self, difference: Difference) -> None:
        self._last = difference.because
        for side, seq in ((self._left, difference.left), (self._right, difference.right)):
            if seq is not None:
                side.causes.setdefault(seq, difference.because)

    def _because(self, difference: Difference) -> Cause:
        inherited = self._left.inherited(difference.left) or self._right.inherited(difference.right)
        if inherited is not None:
            return inherited
        own = self._own_cause(difference)
        if own in ("model", "tool") and None in (difference.left, difference.right):
            # Asked for in both and answered in one: it was given up, or asked for again, because of something earlier.
            return self._last or own
        # What follows from rules over all that came before follows from the last difference before it.
        return own or self._last or "code"

    def _own_cause(self, difference: Difference) -> Cause | None:
        """Returns why the event differs by itself; None where it can only follow from others."""
        if difference.left is not None:
            event = self._left.trace[difference.left - 1].event
        else:
            event = self._right.trace[(difference.right or 1) - 1].event
        kind = type(event)
        if kind in self._decided:
            return None
        if kind in _EXCEPTIONS:
            return _EXCEPTIONS[kind]
        # An event may come from several parts of the service; the usual one is declared first.
        for role in event.emitted_by:
            if role in _BY_ROLE:
                return _BY_ROLE[role]
            if role not in _BUILT_IN_ROLES:
                return "subscriber"
        return None
