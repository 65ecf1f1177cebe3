"""Searching without a question: passages in their order, and why they were found where that is asked for."""

from __future__ import annotations

import re

import pytest

from antiphon.vocabulary.errors import (
    BadInputError,
    KnowledgeError,
    NotFoundError,
    ServiceError,
)
from antiphon.vocabulary.values import Passage, Signals, StoredText
from tests.unit.api.calling import Browser, app_of, new_app_of
from tests.unit.api.fakes import FakeService, refusing

PASSAGES = (
    Passage(
        id="p1",
        source="Practical Search - Lesson 2",
        text=StoredText("BM25 ranks by rare words."),
        course="Practical Search",
        lesson=2,
        title="BM25",
        link="https://x.example/2",
        score=4.25,
        place="page 3",
        signals=Signals(meaning=2.5, words=1.75, matched=("BM25", "ranks")),
    ),
    Passage(id="p2", source="Notes", text=StoredText("Nothing else."), score=0.5),
)


def holding(*passages: Passage) -> FakeService:
    service = FakeService()
    service.passages = passages
    return service


async def test_passages_come_with_where_they_stand_and_without_their_signals() -> None:
    service = holding(*PASSAGES)

    reply = await Browser(app_of(service)).get(
        "/api/search?q=how+BM25+ranks&course=practical&lesson=2&limit=7"
    )

    assert service.searched == [("how BM25 ranks", "practical", "2", 7)]
    body = reply.json()
    assert {key: body[key] for key in ("query", "course", "lesson")} == {
        "query": "how BM25 ranks",
        "course": "Practical Search",
        "lesson": 2,
    }
    assert body["passages"][0] == {
        "id": "p1",
        "source": "Practical Search - Lesson 2",
        "course": "Practical Search",
        "lesson": 2,
        "title": "BM25",
        "place": "page 3",
        "link": "https://x.example/2",
        "score": 4.25,
        "start": None,
        "text": "BM25 ranks by rare words.",
        "signals": None,
    }
    assert [passage["id"] for passage in body["passages"]] == ["p1", "p2"]


async def test_with_why_each_passage_says_why_it_was_found_where_that_is_known() -> (
    None
):
    reply = await Browser(app_of(holding(*PASSAGES))).get("/api/search?q=x&why=true")

    assert [passage["signals"] for passage in reply.json()["passages"]] == [
        {"meaning": 2.5, "words": 1.75, "matched": ["BM25", "ranks"]},
        None,
    ]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("", "`q` is missing"),
        ("?q=x&limit=0", "`limit` must be at least 1"),
        ("?q=x&limit=51", "`limit` must be at most 50"),
        ("?q=x&corse=y", "did you mean `course`"),
        ("?q=x&why=perhaps", "`why` must be true or false"),
        (f"?q={'x' * 2001}", "2000 characters at most"),
    ],
)
async def test_what_cannot_be_used_is_named(asked: str, words: str) -> None:
    reply = await Browser(app_of(FakeService())).get(f"/api/search{asked}")

    assert (reply.status, words in reply.error["message"]) == (422, True)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NotFoundError("No course named 'x'."), 404),
        (BadInputError("The query is empty."), 422),
        (KnowledgeError("Nothing is indexed yet."), 503),
    ],
)
async def test_refusals_have_the_statuses_of_every_route(
    error: ServiceError, status: int
) -> None:
    reply = await Browser(app_of(refusing(error))).get("/api/search?q=x")

    assert (reply.status, reply.error["message"]) == (status, str(error))


async def test_a_stretch_of_a_lessons_text_is_read() -> None:
    browser = Browser(app_of(FakeService()))

    reply = await browser.get(
        "/api/text?course=Practical+Search&lesson=2&start=14&length=40"
    )

    told = reply.json()
    assert (told["text"], told["start"], told["file"]) == (
        "It ranks.",
        14,
        "search.txt",
    )


async def test_the_text_of_a_lesson_that_is_not_there_is_not_found() -> None:
    reply = await Browser(app_of(FakeService())).get(
        "/api/text?course=Nothing&start=0&length=9"
    )

    assert (reply.status, reply.error["code"]) == (404, "not_found")


async def test_what_the_schema_takes_for_no_words_is_what_is_refused_as_none() -> None:
    searched = new_app_of(FakeService()).openapi()["paths"]["/api/search"]["get"]
    [q] = [each for each in searched["parameters"] if each["name"] == "q"]
    blank = [chr(code) for code in range(0x3001) if chr(code).isspace()]

    taken = [each for each in blank if re.search(q["schema"]["pattern"], each)]

    assert taken == []
    assert re.search(q["schema"]["pattern"], "\x1c BM25")


async def test_formulas_of_a_text_are_found_by_what_is_written_for_them() -> None:
    body = {"text": "So $x$ costs $5, `$y$`, $\\foo$ and\n\n$$\nz\n$$\n"}

    reply = await Browser(app_of(FakeService())).post("/api/formulas", body)
    too_long = await Browser(app_of(FakeService())).post(
        "/api/formulas", {"text": "x" * 20_001}
    )

    assert reply.json() == {
        "formulas": {
            "$x$": "<math><mi>x</mi></math>",
            "$$\nz\n$$": '<math display="block"><mi>z</mi></math>',
        }
    }
    assert too_long.status == 422
