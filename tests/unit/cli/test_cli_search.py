"""`antiphon search` as people and programs see it; what it finds is tests/e2e/test_command_line.py's."""

from __future__ import annotations

import io

import pytest

from antiphon import service
from antiphon.cli import searching
from antiphon.cli.terminal import Screen
from antiphon.vocabulary.values import Passage, Signals, StoredText

FOUND = Passage(
    id="p1",
    source="Practical Search - Lesson 2",
    text=StoredText("BM25 ranks\x1b[31m by rare words.\nIt is old."),
    link="https://x.example/2",
    score=4.256,
    place="page 3",
    signals=Signals(meaning=2.5, words=1.75, matched=("BM25", "ranks")),
)


def shown(
    monkeypatch: pytest.MonkeyPatch, *, why: bool, to_people: bool, passage: Passage
) -> str:
    screen = Screen()
    screen.file = io.StringIO()
    screen._force_terminal = to_people
    monkeypatch.setattr(searching, "out", screen)
    result = service.SearchResult(
        query="bm25",
        course=None,
        lesson=None,
        passages=(service.FoundPassage.of(passage, why=why),),
    )

    searching._show(result, why=why)

    return screen.file.getvalue()


def test_programs_get_a_line_a_passage_with_tabs_between_whole_cells(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = shown(monkeypatch, why=True, to_people=False, passage=FOUND).splitlines()

    assert lines == [
        "Score\tSource\tPassage\tLink\tWhy",
        "4.26\tPractical Search - Lesson 2, page 3\tBM25 ranks by rare words. It is old.\t"
        "https://x.example/2\tmeaning 2.50, words 1.75: BM25, ranks",
    ]


def test_people_get_the_passage_under_its_source_and_nothing_in_it_steers_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = shown(monkeypatch, why=True, to_people=True, passage=FOUND)

    assert "Practical Search - Lesson 2, page 3" in text
    assert "meaning 2.50, words 1.75: BM25, ranks" in text
    assert "\x1b[31m" not in text


def test_a_search_that_tells_of_no_signals_is_said_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = Passage(id="p2", source="Notes", text=StoredText("Old."), score=1.0)

    text = shown(monkeypatch, why=True, to_people=False, passage=plain)

    assert text.splitlines()[1] == "1.00\tNotes\tOld.\t\tnot told"
