"""What goes when a briefing outgrows its budget: single sentences, in an order that is written down here.

First any sentence that alone takes more than a quarter of the room (no course sentence does; a table on one line may:
it would drive out everything else). Then by worth, the lowest first; of two that are worth the same, the one found
later. A fact whose last sentence goes is not shown at all, which frees its labels too.

Meaning is asked for only where it can change the outcome: for the sentences nearest to the cut. An embedder takes some
15 ms of CPU for each, so scoring all of a large memory would take longer than the model's own call.
"""

from __future__ import annotations

from collections.abc import Sequence

from synthesizer.blocks import SourceBlock, with_sentences
from vocabulary.values import Dropped, Value

LONGEST_SHARE = 1 / 4
CONTESTED = 64
"""Most sentences whose meaning is asked for."""
TOO_LONG = "one sentence took more than a quarter of the budget"
LEAST_WORTH = "over the budget, and worth least to the question"


class Shown(Value, frozen=True, kw_only=True):
    """The sources that a briefing shows, in order of discovery, and what it leaves out."""

    sources: tuple[SourceBlock, ...]
    dropped: tuple[Dropped, ...] = ()


def drop_order(sources: Sequence[SourceBlock], worths: Sequence[float], room: int) -> list[int]:
    """All sentences, by their place among those of all `sources`, in the order in which they would go.

    Args:
        worths: The worth of every sentence, in order.
    """
    tokens = [count for block in sources for count in block.tokens]
    return sorted(range(len(tokens)), key=lambda place: (not _too_long(tokens[place], room), worths[place], -place))


def contested(sources: Sequence[SourceBlock], order: Sequence[int], room: int) -> range:
    """Where in `order` meaning may decide: on both sides of the cut, save the sentences that are too long anyway."""
    tokens = [count for block in sources for count in block.tokens]
    cut = len(_first_to_go(sources, order, room))
    too_long = sum(_too_long(count, room) for count in tokens)
    return range(max(too_long, cut - CONTESTED // 2), min(len(order), cut + CONTESTED // 2))


def fit(sources: Sequence[SourceBlock], order: Sequence[int], room: int) -> Shown:
    """What of `sources` to show so that it takes at most `room` tokens, when sentences go in `order`."""
    places = _places(sources)
    gone: dict[int, dict[str, list[int]]] = {}
    for place in _first_to_go(sources, order, room):
        source, at = places[place]
        why = TOO_LONG if _too_long(sources[source].tokens[at], room) else LEAST_WORTH
        gone.setdefault(source, {}).setdefault(why, []).append(at)
    return _shown(sources, gone)


def _first_to_go(sources: Sequence[SourceBlock], order: Sequence[int], room: int) -> list[int]:
    """As many of `order` as must go until the rest fits."""
    places = _places(sources)
    left = [len(block.sentences) for block in sources]
    total = sum(block.all_tokens for block in sources)
    gone: list[int] = []
    for place in order:
        if total <= room:
            break
        source, at = places[place]
        left[source] -= 1
        total -= sources[source].tokens[at] + (0 if left[source] else sources[source].label_tokens)
        gone.append(place)
    return gone


def _places(sources: Sequence[SourceBlock]) -> list[tuple[int, int]]:
    return [(source, at) for source, block in enumerate(sources) for at in range(len(block.sentences))]


def _too_long(tokens: int, room: int) -> bool:
    return tokens > room * LONGEST_SHARE


def _shown(sources: Sequence[SourceBlock], gone: dict[int, dict[str, list[int]]]) -> Shown:
    shown: list[SourceBlock] = []
    dropped: list[Dropped] = []
    for source, block in enumerate(sources):
        by_reason = gone.get(source, {})
        lost = frozenset(at for places in by_reason.values() for at in places)
        left = frozenset(number for at, number in enumerate(block.sentences) if at not in lost)
        if left:
            shown.append(with_sentences(block, left))
        dropped.extend(_dropped(block, why, places, whole=not left) for why, places in by_reason.items())
    return Shown(sources=tuple(shown), dropped=tuple(dropped))


def _dropped(block: SourceBlock, why: str, places: list[int], *, whole: bool) -> Dropped:
    """What of one fact went for one reason; no sentences are named where that is all of it."""
    all_of_it = whole and len(places) == len(block.sentences)
    return Dropped(
        what=block.fact.id,
        why=why,
        tokens=sum(block.tokens[at] for at in places) + (block.label_tokens if all_of_it else 0),
        sentences=() if all_of_it else tuple(sorted(block.sentences[at] for at in places)),
    )
