"""Passages chosen from scored sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from antiphon.knowledge.scoring import SentenceScores, Tuning
from antiphon.knowledge.selecting import LONGEST_PASSAGE, Selection
from antiphon.knowledge.stretches import Place, SentenceRow, StoredChunks
from antiphon.knowledge.vectors import Flags

LENGTH = 100


def row_of(*counts: int) -> SentenceRow:
    """Sentences of a hundred characters each, in as many lessons as there are counts."""
    nowhere = np.zeros(2, dtype=np.float32)
    place = Place(section=0, course="C", lesson=1, title="", link=None, vector=nowhere)
    starts = [np.arange(count, dtype="<u4") * LENGTH for count in counts]
    chunks = StoredChunks(
        section=range(len(counts)),
        start=[0] * len(counts),
        stop=[count * LENGTH for count in counts],
        text=["x" * count * LENGTH for count in counts],
        starts=[each.tobytes() for each in starts],
        tokens=[np.ones(count, dtype="<u2").tobytes() for count in counts],
        lengths=[np.ones((count, 3), dtype="<f4").tobytes() for count in counts],
        term_counts=[np.zeros(count, dtype="<u2").tobytes() for count in counts],
        terms=[b""] * len(counts),
        vectors=[b""] * len(counts),
    )
    return SentenceRow(chunks, dict.fromkeys(range(len(counts)), place))


def select(
    row: SentenceRow,
    meaning: Sequence[float],
    characters: int,
    *,
    limit: int = 5,
    by_term: Sequence[Sequence[float]] = (),
    banned: Flags | None = None,
) -> list[tuple[int, int]]:
    """Returns first and last sentence of each passage, in the order of being chosen, padding not counted."""
    if banned is None:
        banned = np.zeros(len(row), dtype=bool)
    terms = [row.lay_out(np.array(each)) for each in by_term]
    scores = SentenceScores(
        meaning=row.lay_out(np.array(meaning)),
        by_term=np.array(terms).reshape(-1, len(row)),
        absent=0.0,
    )
    spans = Selection(row, scores, banned, characters, limit, Tuning()).run()
    number = {int(place): n for n, place in enumerate(row.sentences)}
    return [(number[span.first], number[span.last]) for span in spans]


def test_sentences_beside_one_another_are_one_passage() -> None:
    assert select(row_of(6), [0, 5, 4, 0, 0, 0], 200) == [(1, 2)]


def test_what_stands_between_two_near_sentences_belongs_to_the_passage() -> None:
    assert select(row_of(6), [0, 5, 0, 4, 0, 0], 300) == [(1, 3)]


def test_no_passage_reaches_from_one_lesson_into_another() -> None:
    assert select(row_of(2, 2), [0, 5, 4, 0], 200) == [(1, 1), (2, 2)]


def test_the_budget_holds_and_the_first_sentence_comes_however_long_it_is() -> None:
    assert select(row_of(6), [0, 5, 4, 0, 0, 0], 250) == [(1, 2)]
    assert select(row_of(6), [0, 5, 4, 0, 0, 0], 10) == [(1, 1)]


def test_no_passage_is_longer_than_the_longest() -> None:
    spans = select(row_of(40), [float(n == 20) for n in range(40)], 3_000)

    assert len(spans) > 1
    assert all((last - first + 1) * LENGTH <= LONGEST_PASSAGE for first, last in spans)


def test_there_are_no_more_passages_than_asked_for() -> None:
    assert len(select(row_of(1, 1, 1, 1), [4, 3, 2, 1], 400, limit=2)) == 2


def test_what_is_banned_is_neither_chosen_nor_reached_over() -> None:
    row = row_of(5)
    banned = np.zeros(len(row), dtype=bool)
    banned[2] = True

    assert select(row, [0, 5, 4, 3, 0], 200, banned=banned) == [(1, 1), (3, 3)]


def test_the_second_passage_is_about_the_name_that_the_first_does_not_hold() -> None:
    row = row_of(1, 1, 1)
    rare, common = [4.0, 4.0, 0.0], [0.0, 0.0, 3.0]

    assert select(row, [0, 0, 0], 200, by_term=(rare, common)) == [(0, 0), (2, 2)]
