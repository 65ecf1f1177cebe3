"""What no rule places is understood by likeness to examples, where it is like one and of no course."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from antiphon.engine.offline.catalogue import Catalogue
from antiphon.engine.offline.intents import Inquiry, understand
from antiphon.language.words import words
from tests.unit.engine.briefings import (
    CATALOGUE,
    MODELS,
    RELIABILITY,
)


def shared_words(question: str, texts: Sequence[str]) -> Sequence[float]:
    """Stands in for an embedder: the share of words that two texts have in common."""
    asked = frozenset(words(question))
    shares: list[float] = []
    for text in texts:
        held = frozenset(words(text))
        shares.append(len(asked & held) / max(len(asked | held), 1))
    return shares


TELLING = Catalogue(CATALOGUE.courses, shared_words)


def read(question: str, catalogue: Catalogue = TELLING) -> Inquiry:
    return understand(question, (), catalogue)


def test_a_lesson_as_a_whole_is_asked_for_in_whatever_words() -> None:
    asked = f"I was away for lesson 2 of {RELIABILITY}. Fill me in."

    by_meaning, by_rule = read(asked), read(asked, CATALOGUE)

    assert (by_meaning.kind, by_meaning.lesson, by_meaning.topic) == ("lesson", 2, "")
    assert by_rule.topic != ""


def test_a_list_of_all_courses_is_asked_for_in_whatever_words() -> None:
    asked = "I would like to see the complete spectrum of courses, please."

    assert read(asked).kind == "outline"
    assert read(asked, CATALOGUE).kind != "outline"


@pytest.mark.parametrize(
    "question",
    [
        # Words of a trade are a topic, whatever the question is like.
        f"I was away for lesson 2 of {RELIABILITY}. Fill hystrix in.",
        # So are words of a title.
        f"I was away for lesson 2 of {MODELS}. Fill backpressure in.",
        # What is like a question that the catalogue does not answer is none for it.
        f"Which homework is set in lesson 2 of {RELIABILITY}?",
    ],
)
def test_a_topic_is_no_filler(question: str) -> None:
    assert read(question).topic != ""


def test_no_title_is_read_into_a_question_without_a_word_for_it() -> None:
    asked = read(f"Under which tree does lesson 2 of {RELIABILITY} appear?")

    assert asked.kind == "lesson"
    assert not asked.asks & {"title", "link"}


@pytest.mark.parametrize(
    ("message", "talk"),
    [
        ("How have you been, then?", "well"),
        ("That was exactly what I needed, really brilliant!", "thanks"),
        ("Very kind of you. What sort of questions do you answer here?", "abilities"),
    ],
)
def test_small_talk_is_known_in_whatever_words(message: str, talk: str) -> None:
    assert read(message).talk == talk
    assert read(message, CATALOGUE).talk is None


@pytest.mark.parametrize(
    "message",
    [
        "What kind of backpressure are you?",
        "My card has run out. What can I ask you?",
        "What kind of zookeeper is it?",
    ],
)
def test_what_holds_a_topic_is_no_small_talk(message: str) -> None:
    assert read(message).talk is None
