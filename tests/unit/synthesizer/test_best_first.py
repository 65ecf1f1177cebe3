"""The order of passages: what it rests on, and that neither it nor the conversation costs more than is paid for."""

from __future__ import annotations

import pytest

from antiphon.language.lengths import first_lines, tokens_of
from antiphon.vocabulary.values import Exchange
from tests.unit.synthesizer.stories import (
    Told,
    asked,
    found,
    opened,
    passage,
    round_of,
    shown_conversation,
    shown_question,
)


@pytest.mark.parametrize("budget", range(600, 650, 3))
def test_facts_and_notes_keep_to_the_budget_though_a_fact_moves_to_a_longer_number(
    budget: int,
) -> None:
    low = passage("A log is a file that is only appended to.", lesson=0, score=0.5)
    others = [
        passage(
            f"Number {n} of the words of this very long passage is w{n}x, and none of them is like q{n}y{n}. No. Yes.",
            lesson=n,
        )
        for n in range(1, 12)
    ]
    story = Told(asked(budget=budget), *round_of(found("a", low, *others)))
    story.tell(
        *round_of(*[found(f"b{n}", low) for n in range(8)], round_=2),
        opened(3, final=True),
    )
    assert story.briefing.tokens <= budget + tokens_of(shown_question(story.briefing))


def test_a_passage_is_no_better_because_the_best_of_its_call_went_over_the_budget() -> (
    None
):
    best = passage("log " * 8_000, lesson=1, score=1.0)  # can never be shown
    poor = passage("A tail is read live.", lesson=2, score=0.1)
    good = passage("A head is written.", lesson=3, score=10.0)
    fair = passage("A log is kept.", lesson=4, score=9.0)
    story = Told(
        asked(), *round_of(found("a", best, poor), found("b", good, fair)), opened(2)
    )
    assert story.briefing.facts == ("f3", "f4", "f2")


def test_a_weak_find_is_no_best_one_because_the_better_ones_of_its_call_were_known() -> (
    None
):
    first = [
        passage(t, lesson=n, score=s)
        for n, (t, s) in enumerate(
            [("A log is kept.", 1.0), ("A head is written.", 0.9)]
        )
    ]
    weak = passage("Rain fell on hats.", lesson=9, score=0.1)
    story = Told(
        asked(),
        *round_of(found("a", *first)),
        *round_of(found("b", *first, weak), round_=2),
        opened(3),
    )
    assert story.briefing.facts == ("f1", "f2", "f3")


def test_the_last_answer_is_bounded_in_other_scripts_too() -> None:
    assert tokens_of(first_lines("日志只能追加读者各有位置" * 500, 300)) <= 301


def test_the_last_question_is_bounded() -> None:
    history = (Exchange(question="Why is that so? " * 500, answer="So."),)
    story = Told(asked(history=history), opened())
    assert tokens_of(shown_conversation(story.briefing)) <= 600
