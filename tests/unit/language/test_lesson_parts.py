"""Questions how a lesson begins or ends."""

from __future__ import annotations

import pytest

from antiphon.language.lesson_parts import AskedPart, asked_part


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("What does the next lesson begin with?", "the next lesson"),
        ("How does the lesson after the one on watches start?", "the lesson after the one on watches"),
        ("With which words does lesson 3 of the bread course open?", "lesson 3 of the bread course"),
        ("What are the first words of the lesson on scoring?", "the lesson on scoring"),
        ("What is the first thing said in lesson 2?", "lesson 2"),
        ("What does Rose say at the very beginning of the swarm lesson?", "the swarm lesson"),
        ("Please read me the opening sentences of lesson 4", "lesson 4"),
        ("And how does it begin?", "it"),
    ],
)  # fmt: skip
def test_the_beginning_of_a_lesson_is_asked_for(question: str, place: str) -> None:
    assert asked_part(question) == AskedPart("beginning", place)


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("What does the lesson before Shaping end with?", "the lesson before Shaping"),
        ("How does Idris close the lesson on scoring?", "the lesson on scoring"),
        ("What's said at the end of lesson 3 of the bees course?", "lesson 3 of the bees course"),
        ("What is the last sentence of the lesson about swarms?", "the lesson about swarms"),
        ("Tell me how the last lesson concludes", "the last lesson"),
    ],
)  # fmt: skip
def test_the_end_of_a_lesson_is_asked_for(question: str, place: str) -> None:
    assert asked_part(question) == AskedPart("end", place)


@pytest.mark.parametrize(
    "question",
    [
        "How does a swarm begin?",
        "When does lesson 3 start?",
        "How does the lesson on loops stop the agent?",
        "Which lesson does the course begin with?",
        "What does the first lesson say about the end of the season?",
        "What does lesson 5 begin with and who teaches it?",
        "How do the lessons end up in the index?",
    ],
)
def test_what_begins_or_ends_otherwise_is_no_part_of_a_lesson(question: str) -> None:
    assert asked_part(question) is None
