"""What is shown of the passages that a search brought."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from antiphon.engine.offline.task import Source
from antiphon.engine.offline.windows import (
    MOST_CHARS,
    MOST_WINDOWS,
    look,
)
from antiphon.language.evidence import WORDS_ALONE, Measures
from tests.fakes_likeness import all_alike

MEANINGS = Measures(likeness=all_alike(0.5))


def passage(*blocks: str, number: int = 0, title: str = "Scans") -> Source:
    return Source(number, f"Photos - Lesson {number}", title, blocks)


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
