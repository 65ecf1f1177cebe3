"""Ranks sentences by their value for a question; the one ranker, for briefings and for extracts; pure.

A score adds up cheap signals, each with its weight below. Each caller gives the signals that it has, and a missing one
adds nothing: a briefing knows ranks, scores and calls, extraction looks at the form of sentences. The caller also
weighs each of the question's terms, by its rarity among the facts found or in the courses. The weights of a briefing's
signals were set on half of hotpotqa_100, the others on samples/questions.jsonl, and those of meaning and form together
with them on five corpora of chunking_evaluation, each left out in turn.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple, Protocol

from antiphon.language.definitions import Definition
from antiphon.language.evidence import TermShares

TERMS_WEIGHT = 0.5
"""For the share of the question's terms that the sentence and its labels hold."""
NEIGHBOUR_WEIGHT = 0.1
"""For the share that the better of its neighbours holds."""
RANK_WEIGHT = 0.2
"""For the best rank among a call's results; half of it for the second, and so on."""
SCORE_WEIGHT = 0.1
"""For its passage's score, relative to the best of the call."""
CALLS_WEIGHT = 0.05
"""For a passage that several calls found."""
TITLE_WEIGHT = 0.3
"""For a title that the question or a tool call names: somebody looked for it by name."""
BEGINNING_WEIGHT = 0.2
"""For the first sentence of a lesson, which often names the subject; half of it for the second, and so on."""
NAMES_WEIGHT = 0.1
"""For naming another source, and below, for being named by one: such bridges lead to a second fact."""
NAMED_WEIGHT = 0.1
OWN_TERMS_WEIGHT = 0.2
"""For the share of the terms in the sentence itself, besides its labels: under a title with all the terms, the sentence
that repeats them."""
PAIR_WEIGHT = 0.03
"""For each pair of adjacent words that are adjacent in the question too, up to three."""
MOST_PAIRS = 3
SHAPE_WEIGHT = 0.07
"""For the kind of thing that the question asks for: a year, a name, the form of a definition, a reason, a step."""
NUMBER_WEIGHT = 0.12
"""For a number if the question asks for one."""
DEFINITION_WEIGHT = 0.15
"""For a definition of the very thing that the question asks about."""
FRAGMENT_WEIGHT = -0.2
"""For a heading or a question, which hold the right words and say little."""

_FEWEST_TERMS = 4
_FEWEST_SPOKEN = 5
_SPOKEN_HEADING = re.compile(
    r"\W*(?:(?:okay|ok|so|now|then|all right|right|well|next)\b\W+){2}", re.I
)
"""Speakers begin a new point with "Okay so now, …": if few words follow, that is a heading."""
_ENDS = re.compile(r"[.!:\u3002]\W*$")
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|forty|fifty|sixty|hundred|thousand"
    r"|million|billion|once|twice|half|dozen)\b",
    re.I,
)
_NAME = re.compile(r"\b[A-Z]\w+(?:[- ][A-Z]\w+)+")
_DEFINITION = re.compile(
    r"\b(?:is|are|was) (?:basically |really |just |simply |essentially )?(?:an?|the|when|where|what)\b"
    r"|\b(?:means?|stands? for|refers? to|(?:is|are) (?:called|known as|defined as))\b",
    re.I,
)
_REASON = re.compile(
    r"\b(?:because|since|due to|reasons?|so that|in order to|that(?:'s| is) why|that way|otherwise|therefore)\b",
    re.I,
)
_STEP = re.compile(
    r"\b(?:first|second|then|next|after that|finally|start by|steps?|you (?:can|need to|have to|want to|should)"
    r"|we(?:'re going to|'ll| will| can| need to| have to)|let's)\b",
    re.I,
)
_NO_QUANTITY = (
    r"(?:do|does|did|can|could|should|would|will|is|are|was|were|has|have|had|may|might|must|to|come|about|else|exactly"
    r"|the|an?|this|that|these|those|they|we|you|it|he|she|i|my|our|your|one)"
)
"""Words after "how" that ask for a way; any other word asks for a number: "how many", "how accurate"."""
_ASKED_FOR = (
    (re.compile(r"\b(?:when|what year|which year)\b", re.I), _YEAR, SHAPE_WEIGHT),
    (
        re.compile(
            rf"\bhow (?!{_NO_QUANTITY}\b)\w+|\b(?:values?|number|size|percent\w*|accuracy|rate|price|costs?|total)\b",
            re.I,
        ),
        _NUMBER,
        NUMBER_WEIGHT,
    ),
    (re.compile(r"\b(?:who|whose|whom)\b", re.I), _NAME, SHAPE_WEIGHT),
    (
        re.compile(
            r"^\W*(?:what(?:'s| is| are| does)|define|meaning of)\b.{0,60}$", re.I
        ),
        _DEFINITION,
        SHAPE_WEIGHT,
    ),
    (
        re.compile(r"\b(?:why|what (?:is|are) the reasons?)\b", re.I),
        _REASON,
        SHAPE_WEIGHT,
    ),
    (re.compile(r"\bhow (?:do|can|should|would|to)\b", re.I), _STEP, SHAPE_WEIGHT),
)


NO_FORMS: Mapping[int, float] = MappingProxyType({})


class Rankable(Protocol):
    """A sentence: its place in its passage, from 0, and the stems that it holds."""

    @property
    def number(self) -> int: ...
    @property
    def terms(self) -> frozenset[str]: ...


class PassageSignals(NamedTuple):
    """A caller's signals for one passage; a missing one keeps its default, and adds nothing.

    Attributes:
        rank: Its best rank among a call's results, from 0.
        rank_weight: The weight of the best rank.
        relative_score: Its score, as a share of the best of its call.
        found_again: Several calls found it.
        title_named: The share of its title that the question or a call names.
        is_named: Another source names it.
        labels: The stems of its source and title; they count for each of its sentences.
        starts_lesson: Its first sentence is the first of a lesson.
        naming: The numbers of the sentences that name another source.
        forms: The score of each sentence's form, by number (`Forms.score`).
    """

    rank: int
    rank_weight: float = RANK_WEIGHT
    relative_score: float = 0.0
    found_again: bool = False
    title_named: float = 0.0
    is_named: bool = False
    labels: frozenset[str] = frozenset()
    starts_lesson: bool = False
    naming: Collection[int] = ()
    forms: Mapping[int, float] = NO_FORMS


def sentence_scores(
    asked: TermShares, sentences: Sequence[Rankable], signals: PassageSignals
) -> list[float]:
    """Returns the score of each of the passage's sentences, in their order."""
    # A float depends on the order of its additions, and a replay must score recorded briefings alike: the order of
    # these lines is part of the score.
    common = (
        signals.rank_weight / (1 + signals.rank) + SCORE_WEIGHT * signals.relative_score
    )
    common += CALLS_WEIGHT * signals.found_again
    common += TITLE_WEIGHT * signals.title_named
    common += NAMED_WEIGHT * signals.is_named
    labels = asked.held(signals.labels)
    naming, forms = signals.naming, signals.forms
    shares = _bare_shares(asked, sentences)
    scores: list[float] = []
    for at, sentence in enumerate(sentences, start=1):
        own = asked.share(sentence.terms | labels) if labels else shares[at]
        score = common + TERMS_WEIGHT * own
        around = NEIGHBOUR_WEIGHT * max(shares[at - 1], shares[at + 1])
        if sentence.number in naming:
            around += NAMES_WEIGHT
        score += around
        if signals.starts_lesson:
            score += BEGINNING_WEIGHT / (1 + sentence.number)
        if forms:
            score += forms.get(sentence.number, 0.0)
        scores.append(score)
    return scores


def _bare_shares(asked: TermShares, sentences: Sequence[Rankable]) -> list[float]:
    """Returns the share of the question that each sentence covers without its labels, from index 1.

    A zero at either end gives every sentence a neighbour on both sides.
    """
    return [0.0, *[asked.share(sentence.terms) for sentence in sentences], 0.0]


class Forms:
    """Scores the form of sentences for one question: its pairs of words, and the kind of thing that it asks for."""

    def __init__(self, question: str, asked: TermShares) -> None:
        self._pairs = frozenset(pairwise(asked.of_term))
        self._definition = Definition(question)
        self._shapes = [
            (shape, weight)
            for asks_for, shape, weight in _ASKED_FOR
            if asks_for.search(question)
        ]

    def score(self, text: str, stems: Sequence[str]) -> float:
        """Returns the score of the sentence's form.

        Args:
            stems: Its terms in order, repeats kept.
        """
        shared = len(self._pairs.intersection(pairwise(stems)))
        score = PAIR_WEIGHT * min(shared, MOST_PAIRS)
        for shape, weight in self._shapes:
            score += weight * (shape.search(text) is not None)
        score += DEFINITION_WEIGHT * self._definition.stands_in(text)
        # Speech has short sentences too, but a heading does not end like a sentence.
        is_heading = len(stems) < _FEWEST_TERMS and not _ENDS.search(text)
        is_spoken = len(stems) < _FEWEST_SPOKEN and _SPOKEN_HEADING.match(text)
        if is_heading or is_spoken or text.endswith("?"):
            score += FRAGMENT_WEIGHT
        return score
