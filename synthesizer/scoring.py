"""Scores each sentence by what it is worth to the question, by signals that cost next to nothing; all of them pure.

A score adds up
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
from collections.abc import Sequence
from math import log
from typing import NamedTuple

from antiphon.language.evidence import TermShares
from antiphon.synthesizer.blocks import Sentence, SourceBlock

TERMS_WEIGHT = 0.5
NEIGHBOUR_WEIGHT = 0.1
RANK_WEIGHT = 0.2
SCORE_WEIGHT = 0.1
CALLS_WEIGHT = 0.05
TITLE_WEIGHT = 0.3
BEGINNING_WEIGHT = 0.2
NAMES_WEIGHT = 0.1
NAMED_WEIGHT = 0.1


class Aim(NamedTuple):
    """The words and finds that sentences are scored against.

    Attributes:
        asked: The question's terms.
        sought: The terms of each tool call's arguments.
        found: For each call that brought facts, their ids, best first.
    """

    asked: frozenset[str]
    sought: tuple[frozenset[str], ...] = ()
    found: tuple[tuple[str, ...], ...] = ()


class Candidate(NamedTuple):
    """A sentence that a briefing may show.

    Attributes:
        place: Its number among the sentences of all sources, in order of discovery.
    """

    place: int
    source: SourceBlock
    sentence: Sentence
    score: float


def score(aim: Aim, sources: Sequence[SourceBlock]) -> list[Candidate]:
    """Returns every sentence of `sources`, in order, with its score."""
    rarity = _rarity(aim.asked, sources)
    standings = _Standings(aim, sources)
    bridges = _bridges(sources)
    asked = TermShares(rarity)
    candidates: list[Candidate] = []
    for source in sources:
        common = standings.of(source) + TITLE_WEIGHT * _named_share(source.title, aim)
        common += NAMED_WEIGHT * (source.fact.id in bridges.named)
        labels = source.labels & aim.asked
        # A passage whose place in its lesson is not known counts as its beginning.
        starts_lesson = not source.fact.passage.start
        shares = _bare_shares(source, asked)
        for at, sentence in enumerate(source.sentences, start=1):
            # A float depends on the order of its additions, and recorded briefings must be scored alike when they
            # are replayed: the order of these lines is part of the score.
            own = shares[at]
            if labels:
                own = asked.share(sentence.terms | labels)
            total = common + TERMS_WEIGHT * own
            beside = max(shares[at - 1], shares[at + 1])
            is_bridge = (sentence.fact_id, sentence.number) in bridges.naming
            total += NEIGHBOUR_WEIGHT * beside + NAMES_WEIGHT * is_bridge
            if starts_lesson:
                total += BEGINNING_WEIGHT / (1 + sentence.number)
            candidates.append(Candidate(len(candidates), source, sentence, total))
    return candidates


def _bare_shares(source: SourceBlock, asked: TermShares) -> list[float]:
    """Returns the share of the question that each sentence stands for without its labels, from index 1.

    Nothing stands before the first sentence and after the last: so each has a neighbour on both sides.
    """
    shares = [0.0]
    for sentence in source.sentences:
        shares.append(asked.share(sentence.terms))
    shares.append(0.0)
    return shares


def _rarity(asked: frozenset[str], sources: Sequence[SourceBlock]) -> dict[str, float]:
    """Returns the rarity of each asked term among the sentences with their labels; one that none holds is rarest."""
    counts: Counter[str] = Counter()
    sentences = 0
    for source in sources:
        in_labels = source.labels & asked
        for sentence in source.sentences:
            counts.update((sentence.terms & asked) | in_labels)
        sentences += len(source.sentences)
    if not sentences:
        return {}
    rarity: dict[str, float] = {}
    # Sorted, because the total of the weights depends on their order, and sets have none.
    for term in sorted(asked):
        rarity[term] = log(1 + sentences / max(1, counts[term]))
    return rarity


def _named_share(title: frozenset[str], aim: Aim) -> float:
    """Returns the most of the title that the question or one call names."""
    if not title:
        return 0.0
    most = len(title & aim.asked)
    for sought in aim.sought:
        most = max(most, len(title & sought))
    return most / len(title)


class _Standings:
    """The standing of a fact with the tools that found it: by its ranks, its score, and the number of calls."""

    def __init__(self, aim: Aim, sources: Sequence[SourceBlock]) -> None:
        self._ranks: dict[str, list[int]] = {}
        for fact_ids in aim.found:
            for rank, fact_id in enumerate(fact_ids):
                self._ranks.setdefault(fact_id, []).append(rank)
        # Scores are comparable within one call only, so each is taken relative to the best of its call.
        self._best_scores: dict[str, float] = {}
        for source in sources:
            call_id = source.fact.tool_call_id
            self._best_scores[call_id] = max(
                self._best_scores.get(call_id, 0.0), source.fact.passage.score
            )

    def of(self, source: SourceBlock) -> float:
        fact = source.fact
        # A fact that no call lists ranks as the first result of one call.
        ranks = self._ranks.get(fact.id, [0])
        best = self._best_scores[fact.tool_call_id]
        relative = 0.0
        if best > 0:
            relative = max(0.0, fact.passage.score) / best
        standing = RANK_WEIGHT / (1 + min(ranks)) + SCORE_WEIGHT * relative
        if len(ranks) > 1:
            standing += CALLS_WEIGHT
        return standing


class _Bridges(NamedTuple):
    """Sources that name one another by their titles.

    Attributes:
        naming: The fact and number of each sentence that names another source.
        named: The facts that another source names.
    """

    naming: set[tuple[str, int]]
    named: set[str]


def _bridges(sources: Sequence[SourceBlock]) -> _Bridges:
    titles = _TitlesByTerm(sources)
    naming: set[tuple[str, int]] = set()
    facts_naming: dict[frozenset[str], set[str]] = {}
    for source in sources:
        for sentence in source.sentences:
            for title in titles.named_in(sentence.terms):
                facts_naming.setdefault(title, set()).add(source.fact.id)
                if not title <= source.title:
                    naming.add((sentence.fact_id, sentence.number))
    named: set[str] = set()
    for source in sources:
        if facts_naming.get(source.title, set()) - {source.fact.id}:
            named.add(source.fact.id)
    return _Bridges(naming, named)


class _TitlesByTerm:
    """The sources' titles by their longest term: a title is looked for only where that term stands.

    So not every title need be compared with every sentence.
    """

    def __init__(self, sources: Sequence[SourceBlock]) -> None:
        self._under: dict[str, list[frozenset[str]]] = {}
        # Several sources may have one title: each is noted once, and an empty one would stand in every sentence.
        titles: dict[frozenset[str], None] = {}
        for source in sources:
            if source.title:
                titles[source.title] = None
        for title in titles:
            longest = max(title, key=lambda term: (len(term), term))
            self._under.setdefault(longest, []).append(title)
        self._keys = frozenset(self._under)

    def named_in(self, held: frozenset[str]) -> list[frozenset[str]]:
        named: list[frozenset[str]] = []
        for key in held & self._keys:
            # A comprehension, because this is the innermost loop of a briefing.
            named += [title for title in self._under[key] if title <= held]
        return named
