"""Decides which sentences a briefing shows, in one order of leaving: what has decayed, then what the budget costs.

First goes what has *decayed*, although it would fit: sentences that score too little for the age of their fact.
Scores are compared with that of the best sentence there is, so that a question in other words than the courses' loses
no more than another.

- The newest round loses nothing. A round later the bar is `LEAST_SCORES[1]` of the best, then `LEAST_SCORES[2]` for
  good.
- By rules 1 the bars were `OLD_LEAST_SCORES`, and in the newest round only what served no part of the question could
  go; the words of a tool of one's own stayed whole. That saved a tenth of a cent a question, and lost the evidence of
  one in twenty (`make eval-memory`).
- A budget below the usual raises the bars, one above it lowers them: `BAR_A_HALVING` for each halving.
- Never goes: an outline; a fact that touches a part that is still open; for each part, the best sentence among its
  facts; and the best sentence of all.

Then, while the rest outgrows its *budget*, single sentences go in this order:

1. A sentence that alone takes more than all the room: it can never be shown.
2. What no open part of the question needs, before anything that an open part needs. Within each of the two: first any
   sentence that takes more than a quarter of the room (no course sentence does; a table on one line may: it would
   drive out everything else), then by score less a sixth for each round of age, the lowest first; of two that score
   the same, the one found later.

A fact whose last sentence goes is not shown at all, which frees its labels too. Nothing is forgotten: memory keeps
all of it, and what an open part or a later call makes score more comes back.
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
"""Digits of a recorded score: enough to see by how much a sentence missed the bar, short enough for every trace."""

LeastScores = tuple[float | None, ...]

DECAYED = "worth too little to the question for its age"
TOO_LONG = "one sentence took more than a quarter of the budget"
SCORED_LEAST = "over the budget, and worth least to the question"


class Selection(NamedTuple):
    """The sources that a briefing shows, in order of discovery, and what it leaves out.

    Attributes:
        sources: Blocks with the sentences that stay.
        dropped: What went of each fact, by reason.
        left_out: The sentences that went, in order.
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
    """Selects what is shown.

    Args:
        candidates: Every sentence that may be shown, in order of discovery.
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
    # Sorting is the dearest step of a briefing, and most briefings are within their budget.
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
        reasons: For the place of each, why it left.
        bars: For the place of each that decayed, the score that it would have needed.
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
            # A fact without sentences is not shown, so its source and title go too.
            self.tokens_left -= candidate.source.label_tokens


def _needed_facts(intent: Intent, blocks: Iterable[SourceBlock]) -> set[str]:
    """Returns the facts that touch a part of the question which is still open."""
    parts = still_open(intent)
    needed: set[str] = set()
    # Most briefings have no open part: then no block's terms need be put together.
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
    """Returns the sentences that score too little for their age, in order, each with the score that it needed."""
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
        # Whatever an open part may need stays, however low it scores: nothing better was found for that part.
        is_kept = candidate.sentence.fact_id in needed or candidate.place in kept
        if not is_kept and _may_decay(candidate, age, intent):
            decayed.append((candidate, bar))
    return decayed


def _bars(best: float, budget: int, least_scores: LeastScores) -> list[float]:
    """Returns the least score that stays, by rounds of age."""
    shift = BAR_A_HALVING * log2(USUAL_BUDGET / max(budget, 1))
    # Without a bound a tiny budget would let nothing stay but the best, and a huge one would let everything stay.
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
    """Returns the places of the best sentence of all, and for each part of the best among the facts that serve it."""
    best_of_fact = _best_of_each_fact(candidates)
    places = {max(best_of_fact.values(), key=_score).place}
    for fact_ids in intent.served:
        # A fact that serves a part may be hidden, because another says nearly the same.
        serving = [best_of_fact[each] for each in fact_ids if each in best_of_fact]
        if serving:
            places.add(max(serving, key=_score).place)
    return places


def _best_of_each_fact(candidates: Sequence[Candidate]) -> dict[str, Candidate]:
    best_of_fact: dict[str, Candidate] = {}
    for candidate in candidates:
        known = best_of_fact.setdefault(candidate.sentence.fact_id, candidate)
        # Of two that score the same the earlier one stays.
        if candidate.score > known.score:
            best_of_fact[candidate.sentence.fact_id] = candidate
    return best_of_fact


def _score(candidate: Candidate) -> float:
    return candidate.score


def _may_decay(candidate: Candidate, age: int, intent: Intent) -> bool:
    passage = candidate.source.fact.passage
    # An outline is one thing: without some of its lines it would be wrong about its course.
    if passage.kind == "outline":
        return False
    if age > 0:
        return True
    if passage.kind != "passage":
        return False
    # The model has not seen the newest round yet, so only what serves nothing may go unseen.
    held = candidate.sentence.terms | candidate.source.labels
    return not any(serves(part, passage, held) for part in intent.parts)


def _leaving_order(
    candidates: Sequence[Candidate], needed: set[str], room: int
) -> list[Candidate]:
    """Sorts the sentences into the order in which the budget makes them leave."""
    newest = _newest_round(candidates)

    def order(candidate: Candidate) -> tuple[bool, bool, bool, float, int]:
        sentence = candidate.sentence
        aged_score = candidate.score - AGE_WEIGHT * (newest - sentence.round)
        may_fit = sentence.tokens <= room
        # False sorts before True: each flag is what lets a sentence stay longer.
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
    """Builds the rows for one fact, one a reason; no sentences are named if they are all of the fact's."""
    by_reason: dict[str, list[Candidate]] = {}
    for candidate in lost:
        reason = leaving.reasons[candidate.place]
        by_reason.setdefault(reason, []).append(candidate)
    rows: list[Dropped] = []
    # The labels of a fact that is not shown at all are freed once: the first reason has them.
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
