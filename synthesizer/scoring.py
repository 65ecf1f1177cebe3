"""States what a briefing knows of each sentence, and has it ranked (`language/ranking.py`); pure.

Known are: how rare the question's terms are among the facts found, the rank, score and number of calls by which a fact
was found, titles that the question or a tool call names, beginnings of lessons, and sources that name one another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from antiphon.language.evidence import TermShares, rarity_among
from antiphon.language.ranking import PassageSignals, sentence_scores
from antiphon.synthesizer.blocks import Sentence, SourceBlock
from antiphon.vocabulary.values import Fact

NumbersByFact = dict[str, set[int]]


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
    asked = TermShares(rarity_among(aim.asked, _rows(aim.asked, sources)))
    standings = _Standings(aim, sources)
    bridges = _bridges(sources)
    candidates: list[Candidate] = []
    for source in sources:
        fact = source.fact
        signals = PassageSignals(
            rank=standings.best_rank(fact.id),
            relative_score=standings.relative_score(fact),
            found_again=standings.is_found_again(fact.id),
            title_named=_named_share(source.title, aim),
            is_named=fact.id in bridges.named,
            labels=source.labels,
            # A passage whose place in its lesson is not known counts as its beginning.
            starts_lesson=not fact.passage.start,
            naming=bridges.naming.get(fact.id, ()),
        )
        scores = sentence_scores(asked, source.sentences, signals)
        for sentence, total in zip(source.sentences, scores, strict=True):
            candidates.append(Candidate(len(candidates), source, sentence, total))
    return candidates


def _rows(
    asked: frozenset[str], sources: Sequence[SourceBlock]
) -> Iterator[frozenset[str]]:
    """Yields the asked terms of each sentence with its labels."""
    for source in sources:
        in_labels = source.labels & asked
        for sentence in source.sentences:
            yield (sentence.terms & asked) | in_labels


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

    def best_rank(self, fact_id: str) -> int:
        # A fact that no call lists ranks as the first result of one call.
        return min(self._ranks.get(fact_id, [0]))

    def is_found_again(self, fact_id: str) -> bool:
        return len(self._ranks.get(fact_id, [])) > 1

    def relative_score(self, fact: Fact) -> float:
        best = self._best_scores[fact.tool_call_id]
        if best <= 0:
            return 0.0
        return max(0.0, fact.passage.score) / best


class _Bridges(NamedTuple):
    """Sources that name one another by their titles.

    Attributes:
        naming: For each fact, the numbers of its sentences that name another source.
        named: The facts that another source names.
    """

    naming: NumbersByFact
    named: set[str]


def _bridges(sources: Sequence[SourceBlock]) -> _Bridges:
    titles = _TitlesByTerm(sources)
    naming: NumbersByFact = {}
    facts_naming: dict[frozenset[str], set[str]] = {}
    for source in sources:
        for sentence in source.sentences:
            for title in titles.named_in(sentence.terms):
                facts_naming.setdefault(title, set()).add(source.fact.id)
                if not title <= source.title:
                    naming.setdefault(source.fact.id, set()).add(sentence.number)
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
