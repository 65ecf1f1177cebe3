"""What is shown of the passages that a search brought."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from antiphon.engine.offline.task import Source
from antiphon.engine.offline.windows import (
    MOST_CHARS,
    MOST_WINDOWS,
    PASSAGE_CHARS,
    Looked,
    look,
)
from antiphon.language.evidence import WORDS_ALONE, Likeness, Measures
from tests.fakes_likeness import all_alike

DUST = ("Scans are slow. ", "Dust is brushed off first. ", "Scratches stay.")
QUESTION = "When is dust brushed off?"
MEANINGS = Measures(likeness=all_alike(0.5))


def passage(*blocks: str, number: int = 0, title: str = "Scans") -> Source:
    return Source(number, f"Photos - Lesson {number}", title, blocks)


def liking(**cosines: float) -> Measures:
    """A likeness that each text has for a word that it holds."""

    def likeness(_: str, texts: Sequence[str]) -> Sequence[float]:
        found: list[float] = []
        for text in texts:
            found.append(
                max([c for word, c in cosines.items() if word in text] or [0.1])
            )
        return found

    like: Likeness = likeness
    return Measures(likeness=like)


def keys(looked: Looked) -> list[str]:
    return [window.source.blocks[window.key].strip() for window in looked.windows]


def test_the_first_window_is_of_the_first_passage_whatever_the_others_hold() -> None:
    sources = [passage("Ink fades. ", "It needs the dark."), passage(*DUST, number=1)]

    looked = look(QUESTION, sources, WORDS_ALONE)

    assert looked.windows[0].source is sources[0]
    assert keys(looked)[1] == "Dust is brushed off first."


def test_the_likest_sentence_is_the_key_and_what_is_around_it_is_shown() -> None:
    words_alone = look(QUESTION, [passage(*DUST)], WORDS_ALONE)
    by_meaning = look(QUESTION, [passage(*DUST)], liking(Scratches=0.8))

    assert keys(words_alone) == ["Dust is brushed off first."]
    assert keys(by_meaning) == ["Scratches stay."]
    assert by_meaning.windows[0].worth == 0.8
    assert words_alone.windows[0].text == "".join(DUST)


def test_a_further_passage_is_shown_only_where_it_comes_near_the_likest() -> None:
    sources = [
        passage("Dust is brushed off. "),
        passage("A brush is dusty. ", number=1),
        passage("Bread rests. ", number=2),
    ]

    near = look(QUESTION, sources, liking(Dust=0.9, brush=0.7, Bread=0.2))
    any_near = look(QUESTION, sources, liking(Dust=0.9, brush=0.2, Bread=0.2), near=0.0)
    one = look(QUESTION, sources, liking(Dust=0.9, brush=0.9), most=1)

    assert keys(near) == ["Dust is brushed off.", "A brush is dusty."]
    assert len(any_near.windows) == MOST_WINDOWS
    assert keys(one) == ["Dust is brushed off."]


def test_a_window_that_holds_more_of_the_question_comes_before_one_that_is_as_like() -> (
    None
):
    sources = [
        passage("Dust is there. "),
        passage("Dust is here. ", number=1),
        passage("Scratches are filled. ", number=2),
    ]

    looked = look("How are dust and scratches filled?", sources, MEANINGS)

    assert keys(looked) == ["Dust is there.", "Scratches are filled.", "Dust is here."]


def test_a_passage_of_several_that_were_joined_gives_several_windows() -> None:
    filler = [f"Number {at:02} is only said meanwhile. " for at in range(50)]
    assert PASSAGE_CHARS < len("".join(filler)) < 2 * PASSAGE_CHARS
    joined = passage("Dust is brushed off. ", *filler, "Brushed dust comes back. ")

    looked = look(QUESTION, [joined], liking(Dust=0.9, dust=0.8))

    assert keys(looked) == ["Dust is brushed off.", "Brushed dust comes back."]


def test_a_line_without_a_word_is_never_the_key() -> None:
    looked = look(QUESTION, [passage("```\n", "--- \n", "rm dust\n", "```")], MEANINGS)

    assert keys(looked) == ["rm dust"]


def test_what_a_question_writes_in_signs_is_found_as_it_is_written() -> None:
    shell = passage("The shell knows it. ", "Read $? for the exit. ", "It is a number.")
    question = "What does $? mean"

    assert keys(look(question, [shell], MEANINGS)) == ["Read $? for the exit."]
    assert keys(look(question, [shell], WORDS_ALONE)) == ["Read $? for the exit."]


def test_where_nothing_is_shared_the_beginning_of_the_first_passage_is_shown() -> None:
    looked = look("Quark?", [passage(*DUST)], WORDS_ALONE)

    assert (keys(looked), looked.windows[0].worth) == (["Scans are slow."], 0.0)
    assert look("Quark?", [], WORDS_ALONE).windows == []


BLOCKS = st.lists(st.text(alphabet="abc $?.\n`", min_size=1, max_size=300), min_size=1)


@given(
    question=st.text(alphabet="abc $?", min_size=1, max_size=40),
    passages=st.lists(BLOCKS, max_size=5),
    by_meaning=st.booleans(),
    near=st.sampled_from([0.0, 0.7]),
)
def test_windows_are_few_short_and_apart_whatever_the_passages_hold(
    question: str, passages: list[list[str]], by_meaning: bool, near: float
) -> None:
    sources = [passage(*blocks, number=at) for at, blocks in enumerate(passages)]
    measures = MEANINGS if by_meaning else WORDS_ALONE

    looked = look(question, sources, measures, near=near)

    assert len(looked.windows) <= MOST_WINDOWS
    assert bool(looked.windows) == bool(sources)
    if sources:
        assert looked.windows[0].source is sources[0]
    shown: set[tuple[int | None, int]] = set()
    for window in looked.windows:
        assert 0 <= window.first <= window.key < window.end
        assert window.end <= len(window.source.blocks)
        assert len(window.text) <= MOST_CHARS or window.end - window.first == 1
        sentences = {
            (window.source.number, at) for at in range(window.first, window.end)
        }
        assert shown.isdisjoint(sentences)
        shown |= sentences
