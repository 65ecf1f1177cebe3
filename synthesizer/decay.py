"""What goes from a briefing although it would fit: sentences worth too little for the age of their fact.

Worth is compared with that of the best sentence there is, so that a question in other words than the courses' loses
no more than another.

- In the newest round only what serves no part of the question goes, and of that only what is worth less than
  `LEAST_WORTH[0]` of the best; what a tool of one's own said stays whole.
- A round later the bar is `LEAST_WORTH[1]`, whatever is served, then `LEAST_WORTH[2]` for good.
- A budget below the usual raises the bars, one above it lowers them: `BAR_A_HALVING` for each halving.
- Never goes: an outline; a fact that touches a part that is still open; for each part, the best sentence among its
  facts; and the best sentence of all.

Nothing is forgotten: memory keeps all of it, and what an open part or a later call makes worth more comes back.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from antiphon.synthesizer.blocks import SourceBlock
from antiphon.synthesizer.intent import Intent, held_by, serves, still_open, touches

LEAST_WORTH = (0.38, 0.56, 0.65)
USUAL_BUDGET = 6_000
BAR_A_HALVING = 0.06
MOST_SHIFT = 0.15
DECAYED = "worth too little to the question for its age"


def bars(budget: int) -> tuple[float, ...]:
    """The least worth that stays, as shares of the best, by rounds of age."""
    shift = BAR_A_HALVING * log2(USUAL_BUDGET / max(budget, 1))
    return tuple(bar + max(-MOST_SHIFT, min(MOST_SHIFT, shift)) for bar in LEAST_WORTH)


def protected(intent: Intent, sources: Sequence[SourceBlock]) -> list[bool]:
    """For each source, whether a part that is still open needs it."""
    wanting = still_open(intent)
    return [any(touches(part, held_by(source)) for part in wanting) for source in sources]


def decayed(intent: Intent, sources: Sequence[SourceBlock], worths: Sequence[float], budget: int) -> frozenset[int]:
    """The sentences that go, by their place among those of all `sources`."""
    if not sources:
        return frozenset()
    best = max(worths)
    least = [bar * best for bar in bars(budget)]
    newest = max(source.fact.round for source in sources)
    needed = protected(intent, sources)
    gone: set[int] = set()
    place = 0
    for source, open_part in zip(sources, needed, strict=True):
        for held, found_in in zip(source.terms, source.rounds, strict=True):
            age = newest - found_in
            weak = worths[place] < least[min(age, len(least) - 1)]
            if weak and not open_part and _may_go(intent, source, held, age):
                gone.add(place)
            place += 1
    return frozenset(gone - _best_of_each_part(intent, sources, worths))


def _may_go(intent: Intent, source: SourceBlock, held: frozenset[str], age: int) -> bool:
    kind = source.fact.passage.kind
    if kind == "outline":
        return False
    if age > 0:
        return True
    return kind == "passage" and not any(serves(p, source.fact.passage, held | source.labels) for p in intent.parts)


def _best_of_each_part(intent: Intent, sources: Sequence[SourceBlock], worths: Sequence[float]) -> set[int]:
    """The best sentence of all, and for each part the best among the facts that serve it."""
    places: dict[str, range] = {}
    first = 0
    for source in sources:
        places[source.fact.id] = range(first, first + len(source.terms))
        first += len(source.terms)
    rows = [range(first), *([at for id_ in ids if id_ in places for at in places[id_]] for ids in intent.served)]
    return {max(row, key=worths.__getitem__) for row in rows if row}
