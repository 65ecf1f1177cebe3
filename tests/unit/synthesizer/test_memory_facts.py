"""Facts: what a round brought, numbered in order of discovery."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from antiphon.synthesizer.usage import coverage
from tests.unit.synthesizer.stories import (
    Told,
    asked,
    call,
    found,
    opened,
    passage,
    requested,
    round_of,
    settled,
)

APPEND = passage("A log is only appended to.")
OFFSET = passage("An offset names a place in a log.", lesson=2)
REPLAY = passage("A replay reads a log again.", lesson=3)


def test_facts_are_numbered_in_the_order_in_which_their_calls_were_requested() -> None:
    story = Told(asked(), *requested(call("a"), call("b")))

    story.tell(found("b", REPLAY), found("a", APPEND, OFFSET), settled("b", "a"))

    assert [(fact.id, fact.passage) for fact in story.synthesized.facts] == [
        ("f1", APPEND),
        ("f2", OFFSET),
        ("f3", REPLAY),
    ]


@given(
    finishing=st.permutations(["a", "b", "c", "d"]),
    settling=st.permutations(["a", "b", "c", "d"]),
)
def test_the_numbering_does_not_depend_on_the_order_of_completion(
    finishing: list[str], settling: list[str]
) -> None:
    brought = {
        "a": (APPEND, OFFSET),
        "b": (OFFSET, REPLAY),
        "c": (),
        "d": (APPEND, passage("A tail is read live.")),
    }
    story = Told(asked(), *requested(*(call(id_) for id_ in "abcd")))

    story.tell(*(found(id_, *brought[id_]) for id_ in finishing), settled(*settling))

    assert [fact.passage.text.text[:9] for fact in story.synthesized.facts] == [
        "A log is ",
        "An offset",
        "A replay ",
        "A tail is",
    ]
    assert story.synthesized.repeated == ("f2", "f1")


def test_a_passage_found_again_is_the_same_fact_and_is_said_to_be_repeated() -> None:
    story = Told(asked(), *round_of(found("a", APPEND, OFFSET)))

    story.tell(*round_of(found("b", OFFSET, REPLAY), round_=2))

    assert [
        (fact.id, fact.tool_call_id, fact.round) for fact in story.synthesized.facts
    ] == [("f3", "b", 2)]
    assert story.synthesized.repeated == ("f2",)


def test_facts_are_not_visible_before_their_round_settles() -> None:
    story = Told(asked(), *requested(call("a")), found("a", APPEND))

    story.tell(opened())

    assert story.published == [story.briefing]
    assert story.briefing.facts == ()


def test_an_outcome_that_comes_after_its_round_settled_is_kept_out() -> None:
    story = Told(
        asked(),
        *requested(call("a"), call("b")),
        found("a", APPEND),
        settled("a", failed=("b",)),
    )

    story.tell(found("b", OFFSET), *round_of(found("c", REPLAY), round_=2))

    assert [fact.passage for fact in story.synthesized.facts] == [REPLAY]


def test_results_of_calls_that_were_not_confirmed_bring_no_facts() -> None:
    story = Told(
        asked(),
        *requested(call("void"), call("a")),
        found("void", OFFSET),
        found("a", APPEND),
    )

    story.tell(settled("a"))

    assert [fact.passage for fact in story.synthesized.facts] == [APPEND]


def test_a_round_that_settles_twice_is_told_once() -> None:
    story = Told(asked(), *round_of(found("a", APPEND)))

    story.tell(settled("a"))

    assert len(story.published) == 1


def test_a_round_that_brought_nothing_is_told_too() -> None:
    story = Told(asked(), *round_of(found("a")))

    assert story.synthesized.facts == ()


def test_coverage_names_for_each_course_and_lesson_the_facts_found_there() -> None:
    story = Told(
        asked(),
        *round_of(found("a", APPEND, OFFSET), found("b", passage("More on logs."))),
    )

    assert coverage(story.synthesizer.state.memory.facts.known) == {
        ("Logs", 1): ("f1", "f3"),
        ("Logs", 2): ("f2",),
    }
