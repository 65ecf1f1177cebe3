"""Passages of one lesson that touch or overlap are one fact; nearly the same elsewhere is noted, not repeated."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from antiphon.language.sentences import sentence_starts
from antiphon.synthesizer.merging import FoundPassage, grouped, join
from antiphon.vocabulary.values import Passage, Place, StoredText
from tests.unit.synthesizer.stories import (
    Told,
    asked,
    found,
    notes,
    opened,
    passage,
    round_of,
    sources,
)

SENTENCES = [
    f"Sentence {n} of the lesson says what log {n} is for. " for n in range(30)
]
LESSON = "".join(SENTENCES)


def piece(first: int, end: int, *, lesson: int = 1) -> Passage:
    """The chunk of sentences `first` to `end` (exclusive), as the chunker cuts it."""
    text = "".join(SENTENCES[first:end]).rstrip()
    cut = passage(text, lesson=lesson)
    return msgspec.structs.replace(
        cut, start=len("".join(SENTENCES[:first])), id=f"{lesson}:{first}-{end}"
    )


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 29), st.integers(1, 6)), min_size=1, max_size=8)
)
def test_however_chunks_overlap_each_sentence_stands_exactly_once(
    cuts: list[tuple[int, int]],
) -> None:
    pieces = {
        p.id: p
        for first, length in cuts
        for p in [piece(first, min(30, first + length))]
    }

    groups = grouped(
        [FoundPassage(each, "a") for each in pieces.values()], (), merging=True
    )

    shown = [
        group.passage.sentence(n).strip()
        for group in groups
        for n in range(len(group.passage.starts))
    ]
    covered = {
        n for first, length in cuts for n in range(first, min(30, first + length))
    }
    assert sorted(shown) == sorted(SENTENCES[n].strip() for n in covered)
    assert all(
        group.passage.text.text.split() == _lesson(group.passage).split()
        for group in groups
    )


def _lesson(joined: Passage) -> str:
    start = joined.start or 0
    return LESSON[start : start + len(joined.text.text)]


def test_chunks_that_touch_are_one_fact_and_both_calls_have_it() -> None:
    story = Told(asked(), *round_of(found("a", piece(0, 3)), found("b", piece(3, 5))))

    (fact,) = story.synthesized.facts

    assert fact.passage.text.text == "".join(SENTENCES[:5]).rstrip()
    assert [
        tried.attempt.facts for tried in story.synthesizer.state.memory.usage.settled
    ] == [("f1",), ("f1",)]


def test_a_neighbour_found_later_makes_a_new_fact_that_has_the_old_one_in_it() -> None:
    story = Told(asked(), *round_of(found("a", piece(0, 3))))
    story.tell(
        opened(2),
        *round_of(found("b", piece(3, 5), piece(0, 3)), round_=2),
        opened(3, final=True),
    )

    (fact,) = story.synthesized.facts

    assert (fact.id, fact.merged, story.synthesized.repeated) == (
        "f2",
        ("f1",),
        ("f2",),
    )
    assert story.briefing.facts == ("f2",)
    assert ("f1", "merged", "stands in f2 now") in [
        (c.what, c.change, c.why) for c in story.briefing.changes
    ]


def test_in_a_fact_that_grew_each_sentence_keeps_the_round_in_which_it_was_found() -> (
    None
):
    story = Told(asked(), *round_of(found("a", piece(1, 3))))
    story.tell(
        *round_of(found("b", piece(2, 5)), round_=2),
        *round_of(found("c", piece(0, 2)), round_=3),
    )

    block = story.synthesizer.state.memory.sources[-1]

    assert block.fact.passage.text.text == "".join(SENTENCES[:5]).rstrip()
    assert [sentence.round for sentence in block.sentences] == [3, 1, 1, 2, 2]


def test_what_does_not_touch_or_is_not_of_the_same_lesson_stays_apart() -> None:
    assert join(piece(0, 3), piece(4, 5)) is None
    assert join(piece(0, 3), piece(3, 5, lesson=2)) is None
    assert join(passage("No place is known."), piece(0, 3)) is None


def test_an_overlap_in_which_two_texts_differ_is_not_joined() -> None:
    other = msgspec.structs.replace(
        piece(2, 5),
        text=StoredText("Something else stands here. And more. And yet more."),
    )

    assert (
        join(
            piece(0, 4),
            msgspec.structs.replace(other, starts=sentence_starts(other.text.text)),
        )
        is None
    )


def test_nearly_the_same_elsewhere_is_noted_and_not_repeated() -> None:
    text = "A log is only appended to, and every reader keeps its own place in it. Nothing written is ever changed."
    twin = passage(
        text.replace("ever changed", "ever altered"), course="Streams", lesson=4
    )
    story = Told(
        asked(), *round_of(found("a", passage(text)), found("b", twin)), opened(2)
    )

    first, second = story.synthesized.facts
    shown = sources(story.briefing)

    assert (first.like, second.like) == (None, "f1")
    assert [block["title"] for block in shown] == ["Logs - Lesson 1"]
    assert [(d.what, d.rule) for d in story.briefing.dropped] == [("f2", "repeated")]
    attempts = [
        json.loads(line)
        for line in notes(story.briefing).split("\n")
        if line.startswith("{")
    ]
    assert [attempt["facts"] for attempt in attempts] == [[1], [1]]
    assert (
        attempts[1]["detail"] == "Streams - Lesson 4 says nearly the same as result 1"
    )


def test_a_joined_passage_knows_where_each_of_its_parts_stands() -> None:
    first = replace(piece(0, 2), place="page 1")
    second = replace(piece(1, 4), place="page 1")
    third = replace(
        piece(4, 6), place="page 2", places=(Place(start=3, name="page 3"),)
    )

    joined = join(first, second)
    assert joined is not None
    whole = join(third, joined)

    assert whole is not None
    at = (third.start or 0) - (first.start or 0)
    assert (whole.place, whole.places) == (
        "page 1",
        (Place(start=at, name="page 2"), Place(start=at + 3, name="page 3")),
    )


@pytest.mark.parametrize(
    "lesson",
    [
        "Sizes:\n\n| Ship | Length |\n|---|---|\n| Ferry | 40 m |\n| Tug | 20 m |\n\nAll told.",
        "| Ship | Length |\n|---|---|\n| Tug | 20 m |\nAll are told.",
        "Do this:\n\n- Cast off.\n- Set the sails.\n1. Go.\n2) Come back.",
        "Run it:\n```bash\nls\n  cd ship\nmake\n```\nThen wait. It takes long.",
    ],
)
def test_lines_of_tables_lists_and_programs_stay_lines_where_passages_touch(
    lesson: str,
) -> None:
    # Between any two lines, as a chunk may end at each.
    for cut in [at for at, character in enumerate(lesson) if character == "\n"]:
        before, behind = lesson[:cut].rstrip(), lesson[cut:].lstrip("\n")
        start = len(lesson) - len(behind)
        one = replace(passage(before), start=0)
        other = replace(passage(behind), start=start, id="other")

        joined = join(one, other)

        assert joined is not None
        assert joined.text.text == lesson
