"""What goes from a briefing although it would fit, and what never does."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from antiphon.vocabulary.events import RULES
from antiphon.vocabulary.values import Passage, ShownSource
from tests.unit.synthesizer.stories import (
    Told,
    asked,
    call,
    found,
    opened,
    passage,
    replied,
    requested,
    round_of,
    settled,
)

QUESTION = "Which guarantees does the append log of Orion give?"
GOOD = "The append log of Orion gives two guarantees to each of its readers. "
SMALL = 1_000
"""A budget that raises the bars as far as any does, and that all of these facts fit into."""
IDLE = "Meals are served at noon. Rain falls in the hills. Nobody rides the old horse. "


def _texts(story: Told, fact_id: str, passage_: Passage) -> list[str]:
    rows = {row.fact_id: row.sentences for row in story.briefing.sources}
    return [passage_.sentence(n).strip() for n in rows.get(fact_id, ())]


MIXED = passage(GOOD + IDLE)
OLD_AGE = passage(GOOD + "It is old.")
AS_POOR = passage("Ships sail. Dogs sleep.", course="Sea", score=0.1)
TRAVEL = passage(
    "Trains leave late. Cooks sing in the yard. Snow lies on hats.",
    course="Travel",
    score=0.1,
)


def _newest_round(budget: int = 6_000, rules: int = RULES) -> Told:
    """A round that found things worth much and things worth nothing."""
    return Told(
        asked(QUESTION, budget=budget, rules=rules),
        *round_of(found("a", MIXED, OLD_AGE, TRAVEL)),
        opened(2),
    )


def test_the_newest_round_loses_nothing() -> None:
    story = _newest_round()

    assert story.briefing.dropped == ()
    assert story.briefing.sources == (
        ShownSource(fact_id="f1", sentences=(0, 1, 2, 3)),
        ShownSource(fact_id="f2", sentences=(0, 1)),
        ShownSource(fact_id="f3", sentences=(0, 1, 2)),
    )


def test_the_newest_round_loses_what_is_worth_least_where_the_budget_presses() -> None:
    story = _newest_round(budget=130)

    assert GOOD.strip() in _texts(story, "f1", MIXED)
    assert {drop.rule for drop in story.briefing.dropped} == {"budget"}
    assert "f3" not in story.briefing.facts


def test_in_an_old_trace_the_newest_round_loses_what_serves_no_part_and_is_worth_little() -> (
    None
):
    story = _newest_round(rules=1)

    assert GOOD.strip() in _texts(story, "f1", MIXED)
    assert {drop.rule for drop in story.briefing.dropped} == {"decay"}
    assert story.briefing.tokens < 6_000


def test_with_each_round_more_of_the_same_fact_has_gone() -> None:
    first = passage(GOOD + "Readers of a log like it. " + IDLE)
    story = Told(asked(QUESTION, budget=SMALL), *round_of(found("a", first)), opened(2))
    before = _texts(story, "f1", first)

    for round_, call_id in ((2, "b"), (3, "c")):
        more = passage(f"{GOOD}More of it follows {call_id}.", lesson=round_)
        story.tell(*round_of(found(call_id, more), round_=round_))
    story.tell(opened(4, final=True))

    after = _texts(story, "f1", first)
    assert set(after) < set(before)
    assert GOOD.strip() in after
    (change,) = [each for each in story.briefing.changes if each.what == "f1"]
    assert (change.change, change.why) == (
        "decayed",
        "worth too little to the question for its age",
    )


def test_what_a_later_round_brought_stays_whole_while_the_older_decays() -> None:
    story = Told(asked(QUESTION, budget=SMALL), *round_of(found("a", MIXED, TRAVEL)))

    story.tell(*round_of(found("b", AS_POOR), round_=2), opened(3, final=True))

    assert GOOD.strip() in _texts(story, "f1", MIXED)
    assert [(drop.what, drop.rule) for drop in story.briefing.dropped] == [
        ("f2", "decay")
    ]
    assert ShownSource(fact_id="f3", sentences=(0, 1)) in story.briefing.sources


def test_a_small_budget_decays_more_even_where_all_would_fit() -> None:
    story = [
        *round_of(found("a", MIXED, replace(TRAVEL, score=0.6))),
        *round_of(found("b", AS_POOR), round_=2),
    ]

    whole, small = (
        Told(
            asked(QUESTION, budget=budget), *story, opened(3, final=True)
        ).briefing.tokens
        for budget in (6_000, SMALL)
    )

    assert small < whole < SMALL


def test_an_outline_does_not_decay() -> None:
    outline = Passage(
        id="o",
        source="Logs",
        text=passage(IDLE).text,
        starts=passage(IDLE).starts,
        course="Logs",
        kind="outline",
    )
    story = Told(asked(QUESTION), *round_of(found("a", passage(GOOD), outline)))

    story.tell(
        *round_of(found("b", passage(GOOD + "Again.", lesson=3)), round_=2),
        opened(3, final=True),
    )

    assert _texts(story, "f2", outline) == [
        IDLE.split(". ")[n].strip(". ") + "." for n in range(3)
    ]


WORDS = ["log", "queue", "topic", "horse", "rain", "orion", "meal"]
PASSAGES = st.lists(
    st.lists(
        st.lists(st.sampled_from(WORDS), min_size=3, max_size=8), min_size=1, max_size=5
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=80, deadline=None)
@given(rounds=st.lists(PASSAGES, min_size=1, max_size=3), budget=st.integers(60, 900))
def test_no_fact_of_an_open_part_is_dropped_while_one_of_a_closed_part_stays(
    rounds: list[list[list[list[str]]]], budget: int
) -> None:
    story = Told(
        asked("Compare the append log with the priority queue topic.", budget=budget)
    )
    for number, texts in enumerate(rounds, start=1):
        made = [
            passage(
                " ".join(" ".join(words).capitalize() + "." for words in text),
                lesson=10 * number + at,
            )
            for at, text in enumerate(texts)
        ]
        ids = f"a{number}"
        story.tell(
            replied(call(ids), round_=number), *requested(call(ids), round_=number)
        )
        story.tell(found(ids, *made), settled(ids, round_=number))
    story.tell(opened(9, final=True))

    memory = story.synthesizer.state.memory
    wanting = [
        part
        for part in memory.intent.parts
        if part.text in story.synthesized.open_parts
    ]
    of_open = {
        block.fact.id
        for block in memory.sources
        if any(part.terms & block.all_terms() for part in wanting)
    }
    dropped_whole = {
        d.what for d in story.briefing.dropped if d.rule != "repeated"
    } - set(story.briefing.facts)
    assert not (dropped_whole & of_open) or set(story.briefing.facts) <= of_open


@settings(max_examples=60, deadline=None)
@given(rounds=st.lists(PASSAGES, min_size=1, max_size=3), data=st.data())
def test_folding_is_true_to_order_and_idempotent(
    rounds: list[list[list[list[str]]]], data: st.DataObject
) -> None:
    steady, shaken = Told(asked(QUESTION)), Told(asked(QUESTION))
    for number, texts in enumerate(rounds, start=1):
        ids = [f"r{number}c{at}" for at in range(len(texts))]
        results = [
            found(
                id_,
                *(passage(" ".join(words), lesson=at) for at, words in enumerate(text)),
            )
            for id_, text in zip(ids, texts, strict=True)
        ]
        calls = [call(id_) for id_ in ids]
        over = settled(*ids, round_=number)
        steady.tell(
            replied(*calls, round_=number),
            *requested(*calls, round_=number),
            *results,
            over,
        )
        late = data.draw(st.permutations(results))
        shaken.tell(
            replied(*calls, round_=number),
            *requested(*calls, round_=number),
            *late,
            over,
            over,
        )

    steady.tell(opened(9, final=True))
    shaken.tell(opened(9, final=True), opened(9, final=True))

    assert shaken.briefing.messages == steady.briefing.messages
    assert shaken.briefing.changes == ()
    assert (
        shaken.synthesizer.state.memory.facts.known
        == steady.synthesizer.state.memory.facts.known
    )
