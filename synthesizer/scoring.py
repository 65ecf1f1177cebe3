"""Collects the signals that a briefing has for each sentence, and ranks by them (`language/ranking.py`); pure.

They are: the rarity of the question's terms among the facts found, the rank and score of a fact and the number of calls
that found it, titles that the question or a tool call names, beginnings of lessons, and sources that name one another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from antiphon.language.evidence import TermShares, rarity_among
from antiphon.language.ranking import PassageSignals, sentence_scores
from antiphon.synthesizer.blocks import Sentence, SourceBlock
from antiphon.vocabulary.values import Fact

NumbersByFact = dict[str, set[int]]
TitlesByTerm = dict[str, list[frozenset[str]]]


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
        place: Its index among the sentences of all sources, in the order of the sources.
    """

    place: int
    source: SourceBlock
    sentence: Sentence
    score: float


def score(aim: Aim, sources: Sequence[SourceBlock]) -> list[Candidate]:
    """Returns every sentence of `sources`, in order, with its score."""
    asked = TermShares(rarity_among(aim.asked, _rows(aim.asked, sources)))
    ranks_of = _ranks_by_fact(aim)
    best_scores = _best_scores_by_call(sources)
    bridges = _bridges(sources)
    namings = _namings(aim, sources)
    candidates: list[Candidate] = []
    for source in sources:
        fact = source.fact
        # A fact that no call lists ranks like the first result of a single call.
        ranks = ranks_of.get(fact.id, [0])
        signals = PassageSignals(
            rank=min(ranks),
            relative_score=_share_of_best(fact, best_scores),
            found_again=len(ranks) > 1,
            title_named=_named_share(source.title, namings),
            is_named=fact.id in bridges.named,
            labels=source.labels,
            # A passage of unknown place counts as the beginning of its lesson.
            starts_lesson=not fact.passage.start,
            naming=bridges.naming.get(fact.id, ()),
        )
        scores = sentence_scores(asked, source.sentences, signals)
        for sentence, total in zip(source.sentences, scores, strict=True):
            candidates.append(Candidate(len(candidates), source, sentence, total))
    return candidates


def best_first(aim: Aim, sources: Sequence[SourceBlock]) -> tuple[SourceBlock, ...]:
    """Returns the sources by the search's own score, best first; ties keep the order of discovery.

    Scores are comparable within one call only, so the order is by the share of the best score among all facts that one
    call found, known before or not.
    """
    scores: dict[str, float] = {}
    for source in sources:
        # A call may have found a fact that has since been merged into this one.
        for fact_id in (source.fact.id, *source.fact.merged):
            scores[fact_id] = source.fact.passage.score
    shares: dict[str, float] = {}
    for found in aim.found:
        best = max([scores.get(fact_id, 0.0) for fact_id in found])
        for fact_id in found:
            if best > 0 and fact_id in scores:
                share = scores[fact_id] / best
                shares[fact_id] = max(share, shares.get(fact_id, 0.0))

    def share_of(source: SourceBlock) -> float:
        ids = (source.fact.id, *source.fact.merged)
        return max([shares.get(fact_id, 0.0) for fact_id in ids])

    # The sort is stable in reverse too, so ties keep the order of discovery.
    return tuple(sorted(sources, key=share_of, reverse=True))


def _rows(
    asked: frozenset[str], sources: Sequence[SourceBlock]
) -> Iterator[frozenset[str]]:
    """Yields the asked terms of each sentence with its labels."""
    for source in sources:
        in_labels = source.labels & asked
        for sentence in source.sentences:
            yield (sentence.terms & asked) | in_labels


def _namings(aim: Aim, sources: Sequence[SourceBlock]) -> set[frozenset[str]]:
    """Returns the terms of titles that the question or one call names, each such set once.

    There are many calls and few titles: comparing each source with each call would make the cost their product.
    """
    in_titles: set[str] = set()
    for source in sources:
        in_titles |= source.title
    return {named & in_titles for named in (aim.asked, *aim.sought)}


def _named_share(title: frozenset[str], namings: Iterable[frozenset[str]]) -> float:
    """Returns the largest share of the title that the question or one call names."""
    if not title:
        return 0.0
    return max(len(title & named) for named in namings) / len(title)


def _ranks_by_fact(aim: Aim) -> dict[str, list[int]]:
    """Returns each fact's rank in every call that found it, from 0."""
    ranks: dict[str, list[int]] = {}
    for fact_ids in aim.found:
        for rank, fact_id in enumerate(fact_ids):
            ranks.setdefault(fact_id, []).append(rank)
    return ranks


def _share_of_best(fact: Fact, best_scores: Mapping[str, float]) -> float:
    best = best_scores[fact.tool_call_id]
    if best <= 0:
        return 0.0
    return max(0.0, fact.passage.score) / best


def _best_scores_by_call(sources: Sequence[SourceBlock]) -> dict[str, float]:
    """Returns each call's best score: scores are comparable within one call only."""
    best: dict[str, float] = {}
    for source in sources:
        call_id = source.fact.tool_call_id
        best[call_id] = max(best.get(call_id, 0.0), source.fact.passage.score)
    return best


class _Bridges(NamedTuple):
    """Sources that name one another by their titles.

    Attributes:
        naming: For each fact, the numbers of its sentences that name another source.
        named: The facts that another source names.
    """

    naming: NumbersByFact
    named: set[str]


def _bridges(sources: Sequence[SourceBlock]) -> _Bridges:
    titles = _titles_by_term(sources)
    keys = frozenset(titles)
    naming: NumbersByFact = {}
    facts_naming: dict[frozenset[str], set[str]] = {}
    for source in sources:
        for sentence in source.sentences:
            # Most sentences hold no title's longest term, so few titles are compared.
            if keys.isdisjoint(sentence.terms):
                continue
            for title in _titles_in(sentence.terms, titles):
                facts_naming.setdefault(title, set()).add(source.fact.id)
                if not title <= source.title:
                    naming.setdefault(source.fact.id, set()).add(sentence.number)
    named: set[str] = set()
    for source in sources:
        if facts_naming.get(source.title, set()) - {source.fact.id}:
            named.add(source.fact.id)
    return _Bridges(naming, named)


def _titles_by_term(sources: Sequence[SourceBlock]) -> TitlesByTerm:
    """Returns the sources' titles by their longest term; only sentences with that term are searched for the title."""
    titles: TitlesByTerm = {}
    # Several sources may have one title: each is noted once. An empty title would be in every sentence.
    for title in dict.fromkeys([source.title for source in sources]):
        if title:
            # The term itself breaks ties, because sets have no order and a replay must score alike.
            longest = max(title, key=lambda term: (len(term), term))
            titles.setdefault(longest, []).append(title)
    return titles


def _titles_in(held: frozenset[str], titles: TitlesByTerm) -> list[frozenset[str]]:
    may_stand = chain.from_iterable(map(titles.__getitem__, titles.keys() & held))
    return [title for title in may_stand if title <= held]
