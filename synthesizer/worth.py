"""What each sentence is worth to the question, by signals that cost next to nothing; all of them pure.

Worth adds up
- half the share of the question's terms that the sentence and its labels hold, rare terms weighing more, and a tenth
  of what the better of its neighbours holds,
- a fifth for the best rank among a call's results, half of that for the second, and so on; a tenth of its passage's
  score, relative to the best of the call; and a twentieth for having been found by several calls,
- up to three tenths for a title that the question or a tool call names: what was looked for by name,
- up to a fifth for standing at the beginning of its lesson, where a text says what it is about,
- a tenth where the sentence names another source, and a tenth where another source names this one: the bridges by
  which a second fact is found from a first.
The weights were set on half of hotpotqa_100 (docs/decisions/040).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import log
from typing import NamedTuple

from antiphon.synthesizer.blocks import SourceBlock

TERMS_WEIGHT = 0.5
NEIGHBOUR_WEIGHT = 0.1
RANK_WEIGHT = 0.2
SCORE_WEIGHT = 0.1
AGAIN_WEIGHT = 0.05
TITLE_WEIGHT = 0.3
BEGINNING_WEIGHT = 0.2
NAMES_WEIGHT = 0.1
NAMED_WEIGHT = 0.1


class Aim(NamedTuple):
    """What sentences are weighed against.

    Attributes:
        asked: The question's terms.
        sought: The terms of each tool call's arguments.
        found: For each call that brought facts, their ids, best first.
    """

    asked: frozenset[str]
    sought: tuple[frozenset[str], ...] = ()
    found: tuple[tuple[str, ...], ...] = ()


def worths(aim: Aim, sources: Sequence[SourceBlock]) -> list[float]:
    """The worth of every sentence of `sources`, in order."""
    rarity = _rarity(aim.asked, sources)
    bridges = _Bridges(sources)
    ranks = _ranks(aim)
    best = _best_scores(sources)
    whole = _Weights(aim, rarity)
    return [
        worth
        for at, source in enumerate(sources)
        for worth in _of_source(source, whole, bridges, at, _standing(source, ranks, best))
    ]


class _Weights:
    """How much of the question a set of terms stands for."""

    def __init__(self, aim: Aim, rarity: dict[str, float]) -> None:
        self.aim = aim
        self._rarity = rarity
        self._total = sum(rarity.values()) or 1.0
        self._shares: dict[frozenset[str], float] = {}

    def share(self, held: frozenset[str]) -> float:
        """Worked out once for each set, and summed in a fixed order, for floats are not associative."""
        asked = held & self.aim.asked
        if asked not in self._shares:
            self._shares[asked] = sum(self._rarity[term] for term in sorted(asked)) / self._total
        return self._shares[asked]


def _of_source(source: SourceBlock, weights: _Weights, bridges: _Bridges, at: int, standing: float) -> Iterator[float]:
    labels = source.labels & weights.aim.asked
    shares = [weights.share(held) for held in source.terms]
    common = standing + TITLE_WEIGHT * _named(source.title, weights.aim) + NAMED_WEIGHT * bridges.named[at]
    first = (source.fact.passage.start or 0) == 0
    for place, held in enumerate(source.terms):
        beside = max(shares[max(0, place - 1) : place] + shares[place + 1 : place + 2], default=0.0)
        worth = common + TERMS_WEIGHT * (weights.share(held | labels) if labels else shares[place])
        worth += NEIGHBOUR_WEIGHT * beside + NAMES_WEIGHT * bridges.names[at][place]
        yield worth + (BEGINNING_WEIGHT / (1 + source.sentences[place]) if first else 0.0)


def _rarity(asked: frozenset[str], sources: Sequence[SourceBlock]) -> dict[str, float]:
    """How rare each asked term is among the sentences (with their labels); one that none holds is the rarest."""
    counts: Counter[str] = Counter()
    sentences = 0
    for source in sources:
        in_labels = source.labels & asked
        for held in source.terms:
            counts.update((held & asked) | in_labels)
        sentences += len(source.terms)
    return {term: log(1 + sentences / max(1, counts[term])) for term in sorted(asked)} if sentences else {}


def _named(title: frozenset[str], aim: Aim) -> float:
    """The most of the title that the question or one call names."""
    if not title:
        return 0.0
    return max(len(title & terms) for terms in (aim.asked, *aim.sought)) / len(title)


def _ranks(aim: Aim) -> dict[str, tuple[int, int]]:
    """For each fact its best rank among a call's results, and how many calls found it."""
    ranks: dict[str, tuple[int, int]] = {}
    for ids in aim.found:
        for rank, id_ in enumerate(ids):
            best, times = ranks.get(id_, (rank, 0))
            ranks[id_] = (min(best, rank), times + 1)
    return ranks


def _best_scores(sources: Sequence[SourceBlock]) -> dict[str, float]:
    best: dict[str, float] = {}
    for source in sources:
        call_id = source.fact.tool_call_id
        best[call_id] = max(best.get(call_id, 0.0), source.fact.passage.score)
    return best


def _standing(source: SourceBlock, ranks: dict[str, tuple[int, int]], best: dict[str, float]) -> float:
    fact = source.fact
    rank, times = ranks.get(fact.id, (0, 1))
    most = best[fact.tool_call_id]
    score = max(0.0, fact.passage.score) / most if most > 0 else 0.0
    return RANK_WEIGHT / (1 + rank) + SCORE_WEIGHT * score + (AGAIN_WEIGHT if times > 1 else 0.0)


class _Bridges:
    """Which sources name one another by their titles; a title is looked for where its longest term stands.

    Attributes:
        names: For each source and each of its sentences, 1 where it names another source, else 0.
        named: For each source, 1 where another names it, else 0.
    """

    def __init__(self, sources: Sequence[SourceBlock]) -> None:
        under: dict[str, list[frozenset[str]]] = {}
        for title in dict.fromkeys(source.title for source in sources if source.title):
            under.setdefault(max(title, key=lambda term: (len(term), term)), []).append(title)
        keys = frozenset(under)
        self.names: list[list[float]] = []
        named_by: dict[frozenset[str], set[int]] = {}
        for at, source in enumerate(sources):
            row = []
            for held in source.terms:
                found = [title for key in held & keys for title in under[key] if title <= held]
                row.append(float(any(not title <= source.title for title in found)))
                for title in found:
                    named_by.setdefault(title, set()).add(at)
            self.names.append(row)
        self.named = [float(bool(named_by.get(source.title, set()) - {at})) for at, source in enumerate(sources)]
