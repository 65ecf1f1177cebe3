"""What a question asks of the catalogue, read without the names in it."""

from __future__ import annotations

import pytest

from antiphon.language.asking import Ask, asked_of_catalogue, names_catalogue


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Who teaches it?", {"teacher"}),
        ("Who is in charge of the course?", {"teacher"}),
        ("Who gives the course, and how many lessons are there?", {"teacher", "lessons"}),
        ("Where can I watch it?", {"link"}),
        ("What are the links to all lessons?", {"links"}),
        ("How many courses are there?", {"courses"}),
        ("Which course has the most lessons?", {"courses"}),
        ("What are the lessons called?", {"contents"}),
        ("Give me the syllabus.", {"contents"}),
        ("What is the title of the last lesson?", {"title"}),
        ("How long does the course take?", {"duration"}),
        ("What is it about?", {"overview"}),
    ],
)  # fmt: skip
def test_a_question_in_words_of_a_catalogue_is_all_for_it(
    question: str, asks: set[Ask]
) -> None:
    asked = asked_of_catalogue(question)

    assert asked.asks == asks
    assert asked.is_pure


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("What does it say about dust?", ("dust",)),
        ("Who teaches the course on bees and honey?", ("bees", "honey")),
        ("How does a queue block?", ("queue", "block")),
    ],
)
def test_the_words_of_no_catalogue_are_the_topic(
    question: str, topic: tuple[str, ...]
) -> None:
    asked = asked_of_catalogue(question)

    assert (asked.topic, asked.is_pure) == (topic, False)


@pytest.mark.parametrize(
    ("question", "not_asked"),
    [
        ("What was that rule called?", "title"),
        ("How does the lecturer explain it?", "teacher"),
        ("How long is the time to live of a fact?", "duration"),
    ],
)
def test_what_is_merely_spoken_of_is_not_asked_for(
    question: str, not_asked: str
) -> None:
    assert not_asked not in asked_of_catalogue(question).asks


def test_who_made_it_asks_for_the_teacher_of_a_course_only() -> None:
    assert asked_of_catalogue("Who made it?", of_course=True).asks == {"teacher"}
    assert asked_of_catalogue("Who made it?").asks == frozenset()


def test_a_word_for_a_course_or_a_lesson_names_the_catalogue() -> None:
    assert names_catalogue("In which lesson is dust removed?")
    assert not names_catalogue("How is dust removed?")
