"""Decides which sentences a briefing leaves out: first those that have decayed, then those over the budget.

The *decayed* go first, even if they would fit: sentences that score too little for the age of their fact. Scores are
relative to the best sentence of all, so that a question in other words than the courses' loses no more than another.

- The newest round loses nothing. A round later the bar is `LEAST_SCORES[1]` of the best, then `LEAST_SCORES[2]` for
  good.
- By rules 1 the bars were `OLD_LEAST_SCORES`, and in the newest round only sentences that served no part of the
  question could go; texts of users' own tools stayed whole. That saved a tenth of a cent a question, and lost the
  evidence of one in twenty.
- A budget below the usual raises the bars, a larger one lowers them: by `BAR_A_HALVING` for each halving or doubling.
- These never decay: an outline; a fact that touches a part that is still open; for each part, the best sentence among
  its facts; and the best sentence of all.

Then, while the rest outgrows its *budget*, single sentences go in this order:

1. A sentence that alone takes more than all the room, and can never fit.
2. Sentences that no open part of the question needs, before those that an open part needs. Within each group: first any
   sentence that takes more than a quarter of the room (no course sentence does; a table on one line may, and would
   drive out everything else), then by score less a sixth for each round of age, the lowest first; of two with the same
   score, the one further down.

A fact whose last sentence goes disappears from the request, which frees its labels too. Memory forgets nothing, and a
sentence comes back when an open part or a later call raises its score.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, log2
from typing import Literal, NamedTuple

from antiphon.synthesizer.blocks import Sentence, SourceBlock, with_sentences
from antiphon.synthesizer.intent import Intent, serves, still_open, touches
from antiphon.synthesizer.scoring import Candidate
from antiphon.vocabulary.values import Dropped

LEAST_SCORES = (None, 0.30, 0.45)
OLD_LEAST_SCORES = (0.38, 0.56, 0.65)
USUAL_BUDGET = 6_000
BAR_A_HALVING = 0.06
MOST_SHIFT = 0.15
LONGEST_SHARE = 1 / 4
AGE_WEIGHT = 1 / 6
SCORE_DIGITS = 2
"""Digits of a recorded score: enough to show by how much a sentence missed the bar, few enough for every trace."""

LeastScores = tuple[float | None, ...]

DECAYED = "worth too little to the question for its age"
TOO_LONG = "one sentence took more than a quarter of the budget"
SCORED_LEAST = "over the budget, and worth least to the question"


class Selection(NamedTuple):
    """The sources that a briefing shows, in its order, and the sentences that it leaves out.

    Attributes:
        sources: Blocks with the sentences that stay.
        dropped: The sentences that each fact lost, by reason.
        left_out: The sentences left out, in order.
        tokens: Estimated tokens of the sources.
    """

    sources: tuple[SourceBlock, ...]
    tokens: int
    dropped: tuple[Dropped, ...]
    left_out: tuple[Candidate, ...]


def select(
    candidates: Sequence[Candidate],
    intent: Intent,
    budget: int,
    room: int,
    least_scores: LeastScores = LEAST_SCORES,
) -> Selection:
    """Selects the sentences that a briefing shows.

    Args:
        candidates: Every sentence that the briefing may show, in the order of its sources.
        budget: The tokens of a whole briefing, which set how fast facts decay.
        room: The tokens that the sources may take.
        least_scores: By rounds of age, the share of the best score below which a sentence decays; None: none does.
    """
    blocks: dict[str, SourceBlock] = {}
    for candidate in candidates:
        blocks.setdefault(candidate.sentence.fact_id, candidate.source)
    needed = _needed_facts(intent, blocks.values())
    leaving = _Leaving(blocks.values())
    for candidate, bar in _decayed(candidates, intent, needed, budget, least_scores):
        leaving.leave(candidate, DECAYED, bar)
    # Sorting is the most expensive step of a briefing, and most briefings are within their budget.
    if leaving.tokens_left > room:
        for candidate in _leaving_order(candidates, needed, room):
            if leaving.tokens_left <= room:
                break
            if candidate.place in leaving.reasons:
                continue
            reason = TOO_LONG if _is_too_long(candidate, room) else SCORED_LEAST
            leaving.leave(candidate, reason)
    return _selection(candidates, blocks.values(), leaving)


class _Leaving:
    """The sentences that have left so far.

    Attributes:
        reasons: Why each left, by place.
        bars: The score that each decayed one would have needed, by place.
        tokens_left: Estimated tokens of the sources without them.
    """

    def __init__(self, blocks: Iterable[SourceBlock]) -> None:
        self.reasons: dict[int, str] = {}
        self.bars: dict[int, float] = {}
        self.tokens_left = 0
        self._sentences_left: dict[str, int] = {}
        for block in blocks:
            self.tokens_left += block.tokens
            self._sentences_left[block.fact.id] = len(block.sentences)

    def leave(
        self, candidate: Candidate, reason: str, bar: float | None = None
    ) -> None:
        sentence = candidate.sentence
        self.reasons[candidate.place] = reason
        if bar is not None:
            self.bars[candidate.place] = bar
        self.tokens_left -= sentence.tokens
        self._sentences_left[sentence.fact_id] -= 1
        if self._sentences_left[sentence.fact_id] == 0:
            # A fact without sentences disappears, so its source and title go too.
            self.tokens_left -= candidate.source.label_tokens


def _needed_facts(intent: Intent, blocks: Iterable[SourceBlock]) -> set[str]:
    """Returns the ids of the facts that touch an open part of the question."""
    parts = still_open(intent)
    needed: set[str] = set()
    # Most briefings have no open part, and need not collect the terms of the blocks.
    if not parts:
        return needed
    for block in blocks:
        held = block.all_terms()
        for part in parts:
            if touches(part, held):
                needed.add(block.fact.id)
    return needed


def _decayed(
    candidates: Sequence[Candidate],
    intent: Intent,
    needed: set[str],
    budget: int,
    least_scores: LeastScores,
) -> list[tuple[Candidate, float]]:
    """Returns the sentences that score too little for their age, in order, each with the score that it lacked."""
    if not candidates:
        return []
    best = max(candidates, key=_score)
    bars = _bars(best.score, budget, least_scores)
    newest = _newest_round(candidates)
    kept = _best_of_each_part(candidates, intent)
    decayed: list[tuple[Candidate, float]] = []
    for candidate in candidates:
        age = newest - candidate.sentence.round
        bar = bars[min(age, len(bars) - 1)]
        if candidate.score >= bar:
            continue
        # A fact that an open part may need stays, no matter how low it scores: nothing better was found.
        is_kept = candidate.sentence.fact_id in needed or candidate.place in kept
        if not is_kept and _may_decay(candidate, age, intent):
            decayed.append((candidate, bar))
    return decayed


def _bars(best: float, budget: int, least_scores: LeastScores) -> list[float]:
    """Returns the lowest score that stays, by rounds of age."""
    shift = BAR_A_HALVING * log2(USUAL_BUDGET / max(budget, 1))
    # Without a bound a tiny budget would leave nothing but the best sentence, and a huge one would keep everything.
    bounded = max(-MOST_SHIFT, min(MOST_SHIFT, shift))
    bars: list[float] = []
    for share in least_scores:
        if share is None:
            bars.append(-inf)
        else:
            bars.append((share + bounded) * best)
    return bars


def _newest_round(candidates: Sequence[Candidate]) -> int:
    rounds = {candidate.source.fact.round for candidate in candidates}
    return max(rounds, default=0)


def _best_of_each_part(candidates: Sequence[Candidate], intent: Intent) -> set[int]:
    """Returns the places of the best sentence of all, and of each part's best among the facts that serve it."""
    best_of_fact = _best_of_each_fact(candidates)
    places = {max(best_of_fact.values(), key=_score).place}
    for fact_ids in intent.served:
        # A fact that serves a part may be missing here, because another says nearly the same.
        serving = [best_of_fact[each] for each in fact_ids if each in best_of_fact]
        if serving:
            places.add(max(serving, key=_score).place)
    return places


def _best_of_each_fact(candidates: Sequence[Candidate]) -> dict[str, Candidate]:
    best_of_fact: dict[str, Candidate] = {}
    for candidate in candidates:
        known = best_of_fact.setdefault(candidate.sentence.fact_id, candidate)
        # Ties go to the earlier one.
        if candidate.score > known.score:
            best_of_fact[candidate.sentence.fact_id] = candidate
    return best_of_fact


def _score(candidate: Candidate) -> float:
    return candidate.score


def _may_decay(candidate: Candidate, age: int, intent: Intent) -> bool:
    passage = candidate.source.fact.passage
    # An outline is indivisible: without some of its lines it would misstate its course.
    if passage.kind == "outline":
        return False
    if age > 0:
        return True
    if passage.kind != "passage":
        return False
    # The model has not seen the newest round yet, so only sentences that serve no part may go unseen.
    held = candidate.sentence.terms | candidate.source.labels
    return not any(serves(part, passage, held) for part in intent.parts)


def _leaving_order(
    candidates: Sequence[Candidate], needed: set[str], room: int
) -> list[Candidate]:
    """Sorts the sentences into the order in which they leave if the budget is exceeded."""
    newest = _newest_round(candidates)

    def order(candidate: Candidate) -> tuple[bool, bool, bool, float, int]:
        sentence = candidate.sentence
        aged_score = candidate.score - AGE_WEIGHT * (newest - sentence.round)
        may_fit = sentence.tokens <= room
        # False sorts before True: a true flag lets a sentence stay longer.
        return (
            may_fit,
            sentence.fact_id in needed,
            not _is_too_long(candidate, room),
            aged_score,
            -candidate.place,
        )

    return sorted(candidates, key=order)


def _is_too_long(candidate: Candidate, room: int) -> bool:
    return candidate.sentence.tokens > room * LONGEST_SHARE


def _selection(
    candidates: Sequence[Candidate], blocks: Iterable[SourceBlock], leaving: _Leaving
) -> Selection:
    gone: dict[str, list[Candidate]] = {}
    staying: dict[str, list[Sentence]] = {}
    left_out: list[Candidate] = []
    for candidate in candidates:
        fact_id = candidate.sentence.fact_id
        if candidate.place in leaving.reasons:
            left_out.append(candidate)
            gone.setdefault(fact_id, []).append(candidate)
        else:
            staying.setdefault(fact_id, []).append(candidate.sentence)
    sources: list[SourceBlock] = []
    dropped: list[Dropped] = []
    for block in blocks:
        sentences = staying.get(block.fact.id)
        if sentences:
            sources.append(with_sentences(block, sentences))
        dropped += _dropped(
            block, gone.get(block.fact.id, []), leaving, is_hidden=not sentences
        )
    return Selection(
        tuple(sources), leaving.tokens_left, tuple(dropped), tuple(left_out)
    )


def _dropped(
    block: SourceBlock,
    lost: Sequence[Candidate],
    leaving: _Leaving,
    is_hidden: bool,
) -> list[Dropped]:
    """Builds the rows for one fact, one a reason; a row names no sentences if they are all of the fact's."""
    by_reason: dict[str, list[Candidate]] = {}
    for candidate in lost:
        reason = leaving.reasons[candidate.place]
        by_reason.setdefault(reason, []).append(candidate)
    rows: list[Dropped] = []
    # The labels of a fact that disappears are freed once, and count for the first reason.
    label_tokens = block.label_tokens if is_hidden else 0
    for reason, gone in by_reason.items():
        rows.append(_row(block, reason, gone, leaving.bars, label_tokens))
        label_tokens = 0
    return rows


def _row(
    block: SourceBlock,
    reason: str,
    gone: Sequence[Candidate],
    bars: Mapping[int, float],
    label_tokens: int,
) -> Dropped:
    tokens = label_tokens
    numbers: list[int] = []
    scores: list[float] = []
    for candidate in gone:
        tokens += candidate.sentence.tokens
        numbers.append(candidate.sentence.number)
        scores.append(round(candidate.score, SCORE_DIGITS))
    if len(numbers) == len(block.sentences):
        numbers = []
    rule: Literal["decay", "budget"] = "budget"
    bar: float | None = None
    if reason == DECAYED:
        rule = "decay"
        bar = round(bars[gone[0].place], SCORE_DIGITS)
    return Dropped(
        what=block.fact.id,
        why=reason,
        tokens=tokens,
        sentences=tuple(numbers),
        rule=rule,
        scores=tuple(scores),
        bar=bar,
    )
