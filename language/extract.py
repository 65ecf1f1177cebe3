"""Chooses the excerpts that best answer a question: runs of neighbouring whole sentences; pure but for `likeness`.

Sentences are ranked as for a briefing (`ranking.py`), by the signals that extraction has: the order of the passages,
their titles, neighbours, the form of what is asked for, and likeness by meaning where somebody can tell it. Scores are
then read as chances: of all sentences, how likely is this one to be (part of) the answer. Runs are chosen by them
(`runs.py`), and what was chosen is measured against the question (`fit.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from typing import NamedTuple

from antiphon.language.candidates import Passage, read_passages, sentences_of
from antiphon.language.evidence import (
    WORDS_ALONE,
    Likeness,
    Measures,
    TermShares,
    question_shares,
)
from antiphon.language.fit import Fit, fit_of
from antiphon.language.ranking import (
    NO_FORMS,
    PassageSignals,
    by_likeness,
    sentence_scores,
)
from antiphon.language.runs import (
    LONGEST_RUN_CHARS,
    MOST_BY_WORDS,
    MOST_IN_A_RUN,
    Run,
    choose_runs,
)

MOST_EXCERPTS = 3
MOST_COMPARED = 160
"""As many sentences are compared by meaning: each costs an embedder a few milliseconds."""
COMPARED_CHARS = 1_000

RANK_WEIGHT = 0.1
"""For standing in the passage that was found first: less than in a briefing, for the sentence says more itself."""
RANK_BESIDE_MEANING = 0.05
"""The same where meanings are compared, which is half of what search goes by (docs/decisions/256)."""
SHARPNESS = 10.0
"""How much likelier a higher score makes a sentence: the scores' weights fitted as a choice of one sentence out of
those of a question come out at ten times those of `ranking.py` (docs/decisions/145)."""

WHOLE_WEIGHT = 6.0
"""For how like a run is to the question as one text, beside the logarithm of its chance, where the best is to come
first: two runs may have sentences that are alike, and tell of different things (docs/decisions/272)."""
ABOUT_AS_LIKELY = 0.3
"""A run of less than this share of the highest chance is not compared so: it would hardly ever come first."""


class Excerpt(NamedTuple):
    """Neighbouring sentences `first` to `end` (exclusive) of one passage.

    Attributes:
        key: The sentence among them that most likely carries the answer.
        chance: 0 to 1: how likely the answer is here, if it is in these passages at all.
    """

    passage: int
    first: int
    end: int
    key: int
    chance: float


class Extraction(NamedTuple):
    """The chosen excerpts, the best first, and how well they fit the question."""

    excerpts: tuple[Excerpt, ...] = ()
    fit: Fit = Fit()

    @property
    def evidence(self) -> float:
        """0 to 1: the weighted share of the question's terms that the passages hold together."""
        return self.fit.evidence


def extract(
    question: str,
    passages: Sequence[Sequence[str]],
    measures: Measures = WORDS_ALONE,
    *,
    limit: int = MOST_EXCERPTS,
    titles: Sequence[str] = (),
) -> Extraction:
    """Chooses at most `limit` excerpts; none where nothing is shared with the question.

    Args:
        passages: The sentences of each passage, the best passage first.
        titles: What each passage stands under; its terms count for every sentence below it.
    """
    shares = question_shares(question, measures.weigh)
    read = read_passages(question, shares, passages, titles)
    compared = _compared(question, shares, read, measures.likeness)
    if not compared and not any(each.terms for each in sentences_of(read)):
        return Extraction()
    scores = _scores(shares, read, compared)
    chances = _chances(read, scores, by_meaning=bool(compared))
    most = MOST_BY_WORDS
    if compared:
        most = MOST_IN_A_RUN
    chosen = choose_runs(read, chances, max(limit, MOST_EXCERPTS), most)
    chosen = _in_order(question, read, chosen, measures.likeness)[:limit]
    if not chosen:
        return Extraction()
    excerpts: list[Excerpt] = []
    for run in chosen:
        of_passage = scores[run.passage]
        key = max(range(run.first, run.end), key=of_passage.__getitem__)
        excerpts.append(Excerpt(run.passage, run.first, run.end, key, run.chance))
    fit = fit_of(question, shares, read, compared, chosen, measures)
    best = excerpts[0]
    telling = read[best.passage].sentences[best.key].text
    return Extraction(tuple(excerpts), fit._replace(is_question=_asks(telling)))


def _in_order(
    question: str,
    read: Sequence[Passage],
    chosen: Sequence[Run],
    likeness: Likeness | None,
) -> list[Run]:
    """Puts the run first that is likest the question as one text, among those that are about as likely."""
    if likeness is None or not question.strip():
        return list(chosen)
    best = max([run.chance for run in chosen], default=0.0)
    likely = [run for run in chosen if run.chance >= ABOUT_AS_LIKELY * best]
    others = [run for run in chosen if run not in likely]
    return _likest_first(question, read, likely, likeness) + others


def _likest_first(
    question: str, read: Sequence[Passage], likely: list[Run], likeness: Likeness
) -> list[Run]:
    if len(likely) < 2:
        return likely
    cosines = likeness(question, [_text_of(read, run) for run in likely])
    worth: dict[Run, float] = {}
    for run, cosine in zip(likely, cosines, strict=True):
        worth[run] = log(run.chance) + WHOLE_WEIGHT * cosine
    # Sorting is stable: of two that are worth the same, the one that was chosen first comes first.
    return sorted(likely, key=worth.__getitem__, reverse=True)


def _text_of(read: Sequence[Passage], run: Run) -> str:
    """Returns a run as one text, as far as an excerpt may be long."""
    sentences = read[run.passage].sentences[run.first : run.end]
    text = " ".join([sentence.text for sentence in sentences])
    return text[:LONGEST_RUN_CHARS]


def _compared(
    question: str,
    shares: TermShares,
    read: Sequence[Passage],
    likeness: Likeness | None,
) -> dict[str, float]:
    """Returns the likeness of the sentences to the question, by their text; none where nobody can tell."""
    if likeness is None or not question.strip():
        return {}
    texts: dict[str, float] = {}
    for sentence in sentences_of(read):
        if sentence.text:
            texts.setdefault(sentence.text, shares.share(sentence.terms))
    # Where there are more than can be compared, those that hold most of the question; sorting is stable.
    wanted = sorted(texts, key=lambda text: -texts[text])[:MOST_COMPARED]
    if not wanted:
        return {}
    cosines = likeness(question, [text[:COMPARED_CHARS] for text in wanted])
    return dict(zip(wanted, cosines, strict=False))


def _scores(
    shares: TermShares, read: Sequence[Passage], compared: dict[str, float]
) -> list[list[float]]:
    """Returns the score of each sentence, passage by passage."""
    rank_weight = RANK_WEIGHT
    if compared:
        rank_weight = RANK_BESIDE_MEANING
    scores: list[list[float]] = []
    for rank, passage in enumerate(read):
        likeness = NO_FORMS
        if compared:
            likeness = by_likeness(
                [compared.get(sentence.text, 0.0) for sentence in passage.sentences]
            )
        forms = {sentence.number: sentence.added for sentence in passage.sentences}
        signals = PassageSignals(
            rank=rank,
            rank_weight=rank_weight,
            labels=passage.of_title,
            forms=forms,
            likeness=likeness,
        )
        scores.append(sentence_scores(shares, passage.sentences, signals))
    return scores


def _chances(
    read: Sequence[Passage], scores: Sequence[Sequence[float]], *, by_meaning: bool
) -> list[list[float]]:
    """Returns how likely each sentence is to be the answer, all together 1.

    One that is repeated counts once, and one that shares no word counts where meanings are compared.
    """
    highest = max(max(row, default=0.0) for row in scores)
    total = 0.0
    weights: list[list[float]] = []
    for passage, row in zip(read, scores, strict=True):
        of_passage: list[float] = []
        for sentence, score in zip(passage.sentences, row, strict=True):
            weight = 0.0
            if not sentence.is_repeated and (by_meaning or sentence.terms):
                weight = exp(SHARPNESS * (score - highest))
            of_passage.append(weight)
            total += weight
        weights.append(of_passage)
    return [[weight / total for weight in row] for row in weights]


def _asks(sentence: str) -> bool:
    return sentence.rstrip("\"'\u2019\u201d)").endswith("?")
