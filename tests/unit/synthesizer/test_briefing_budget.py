"""The briefing's budget: what goes when not everything fits, and what that costs."""

from __future__ import annotations

import sys
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.language.lengths import tokens_of
from tests.unit.synthesizer.stories import (
    Told,
    asked,
    call,
    found,
    notes,
    opened,
    passage,
    replied,
    round_of,
    shown_question,
    sources,
)

LOG = passage(
    "A log is only appended to. Nothing in it changes. Readers keep their own place."
)
OFFSET = passage("An offset names a place in a log.", lesson=2)


def test_a_briefing_over_its_budget_drops_what_is_worth_least() -> None:
    texts = [
        f"Sentence number {n} speaks of something that nobody asked about in this log."
        for n in range(12)
    ]
    texts[7] = (
        "What a log is: the log is what everybody here asks about, again and again and again."
    )
    story = Told(
        asked("What is a log of everybody?", budget=250),
        *round_of(found("a", passage(" ".join(texts)))),
    )

    story.tell(opened(2))

    shown = story.briefing.sources[0].sentences
    assert 7 in shown
    assert shown == tuple(sorted(shown))
    lost = {n for dropped in story.briefing.dropped for n in dropped.sentences}
    assert {dropped.what for dropped in story.briefing.dropped} == {"f1"}
    assert lost == set(range(12)) - set(shown)
    assert sum(d.tokens for d in story.briefing.dropped) == sum(
        tokens_of(texts[n] + " ") for n in lost
    )
    assert story.briefing.tokens <= 250 + tokens_of(shown_question(story.briefing))


def test_older_rounds_go_first() -> None:
    old, new = (
        passage(f"The {age} log holds many things that readers want. " * 6)
        for age in ("aged", "fresh")
    )
    story = Told(
        asked(budget=230),
        *round_of(found("a", old)),
        *round_of(found("b", new), round_=2),
    )

    story.tell(opened(3, final=True))

    lost = {
        dropped.what: len(dropped.sentences) or 6 for dropped in story.briefing.dropped
    }
    assert lost.get("f1", 0) > lost.get("f2", 0)


def test_one_endless_sentence_does_not_drive_out_the_others() -> None:
    table = passage("log " * 50_000, score=9.0)
    story = Told(asked(), *round_of(found("a", table, LOG)))

    story.tell(opened(2))

    assert story.briefing.facts == ("f2",)
    assert story.briefing.sources[0].sentences == (0, 1, 2)
    (dropped,) = story.briefing.dropped
    assert (dropped.what, dropped.sentences) == ("f1", ())


def test_a_tool_result_of_200_kb_is_bounded() -> None:
    huge = passage(
        " ".join(f"Sentence {n} of the log says little." for n in range(5_500))
    )
    story = Told(asked(), *round_of(found("a", huge)))

    story.tell(opened(2))

    assert story.briefing.tokens < 6_100
    assert story.briefing.facts == ("f1",)


@pytest.mark.parametrize("budget", [100_000, 4_000])
def test_the_work_of_a_briefing_grows_with_the_facts_and_no_faster(budget: int) -> None:
    forty, eighty, more = (_calls_of_briefing(count, budget) for count in (40, 80, 160))

    assert eighty < 2.2 * forty
    assert more < 2.2 * eighty


def _calls_of_briefing(count: int, budget: int) -> int:
    """How many functions are called for one briefing: what it costs, on any machine."""
    facts = [
        passage(
            f"Fact {n} speaks of logs and offsets in one of {n} ways. " * 12, lesson=n
        )
        for n in range(count)
    ]
    story = Told(asked(budget=budget), *round_of(found("a", *facts)), opened(2))
    calls = 0

    def count_one(_frame: FrameType, kind: str, _of: object) -> None:
        nonlocal calls
        calls += kind in ("call", "c_call")

    sys.setprofile(count_one)
    try:
        story.tell(opened(2))
    finally:
        sys.setprofile(None)
    return calls


@settings(max_examples=60, deadline=None)
@given(
    budget=st.integers(min_value=100, max_value=1_500),
    rounds=st.lists(
        st.lists(st.integers(min_value=1, max_value=30), max_size=5), max_size=4
    ),
    said=st.text(alphabet="abc <&. ", max_size=2_000),
)
def test_facts_and_notes_never_exceed_the_budget(
    budget: int, rounds: list[list[int]], said: str
) -> None:
    story = Told(asked(budget=budget))
    for number, lengths in enumerate(rounds, start=1):
        texts = [
            f"Round {number} has a passage {at} on logs. " * length
            for at, length in enumerate(lengths)
        ]
        story.tell(replied(call(f"x{number}"), text=said, round_=number))
        story.tell(
            *round_of(
                found(f"a{number}", *(passage(text) for text in texts)), round_=number
            )
        )

    story.tell(opened(9, final=True))

    facts = sum(
        tokens_of(part["text"])
        for block in sources(story.briefing)
        for part in block["content"]
    )
    assert facts + tokens_of(notes(story.briefing)) <= budget
    assert story.briefing.tokens <= budget + tokens_of(shown_question(story.briefing))
