"""Searching without a question: passages in their order, and why they were found where that is asked for."""

from __future__ import annotations

import re

import pytest

from tests.unit.api.calling import Browser, app_of, new_app_of
from tests.unit.api.fakes import FakeService


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


async def test_what_the_schema_takes_for_no_words_is_what_is_refused_as_none() -> None:
    searched = new_app_of(FakeService()).openapi()["paths"]["/api/search"]["get"]
    [q] = [each for each in searched["parameters"] if each["name"] == "q"]
    blank = [chr(code) for code in range(0x3001) if chr(code).isspace()]

    taken = [each for each in blank if re.search(q["schema"]["pattern"], each)]

    assert taken == []
    assert re.search(q["schema"]["pattern"], "\x1c BM25")
