"""Compares two traces event by event, with the cause of each difference, and their answers, tokens, cost and time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from msgspec.structs import replace

from antiphon.composition import catalog_of
from antiphon.history.alignment import (
    Aligned,
    EventKey,
    ToolCallNames,
    align,
    comparable,
)
from antiphon.history.differing_fields import differing_fields
from antiphon.history.explaining import Cause, Difference, Explainer
from antiphon.history.folding import decided_events
from antiphon.language.sentences import sentence_starts
from antiphon.vocabulary.events import (
    Event,
    QueryClosed,
    QueryReceived,
    QueryResumed,
    Recorded,
    ResponseAssembled,
    ToolFailed,
    ToolSucceeded,
)
from antiphon.vocabulary.subscribers import Subscriber
from antiphon.vocabulary.values import Usage, Value

Trace = Sequence[Recorded[Event]]


class Side(Value, frozen=True, kw_only=True):
    """One of the two traces: its status, its answer and its figures. `usage` holds the cost, if that is known."""

    query_id: str
    events: int
    status: str
    answer: str
    confidence: str
    calls: int
    rounds: int
    usage: Usage
    duration_ms: float


class Group(Value, frozen=True, kw_only=True):
    """All differences of one cause.

    Attributes:
        first: The place of the first of them in `Diff.differences`, from 0.
        kinds: The number of them for each kind of event, in order.
    """

    because: Cause
    count: int
    first: int
    kinds: tuple[tuple[str, int], ...]


class Diff(Value, frozen=True, kw_only=True):
    """Two traces compared.

    Attributes:
        same: The number of events that are equal in both.
        differences: In the order of the traces; different times alone do not count.
        groups: The same differences by their cause.
        change: What was changed, in words, if one of the two is a fork.
        sentences: The answers' sentences: `=` in both, `-` only left, `+` only right.
    """

    left: Side
    right: Side
    same: int
    differences: tuple[Difference, ...]
    groups: tuple[Group, ...]
    change: str
    sentences: tuple[tuple[str, str], ...]


def diff(left: Trace, right: Trace, subscribers: Sequence[Subscriber] = ()) -> Diff:
    """Compares two traces.

    Args:
        subscribers: The components from outside that took part when they were recorded.
    """
    comparison = _Comparison(left, right, subscribers)
    differences = comparison.differences()
    explainer = Explainer(left, right, decided_events(subscribers))
    # If events differ, others are likely to change places with them, which is not a separate difference.
    explained = explainer.explain(
        differences, comparison.reordered(differ=bool(differences))
    )
    left_side = _side(left)
    right_side = _side(right)
    return Diff(
        left=left_side,
        right=right_side,
        same=comparison.count_keys() - len(differences),
        differences=tuple(explained),
        groups=_groups(explained),
        change=_change_in(right) or _change_in(left),
        sentences=tuple(_compared_sentences(left_side.answer, right_side.answer)),
    )


def _groups(differences: Sequence[Difference]) -> tuple[Group, ...]:
    by_cause: dict[Cause, list[int]] = {}
    for place, difference in enumerate(differences):
        by_cause.setdefault(difference.because, []).append(place)
    groups: list[Group] = []
    for because, places in by_cause.items():
        kinds = Counter(differences[place].kind for place in places)
        groups.append(
            Group(
                because=because,
                count=len(places),
                first=places[0],
                kinds=tuple(kinds.items()),
            )
        )
    return tuple(groups)


def _change_in(trace: Trace) -> str:
    first = trace[0].event
    if isinstance(first, QueryReceived):
        return first.change
    return ""


class _Comparison:
    """Compares each event of one trace with the event of the same key in the other."""

    def __init__(
        self, left: Trace, right: Trace, subscribers: Sequence[Subscriber]
    ) -> None:
        catalog = catalog_of(subscribers)
        self._left = align(left, catalog)
        self._right = align(right, catalog)
        self._left_names = ToolCallNames.of(left)
        self._right_names = ToolCallNames.of(right)

    def count_keys(self) -> int:
        """Returns the number of keys with an event in either trace."""
        return len(self._left | self._right)

    def differences(self) -> list[Difference]:
        """Returns the differences between the events, still without their true causes."""
        found: list[Difference] = []
        # In the left trace's order, then in the right one's.
        for key in self._left | self._right:
            difference = self._difference(key)
            if difference is not None:
                found.append(difference)
        return found

    def reordered(self, *, differ: bool) -> Difference | None:
        """Returns the first event that both traces have in a different order.

        Args:
            differ: There are other differences; then only the order in which tools ended counts, because rules depend
                on that.
        """
        ours = _common_keys(self._left, self._right, outcomes_only=differ)
        theirs = _common_keys(self._right, self._left, outcomes_only=differ)
        for key, other in zip(ours, theirs, strict=True):
            if key != other:
                return Difference(
                    kind=key.kind,
                    left=self._left[key].seq,
                    right=self._right[other].seq,
                    because="order",
                    field="",
                    detail=f"{key.kind} | {other.kind}: the same events in another order",
                )
        return None

    def _difference(self, key: EventKey) -> Difference | None:
        if key not in self._left:
            return _one_sided(key.kind, left=None, right=self._right[key].seq)
        if key not in self._right:
            return _one_sided(key.kind, left=self._left[key].seq, right=None)
        left, right = self._left[key], self._right[key]
        was = comparable(left.event, self._left_names)
        now = comparable(right.event, self._right_names)
        if was == now:
            return None
        fields = differing_fields(was, now)
        return Difference(
            kind=key.kind,
            left=left.seq,
            right=right.seq,
            because="code",
            field=fields[0].path,
            detail=str(fields[0]),
            fields=fields,
        )


def _one_sided(kind: str, *, left: int | None, right: int | None) -> Difference:
    """Returns the difference for an event that only one of the traces has."""
    side = "left" if right is None else "right"
    detail = f"only in the {side} one"
    return Difference(
        kind=kind, left=left, right=right, because="code", field="", detail=detail
    )


def _common_keys(
    ours: Aligned, theirs: Aligned, *, outcomes_only: bool
) -> list[EventKey]:
    """Returns the keys that both traces have, in the order of the first."""
    common: list[EventKey] = []
    for key, recorded in ours.items():
        if key not in theirs:
            continue
        if not outcomes_only or isinstance(recorded.event, ToolSucceeded | ToolFailed):
            common.append(key)
    return common


def _side(events: Trace) -> Side:
    response: ResponseAssembled | None = None
    away_s = 0.0
    for recorded in events:
        if isinstance(recorded.event, ResponseAssembled):
            response = recorded.event
        elif isinstance(recorded.event, QueryResumed):
            # Not part of the duration: nobody worked on it then; a fork is minutes or months later than its prefix.
            away_s += recorded.event.away_s
    status = "open"
    end = events[-1].event
    if isinstance(end, QueryClosed):
        status = end.status
    side = Side(
        query_id=events[0].query_id,
        events=len(events),
        status=status,
        answer="",
        confidence="",
        calls=0,
        rounds=0,
        usage=Usage(),
        duration_ms=max(0.0, events[-1].at - events[0].at - away_s) * 1000,
    )
    if response is None:
        return side
    return replace(
        side,
        answer=response.answer,
        confidence=response.confidence,
        calls=response.calls,
        rounds=response.rounds,
        usage=response.usage,
    )


def _compared_sentences(left: str, right: str) -> list[tuple[str, str]]:
    """Returns the sentences of both answers, each marked as equal (`=`), only left (`-`) or only right (`+`)."""
    ours, theirs = sentences_of(left), sentences_of(right)
    # `autojunk` would ignore frequent sentences.
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    marked: list[tuple[str, str]] = []
    for change, left_from, left_to, right_from, right_to in matcher.get_opcodes():
        if change == "equal":
            marked += [("=", sentence) for sentence in ours[left_from:left_to]]
            continue
        marked += [("-", sentence) for sentence in ours[left_from:left_to]]
        marked += [("+", sentence) for sentence in theirs[right_from:right_to]]
    return marked


def sentences_of(text: str) -> list[str]:
    """Returns the sentences of a text, stripped of white space."""
    pieces: list[str] = []
    for start, end in pairwise((*sentence_starts(text), len(text))):
        piece = text[start:end].strip()
        if piece:
            pieces.append(piece)
    return pieces
