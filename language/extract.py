"""Chooses the excerpts that best answer a question: runs of neighbouring whole sentences; pure but for `likeness`.

Sentences are ranked as for a briefing (`ranking.py`), by the signals that extraction has: the order of the passages,
their titles, neighbours, the form of what is asked for, and likeness by meaning where somebody can tell it. Scores are
then read as chances: of all sentences, how likely is this one to be (part of) the answer. A run is worth the chances
of its sentences less what its length costs a reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import exp
from typing import NamedTuple

from antiphon.language.evidence import (
    WORDS_ALONE,
    Likeness,
    Measures,
    TermShares,
    evidence_of,
    question_shares,
    unknown_share,
)
from antiphon.language.ranking import (
    NO_FORMS,
    OWN_TERMS_WEIGHT,
    Forms,
    PassageSignals,
    by_likeness,
    sentence_scores,
)
from antiphon.language.words import terms

MOST_EXCERPTS = 3
MAX_SENTENCES = 2000
MOST_COMPARED = 160
"""As many sentences are compared by meaning: each costs an embedder a few milliseconds."""
COMPARED_CHARS = 1_000

MOST_IN_A_RUN = 5
LONGEST_RUN_CHARS = 600
RANK_WEIGHT = 0.1
"""For standing in the passage that was found first: less than in a briefing, for the sentence says more itself."""
SHARPNESS = 10.0
"""How much likelier a higher score makes a sentence: the scores' weights fitted as a choice of one sentence out of
those of a question come out at ten times those of `ranking.py` (docs/decisions/145)."""
COST_PER_CHAR = 0.0002
"""What a character of a run costs, in chance: five hundred of them must bring a tenth."""
FREE_CHARS = 250
"""As many characters behind the likeliest sentence cost nothing: who speaks names a thing first, and then says in short
sentences what it is."""
_COST_OF_POINTING_BACK = 0.04
LEADS = 6
"""The likest sentence is compared with the sixth: one passage says the same in a few sentences, not in six."""
_FURTHER = 0.06
"""A further excerpt has at least this share of the chance of the first one."""
_POINTS_BACK = re.compile(
    r"\W*(?:(?:and|but|so|or|because|also)\b\W*)?(?:It|Its|This|That|These|Those|They|Their|Them|He|She|His|Her|Such|"
    r"Both|There|Thus|Hence|Therefore|However|Instead|Otherwise|For example|For instance|"
    r"The (?:latter|former|same|two|three))\b",
    re.IGNORECASE,
)


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


class Fit(NamedTuple):
    """How well what was chosen fits the question.

    Attributes:
        likeness: The greatest likeness of a chosen sentence to the question; None where nobody could tell.
        share: The weighted share of the question's terms that the best excerpt and its title hold.
        evidence: The same of all passages together, less what tells against it (`evidence_of`).
        chance: The chances of all excerpts together.
        lead: How much liker the likest sentence of all is to the question than the sixth.
        unknown: The share of the question's terms that stand nowhere in the courses.
        is_question: The sentence of the best excerpt that should carry the answer asks itself.
        terms: How many terms the question has.
    """

    likeness: float | None = None
    share: float = 0.0
    evidence: float = 0.0
    chance: float = 0.0
    lead: float = 0.0
    unknown: float = 0.0
    is_question: bool = False
    terms: int = 0


class Extraction(NamedTuple):
    """The chosen excerpts, the best first, and how well they fit the question."""

    excerpts: tuple[Excerpt, ...] = ()
    fit: Fit = Fit()

    @property
    def evidence(self) -> float:
        """0 to 1: the weighted share of the question's terms that the passages hold together."""
        return self.fit.evidence


class _Sentence(NamedTuple):
    """A sentence that may be chosen.

    Attributes:
        number: Its place in its passage, from 0.
        terms: The question's terms that it holds.
        chars: Its length, without white space around it.
        added: What its own words and its form add to its score.
        is_repeated: It stood in an earlier passage already, as where chunks overlap.
    """

    number: int
    terms: frozenset[str]
    text: str
    chars: int
    added: float
    is_repeated: bool


class _Passage(NamedTuple):
    """One passage as it is read.

    Attributes:
        of_title: What its title holds of the question.
    """

    sentences: list[_Sentence]
    of_title: frozenset[str]


class _Run(NamedTuple):
    passage: int
    first: int
    end: int
    chance: float
    value: float


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
    read = _read(question, shares, passages, titles)
    compared = _compared(question, shares, read, measures.likeness)
    if not compared and not any(each.terms for each in _every(read)):
        return Extraction()
    scores = _scores(shares, read, compared)
    chances = _chances(read, scores, by_meaning=bool(compared))
    chosen = _choose(read, chances, limit)
    if not chosen:
        return Extraction()
    excerpts: list[Excerpt] = []
    for run in chosen:
        of_passage = scores[run.passage]
        key = max(range(run.first, run.end), key=of_passage.__getitem__)
        excerpts.append(Excerpt(run.passage, run.first, run.end, key, run.chance))
    fit = _fit(question, shares, read, compared, chosen)
    best = excerpts[0]
    fit = fit._replace(
        unknown=unknown_share(shares, _held(read), measures.weigh),
        is_question=_asks(read[best.passage].sentences[best.key].text),
        terms=len(shares.of_term),
    )
    return Extraction(tuple(excerpts), fit)


def _read(
    question: str,
    shares: TermShares,
    passages: Sequence[Sequence[str]],
    titles: Sequence[str],
) -> list[_Passage]:
    """Reads the passages, of all together at most `MAX_SENTENCES` sentences."""
    forms = Forms(question, shares)
    read: list[_Passage] = []
    seen: set[str] = set()
    room = MAX_SENTENCES
    for at, passage in enumerate(passages):
        of_title = frozenset[str]()
        if at < len(titles):
            of_title = shares.held(terms(titles[at]))
        sentences: list[_Sentence] = []
        for number, sentence in enumerate(passage[:room]):
            text = sentence.strip()
            stems = terms(text)
            held = shares.held(stems)
            own = OWN_TERMS_WEIGHT * shares.share(held)
            sentences.append(
                _Sentence(
                    number=number,
                    terms=held,
                    text=text,
                    chars=len(text),
                    added=own + forms.score(text, stems),
                    is_repeated=text in seen,
                )
            )
            seen.add(text)
        room -= len(sentences)
        read.append(_Passage(sentences, of_title))
    return read


def _every(read: Sequence[_Passage]) -> Iterator[_Sentence]:
    for passage in read:
        yield from passage.sentences


def _compared(
    question: str,
    shares: TermShares,
    read: Sequence[_Passage],
    likeness: Likeness | None,
) -> dict[str, float]:
    """Returns the likeness of the sentences to the question, by their text; none where nobody can tell."""
    if likeness is None or not question.strip():
        return {}
    texts: dict[str, float] = {}
    for sentence in _every(read):
        if sentence.text:
            texts.setdefault(sentence.text, shares.share(sentence.terms))
    # Where there are more than can be compared, those that hold most of the question; sorting is stable.
    wanted = sorted(texts, key=lambda text: -texts[text])[:MOST_COMPARED]
    if not wanted:
        return {}
    cosines = likeness(question, [text[:COMPARED_CHARS] for text in wanted])
    return dict(zip(wanted, cosines, strict=False))


def _scores(
    shares: TermShares, read: Sequence[_Passage], compared: dict[str, float]
) -> list[list[float]]:
    """Returns the score of each sentence, passage by passage."""
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
            rank_weight=RANK_WEIGHT,
            labels=passage.of_title,
            forms=forms,
            likeness=likeness,
        )
        scores.append(sentence_scores(shares, passage.sentences, signals))
    return scores


def _chances(
    read: Sequence[_Passage], scores: Sequence[Sequence[float]], *, by_meaning: bool
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


def _choose(
    read: Sequence[_Passage], chances: Sequence[Sequence[float]], limit: int
) -> list[_Run]:
    """Takes the run of the greatest value, and further ones that do not touch those taken, while they are likely."""
    chosen: list[_Run] = []
    for run in sorted(_runs(read, chances), key=lambda run: -run.value):
        if len(chosen) >= limit or (
            chosen and run.chance < _FURTHER * chosen[0].chance
        ):
            break
        if run.chance and not any(_touches(run, other) for other in chosen):
            chosen.append(run)
    return chosen


def _touches(run: _Run, other: _Run) -> bool:
    return (
        run.passage == other.passage
        and run.first <= other.end
        and other.first <= run.end
    )


def _runs(
    read: Sequence[_Passage], chances: Sequence[Sequence[float]]
) -> Iterator[_Run]:
    """Yields every run of two to five sentences that is not too long to read; one alone where there is no other way."""
    for number, passage in enumerate(read):
        sentences = passage.sentences
        for first in range(len(sentences)):
            yield from _runs_from(number, sentences, chances[number], first)


def _runs_from(
    passage: int,
    sentences: Sequence[_Sentence],
    chances: Sequence[float],
    first: int,
) -> Iterator[_Run]:
    chance = 0.0
    chars = behind = 0
    highest = -1.0
    cost = 0.0
    if first and _POINTS_BACK.match(sentences[first].text):
        cost = _COST_OF_POINTING_BACK
    for at in range(first, min(first + MOST_IN_A_RUN, len(sentences))):
        chance += chances[at]
        chars += sentences[at].chars
        behind += sentences[at].chars
        if chances[at] > highest:
            highest = chances[at]
            behind = 0
        if at > first and chars > LONGEST_RUN_CHARS:
            return
        if at == first and not _stands_alone(sentences, first):
            continue
        length = chars - min(behind, FREE_CHARS)
        yield _Run(
            passage, first, at + 1, chance, chance - COST_PER_CHAR * length - cost
        )


def _stands_alone(sentences: Sequence[_Sentence], number: int) -> bool:
    """Returns True for a sentence that makes too long a run with either neighbour, or that has none."""
    beside = [*sentences[max(0, number - 1) : number], *sentences[number + 1 :][:1]]
    if not beside:
        return True
    shortest = min(sentence.chars for sentence in beside)
    return sentences[number].chars + shortest > LONGEST_RUN_CHARS


def _fit(
    question: str,
    shares: TermShares,
    read: Sequence[_Passage],
    compared: dict[str, float],
    chosen: Sequence[_Run],
) -> Fit:
    """Measures how well the chosen runs fit the question."""
    held = _held(read)
    together = 0
    cosines: list[float] = []
    for run in chosen:
        for sentence in _sentences_of(read, run):
            together = max(together, len(sentence.terms))
            if sentence.text in compared:
                cosines.append(compared[sentence.text])
    best = chosen[0]
    of_best = [sentence.terms for sentence in _sentences_of(read, best)]
    picked = [held[number] for number in dict.fromkeys([run.passage for run in chosen])]
    return Fit(
        likeness=max(cosines, default=None),
        share=shares.share(read[best.passage].of_title.union(*of_best)),
        evidence=evidence_of(question, shares, held, picked, together),
        chance=sum([run.chance for run in chosen]),
        lead=_lead(compared),
    )


def _held(read: Sequence[_Passage]) -> list[frozenset[str]]:
    """Returns what each passage holds of the question, its title included."""
    held: list[frozenset[str]] = []
    for passage in read:
        held.append(passage.of_title.union(*[each.terms for each in passage.sentences]))
    return held


def _lead(compared: dict[str, float]) -> float:
    if not compared:
        return 0.0
    likest = sorted(compared.values(), reverse=True)[:LEADS]
    return likest[0] - likest[-1]


def _asks(sentence: str) -> bool:
    return sentence.rstrip("\"'\u2019\u201d)").endswith("?")


def _sentences_of(read: Sequence[_Passage], run: _Run) -> Sequence[_Sentence]:
    return read[run.passage].sentences[run.first : run.end]
