"""What goes when a briefing outgrows its budget: single sentences, in an order that is written down here.

First any sentence that alone takes more than a quarter of the room (no course sentence does; a table on one line may:
it would drive out everything else). Then by worth, the lowest first; of two that are worth the same, the one found
later. A fact whose last sentence goes is not shown at all, which frees its labels too.
"""

from __future__ import annotations

from collections.abc import Sequence

from synthesizer.blocks import SourceBlock, with_sentences
from vocabulary.values import Dropped, Value

LONGEST_SHARE = 1 / 4
TOO_LONG = "one sentence took more than a quarter of the budget"
LEAST_WORTH = "over the budget, and worth least to the question"


class Shown(Value, frozen=True):
    """The sources that a briefing shows, in order of discovery, and what it leaves out."""

    sources: tuple[SourceBlock, ...]
    dropped: tuple[Dropped, ...] = ()


def fit(sources: Sequence[SourceBlock], worths: Sequence[float], room: int) -> Shown:
    """What of `sources` to show so that it takes at most `room` tokens; all of it where it fits.

    Args:
        worths: The worth of every sentence of the sources, in order.
    """
    places = [(source, at) for source, block in enumerate(sources) for at in range(len(block.sentences))]
    left = [len(block.sentences) for block in sources]
    total = sum(block.all_tokens for block in sources if block.sentences)
    gone: dict[int, dict[str, list[int]]] = {}
    for index, why in _drop_order(sources, places, worths, room):
        if total <= room:
            break
        source, at = places[index]
        left[source] -= 1
        total -= sources[source].tokens[at] + (0 if left[source] else sources[source].label_tokens)
        gone.setdefault(source, {}).setdefault(why, []).append(at)
    return _shown(sources, gone)


def _drop_order(
    sources: Sequence[SourceBlock], places: Sequence[tuple[int, int]], worths: Sequence[float], room: int
) -> list[tuple[int, str]]:
    too_long = [i for i, (source, at) in enumerate(places) if sources[source].tokens[at] > room * LONGEST_SHARE]
    others = frozenset(range(len(places))).difference(too_long)
    by_worth = sorted(others, key=lambda index: (worths[index], -index))
    return [*((index, TOO_LONG) for index in too_long), *((index, LEAST_WORTH) for index in by_worth)]


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
