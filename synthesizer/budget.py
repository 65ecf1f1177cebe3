"""What goes when a briefing outgrows its budget: single sentences, in an order that is written down here.

1. What has decayed is gone already (synthesizer/decay.py).
2. A sentence that alone takes more than all the room can never be shown.
3. What no open part of the question needs goes before anything that an open part needs. Within each of the two:
   first any sentence that takes more than a quarter of the room (no course sentence does; a table on one line may: it
   would drive out everything else), then by worth less a sixth for each round of age, the lowest first; of two that
   are worth the same, the one found later.

A fact whose last sentence goes is not shown at all, which frees its labels too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from antiphon.synthesizer.blocks import SourceBlock

LONGEST_SHARE = 1 / 4
AGE_WEIGHT = 1 / 6


class Ground(NamedTuple):
    """What a briefing may show.

    Attributes:
        sources: In order of discovery. A sentence's *place* is its number among the sentences of all of them.
        decayed: The places that have gone already.
        needed: For each source, whether an open part needs it.
        room: Tokens that the sources may take.
    """

    sources: Sequence[SourceBlock]
    decayed: frozenset[int]
    needed: Sequence[bool]
    room: int

    def places(self) -> list[tuple[int, int]]:
        """For each place, its source and its number among that source's sentences."""
        return [(source, at) for source, block in enumerate(self.sources) for at in range(len(block.sentences))]

    def tokens(self) -> list[int]:
        """Estimated tokens of each sentence."""
        return [count for block in self.sources for count in block.tokens]


def drop_order(ground: Ground, worths: Sequence[float]) -> list[int]:
    """The places in the order in which they would go.

    Args:
        worths: The worth of every sentence, in order.
    """
    tokens, places = ground.tokens(), ground.places()
    rounds = [found_in for block in ground.sources for found_in in block.rounds]
    newest = max((block.fact.round for block in ground.sources), default=0)

    def key(place: int) -> tuple[bool, bool, bool, float, int]:
        count, source = tokens[place], places[place][0]
        aged = worths[place] - AGE_WEIGHT * (newest - rounds[place])
        return count <= ground.room, ground.needed[source], not too_long(count, ground.room), aged, -place

    return sorted((place for place in range(len(tokens)) if place not in ground.decayed), key=key)


def first_to_go(ground: Ground, order: Sequence[int]) -> list[int]:
    """As many of `order` as must go until the rest fits."""
    places = ground.places()
    left = [0] * len(ground.sources)
    total = 0
    for place, (source, at) in enumerate(places):
        if place not in ground.decayed:
            total += ground.sources[source].tokens[at] + (0 if left[source] else ground.sources[source].label_tokens)
            left[source] += 1
    gone: list[int] = []
    for place in order:
        if total <= ground.room:
            break
        source, at = places[place]
        left[source] -= 1
        total -= ground.sources[source].tokens[at] + (0 if left[source] else ground.sources[source].label_tokens)
        gone.append(place)
    return gone


def too_long(tokens: int, room: int) -> bool:
    """Whether a sentence of so many tokens takes more than its share of the room."""
    return tokens > room * LONGEST_SHARE
