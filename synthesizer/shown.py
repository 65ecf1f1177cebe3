"""What a briefing shows of the facts and what it leaves out, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from antiphon.synthesizer.blocks import SourceBlock, with_sentences
from antiphon.synthesizer.budget import Ground, too_long
from antiphon.synthesizer.decay import DECAYED
from antiphon.vocabulary.values import Dropped, Value

TOO_LONG = "one sentence took more than a quarter of the budget"
LEAST_WORTH = "over the budget, and worth least to the question"


class Shown(Value, frozen=True, kw_only=True):
    """The sources that a briefing shows, in order of discovery, and what it leaves out."""

    sources: tuple[SourceBlock, ...]
    dropped: tuple[Dropped, ...] = ()

    @property
    def tokens(self) -> int:
        return sum(block.all_tokens for block in self.sources)


def shown(ground: Ground, gone: Iterable[int] = ()) -> Shown:
    """The sources without what has decayed and without the places in `gone`, which the budget costs."""
    reasons = dict.fromkeys(sorted(ground.decayed), DECAYED)
    tokens = ground.tokens()
    reasons |= {place: TOO_LONG if too_long(tokens[place], ground.room) else LEAST_WORTH for place in gone}
    sources: list[SourceBlock] = []
    dropped: list[Dropped] = []
    first = 0
    for block in ground.sources:
        lost = {at: reasons[first + at] for at in range(len(block.sentences)) if first + at in reasons}
        first += len(block.sentences)
        left = frozenset(number for at, number in enumerate(block.sentences) if at not in lost)
        if left:
            sources.append(with_sentences(block, left))
        for why in dict.fromkeys(lost.values()):
            dropped.append(_dropped(block, why, [at for at in lost if lost[at] == why], label=not left))
            left |= {-1}  # the labels are freed once
    return Shown(sources=tuple(sources), dropped=tuple(dropped))


def _dropped(block: SourceBlock, why: str, places: Sequence[int], *, label: bool) -> Dropped:
    """What of one fact went for one reason; no sentences are named where that is all of it."""
    rule: Literal["decay", "budget"] = "decay" if why == DECAYED else "budget"
    all_of_it = label and len(places) == len(block.sentences)
    return Dropped(
        what=block.fact.id,
        why=why,
        tokens=sum(block.tokens[at] for at in places) + (block.label_tokens if label else 0),
        sentences=() if all_of_it else tuple(block.sentences[at] for at in places),
        rule=rule,
    )
