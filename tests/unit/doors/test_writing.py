"""An answer as it is sent to chat clients."""

from __future__ import annotations

import pytest

from antiphon.composition.outcome import Outcome
from antiphon.doors.writing import Written, without_marks, written
from antiphon.vocabulary.events import ResponseAssembled
from antiphon.vocabulary.values import Citation, Indicator, Usage

BASE = "https://a.example/antiphon/"
READ = f"{BASE}read?course=BM25+%28and+more%29&lesson=2&words="


def sent(answer: str, *spans: str, **of_citation: str | None) -> Written:
    """What is sent of an answer that cites these spans, each by its own words."""
    where = {"course": "BM25 (and more)"} | of_citation
    citations = [
        Citation(
            start=answer.index(span),
            end=answer.index(span) + len(span),
            cited_text=span,
            source="BM25 - Lesson 2",
            fact=f"f{number}",
            lesson=2,
            **where,
        )
        for number, span in enumerate(spans)
    ]
    response = ResponseAssembled(
        answer=answer,
        citations=tuple(citations),
        sources=("BM25 - Lesson 2",),
        source_links=(None,),
        indicators=(Indicator(kind="deadline", detail="Time\nran out.", event_seq=1),),
        confidence="high",
        rounds=1,
        calls=1,
        usage=Usage(),
        reasoner="offline",
    )
    outcome = Outcome(
        query_id="q",
        session_id="",
        response=response,
        status="answered",
        duration_ms=1.0,
    )
    return written(outcome, BASE)


NOTE = "\n\n> Note: Time ran out."


@pytest.mark.parametrize(
    ("answer", "spans", "expected"),
    [
        ("It ranks. Well.", ["It ranks."], f"It ranks. [[1]]({READ}It+ranks.) Well."),
        (
            "One. Two. One. ",
            ["One.", "Two."],
            f"One. [[1]]({READ}One.) Two. [[2]]({READ}Two.) One. ",
        ),
        (
            "```\nx = 1\n```\nThen",
            ["```\nx = 1\n```"],
            f"```\nx = 1\n```\n\n [[1]]({READ}%60%60%60%0Ax+%3D+1%0A%60%60%60)\nThen",
        ),
        (
            "See ![x](https://e.example/x.png)",
            [],
            r"See !\[x](https://e.example/x.png)",
        ),
        ("A \x1b[31mred\x1b[0m word", [], "A [31mred[0m word"),
    ],
)
def test_links_stand_behind_what_is_cited_and_nothing_else_is_loaded(
    answer: str, spans: list[str], expected: str
) -> None:
    _, text, links, citations, _ = sent(answer, *spans)

    assert text == expected + NOTE
    assert len(links) == len(spans)
    for number, link in enumerate(links, start=1):
        place = text[link["start_index"] : link["end_index"]]
        assert place == f"[[{number}]]({link['url']})"
    assert [each["claim"] for each in citations] == spans


def test_what_stands_in_no_course_links_to_where_it_comes_from_or_nowhere() -> None:
    somewhere = sent("A bill.", "A bill.", course=None, link="https://b.example/1")
    nowhere = sent("A bill.", "A bill.", course=None)

    assert somewhere.text == f"A bill. [[1]](https://b.example/1){NOTE}"
    assert nowhere.text == f"A bill.{NOTE}"
    assert list(nowhere.links) == []
    assert [each["url"] for each in nowhere.citations] == [None]


def test_an_answer_that_comes_back_is_what_it_was() -> None:
    answer = "One. Two [1](x) [[see]](y). One."

    assert without_marks(sent(answer, "One.", "Two").text) == answer
