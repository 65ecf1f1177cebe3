"""Intent: the parts of a question, and which of them nothing serves yet."""

from __future__ import annotations

import time

import pytest

from antiphon.language.questions import parts_of
from antiphon.vocabulary.events import RULES
from tests.unit.synthesizer.stories import (
    Told,
    asked,
    call,
    found,
    passage,
    replied,
    requested,
    round_of,
    settled,
)

COURSES = ("Event-Driven Systems", "Practical Information Retrieval")


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "Compare delivery guarantees with ordering guarantees.",
            ["delivery guarantees", "ordering guarantees"],
        ),
        ("What is the difference between BM25 and TF-IDF?", ["BM25", "TF-IDF"]),
        ("How does a queue differ from a log?", ["a queue", "a log"]),
        ("Kafka vs. a plain queue", ["Kafka", "a plain queue"]),
        (
            "What does lesson 5 of Practical Information Retrieval say?",
            ["Practical Information Retrieval", "Lesson 5"],
        ),
        ("Compare lesson 1 and lesson 2.", ["Lesson 1", "Lesson 2"]),
        (
            "What is covered in lessons 2, 3 and 7?",
            ["Lesson 2", "Lesson 3", "Lesson 7"],
        ),
        ("What is an inverted index?", ["What is an inverted index?"]),
        ("Why?", []),
        ("Compare BM25 with vectors: which fails where?", ["BM25", "vectors"]),
    ],
)
def test_a_question_is_taken_apart_into_what_it_compares_and_names(
    question: str, parts: list[str]
) -> None:
    assert [part.text for part in parts_of(question, COURSES)] == parts


def test_a_part_is_open_until_a_fact_holds_its_terms() -> None:
    story = Told(asked("What is the difference between BM25 and cosine similarity?"))

    story.tell(*round_of(found("a", passage("BM25 weighs terms by their rarity."))))
    first = story.synthesized.open_parts
    story.tell(
        *round_of(
            found("b", passage("Cosine measures the similarity of two vectors.")),
            round_=2,
        )
    )

    assert first == ("cosine similarity",)
    assert story.synthesized.open_parts == ()


def test_a_course_and_a_lesson_are_served_by_passages_from_them_whatever_their_words() -> (
    None
):
    story = Told(
        asked(
            "What does lesson 4 of Logs at Work teach?",
            courses="Logs at Work\nOther Things",
        )
    )

    story.tell(
        *round_of(
            found(
                "a", passage("Segments are compacted.", lesson=3, course="Logs at Work")
            )
        )
    )
    first = story.synthesized.open_parts
    story.tell(
        *round_of(
            found(
                "b", passage("Offsets are committed.", lesson=4, course="Logs at Work")
            ),
            round_=2,
        )
    )

    assert first == ("Lesson 4",)
    assert story.synthesized.open_parts == ()


def test_a_side_named_with_its_course_is_served_without_the_words_of_the_title() -> (
    None
):
    question = "What is the difference between offsets in Logs at Work and ranks in Finding Things?"
    story = Told(asked(question, courses="Logs at Work\nFinding Things"))

    story.tell(
        *round_of(found("a", passage("Offsets are numbers.", course="Logs at Work")))
    )

    assert story.synthesized.open_parts == ("ranks in Finding Things", "Finding Things")


def test_a_question_without_parts_is_served_by_a_fact_that_shares_its_words() -> None:
    story = Told(asked("What is an inverted index?"))

    story.tell(*round_of(found("a", passage("Sourdough needs patience."))))

    assert story.synthesized.open_parts == ("What is an inverted index?",)


@pytest.mark.parametrize(
    ("rules", "sought"),
    [(RULES, {"ledger", "journal", "commit", "5"}), (1, {"ledger"})],
)
def test_the_texts_of_a_list_count_among_the_terms_that_a_call_looked_for_save_in_an_old_trace(
    rules: int, sought: set[str]
) -> None:
    arguments = '{"query": "ledger", "queries": ["journal", "commit 5", 7, null, {}]}'
    story = Told(asked(rules=rules), replied(call("a", arguments)))

    story.tell(*requested(call("a", arguments)), found("a"), settled("a"))

    (aim,) = story.synthesizer.state.memory.intent.sought
    assert aim.terms == sought


@pytest.mark.parametrize(
    "hostile",
    ["compare " * 40_000, "lesson 1, " * 40_000, "a vs " * 40_000, "x" * 200_000],
)
def test_taking_a_huge_question_apart_takes_no_time(hostile: str) -> None:
    start = time.process_time()

    parts = parts_of(hostile, COURSES)

    assert time.process_time() - start < 0.5
    assert len(parts) <= 12
