"""Two traces side by side: aligned by cause, the first difference, what kind each is, and the answers, tokens, cost
and time beside one another."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from antiphon.history.alignment import Key, Keyed, keyed, names_in, told
from antiphon.history.divergence import first_difference, kind_of
from antiphon.history.explaining import Difference, explained
from antiphon.language.sentences import sentence_starts
from antiphon.vocabulary.events import Event, QueryResumed, Recorded, ResponseAssembled
from antiphon.vocabulary.values import Usage, Value

_OUTCOMES = ("tool_succeeded", "tool_failed")


class Side(Value, frozen=True, kw_only=True):
    """One of the two: what it came to. `usage` holds what it cost, where that is known."""

    query_id: str
    events: int
    status: str
    answer: str
    confidence: str
    calls: int
    rounds: int
    usage: Usage
    duration_ms: float


class Diff(Value, frozen=True, kw_only=True):
    """Two traces compared.

    Attributes:
        same: Events that both have alike.
        differences: In the order in which they are met; times alone are no difference.
        sentences: The answers' sentences: `=` in both, `-` only left, `+` only right.
    """

    left: Side
    right: Side
    same: int
    differences: tuple[Difference, ...]
    sentences: tuple[tuple[str, str], ...]


def diff(left: Sequence[Recorded[Event]], right: Sequence[Recorded[Event]]) -> Diff:
    """Compares two traces."""
    ours, theirs = keyed(left), keyed(right)
    names = names_in(left), names_in(right)
    found: dict[Key, Difference] = {}
    same = 0
    for key in sorted({**ours, **theirs}, key=lambda key: _first_seq(key, ours, theirs)):
        difference = _difference(ours.get(key), theirs.get(key), names)
        if difference is None:
            same += 1
        else:
            found[key] = difference
    sides = _side(left), _side(right)
    return Diff(
        left=sides[0],
        right=sides[1],
        same=same,
        differences=tuple(explained(left, right, found, _reordered(ours, theirs, differ=bool(found)))),
        sentences=tuple(_sentences(sides[0].answer, sides[1].answer)),
    )


def _first_seq(key: Key, ours: Keyed, theirs: Keyed) -> tuple[int, int]:
    seqs = [said.seq for said in (ours.get(key), theirs.get(key)) if said is not None]
    return min(seqs), max(seqs)


def _difference(
    left: Recorded[Event] | None, right: Recorded[Event] | None, names: tuple[dict[str, str], dict[str, str]]
) -> Difference | None:
    said = left or right
    assert said is not None
    field, detail = "", "only in the left one" if right is None else "only in the right one"
    if left is not None and right is not None:
        was, now = told(left.event, names[0]), told(right.event, names[1])
        if was == now:
            return None
        field, one, other = first_difference(was, now)
        detail = f"{field}: {_short(one)} | {_short(other)}"
    return Difference(
        kind=kind_of(said.event),
        left=left.seq if left else None,
        right=right.seq if right else None,
        because="code",
        field=field,
        detail=detail,
    )


def _reordered(ours: Keyed, theirs: Keyed, *, differ: bool) -> Difference | None:
    """The first event that both have and that comes in another place among those that both have.

    Args:
        differ: There are other differences; then only the order in which tools ended counts, for rules go by it.
    """
    counts = [key for key in ours if key in theirs and (not differ or key[0] in _OUTCOMES)]
    order = [key for key in theirs if key in ours and (not differ or key[0] in _OUTCOMES)]
    for key, other in zip(counts, order, strict=True):
        if key != other:
            kinds = str(key[0]), str(other[0])
            seqs = ours[key].seq, theirs[other].seq
            detail = f"{kinds[0]} | {kinds[1]}: the same events in another order"
            return Difference(kind=kinds[0], left=seqs[0], right=seqs[1], because="order", field="", detail=detail)
    return None


def _side(events: Sequence[Recorded[Event]]) -> Side:
    answers = [said.event for said in events if isinstance(said.event, ResponseAssembled)]
    response = answers[-1] if answers else None
    away_s = sum(said.event.away_s for said in events if isinstance(said.event, QueryResumed))
    return Side(
        query_id=events[0].query_id,
        events=len(events),
        status=str(getattr(events[-1].event, "status", "open")),
        answer=response.answer if response else "",
        confidence=response.confidence if response else "",
        calls=response.calls if response else 0,
        rounds=response.rounds if response else 0,
        usage=response.usage if response else Usage(),
        duration_ms=(events[-1].at - events[0].at - away_s) * 1000,
    )


def _sentences(left: str, right: str) -> list[tuple[str, str]]:
    ours, theirs = sentences_of(left), sentences_of(right)
    marked: list[tuple[str, str]] = []
    for what, a, b, c, d in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if what == "equal":
            marked += [("=", each) for each in ours[a:b]]
            continue
        marked += [("-", each) for each in ours[a:b]]
        marked += [("+", each) for each in theirs[c:d]]
    return marked


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, without what surrounds them."""
    starts = sentence_starts(text)
    pieces = (text[start:end].strip() for start, end in zip(starts, (*starts[1:], len(text)), strict=True))
    return [piece for piece in pieces if piece]


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 80 else text[:79] + "…"
