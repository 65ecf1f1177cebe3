"""Questions that go on, point back, or hold several; lessons by place; other languages; courtesies."""

from __future__ import annotations

import pytest

from antiphon.language.lesson_places import (
    lesson_place,
    lesson_places,
    spelled_out,
)
from antiphon.language.lesson_position import LessonPlace
from antiphon.language.question_borders import questions_in
from antiphon.language.questions import points_back, refers_back
from antiphon.language.small_talk import without_courtesies
from antiphon.language.tongues import tongue_of, wordings


@pytest.mark.parametrize(
    "question",
    [
        "And the retrieval one?",
        "Who teaches it?",
        "Does it cover retries?",
        "Who teaches that course?",
        "What about embeddings?",
        "Why is that so?",
    ],
)
def test_what_leans_on_the_question_before_refers_back(question: str) -> None:
    assert refers_back(question)


@pytest.mark.parametrize(
    "question",
    [
        "Why do retries need jitter?",
        "What is there to know about sagas?",
        "What is the pattern that undoes steps?",
        "Why does a queue block when it is full?",
        "Is there a lesson on sagas?",
        "What is a saga?",
        # Words that only begin like one that points back.
        "HEAD is what?",
        "history of heaps",
    ],
)
def test_a_short_question_of_its_own_does_not(question: str) -> None:
    assert not refers_back(question)
    assert not points_back(question)


@pytest.mark.parametrize(
    ("message", "questions"),
    [
        ("What is a saga? Who teaches it?", 2),
        ("What is a saga? Who teaches the retrieval course?", 2),
        ("What is jitter and how does a breaker work?", 2),
        ("Who came up with sagas, and when?", 1),
        ("When a queue is full, the sender waits. Who came up with that?", 1),
        ("Where was Git made. Who teaches sagas?", 2),
        ("Which law was it, and when was it proved?", 1),
        ("Compare a queue with a log. What is the difference?", 1),
        ("When was the singer born who is known for her voice and who sang it?", 1),
        ("Which film was produced by D.P. Varma and had music by a director?", 1),
        ("What is tea? What is milk? What is rum? What is ale? What is gin?", 3),
    ],
)
def test_only_questions_of_their_own_are_taken_apart(
    message: str, questions: int
) -> None:
    assert len(questions_in(message)) == questions


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("lesson 4", LessonPlace(number=4)),
        ("Lesson-7", LessonPlace(number=7)),
        ("lesson twelve", LessonPlace(number=12)),
        ("the last lesson", LessonPlace(position=-1)),
        ("the 3rd lesson", LessonPlace(position=3)),
        ("the second to last lesson", LessonPlace(position=-2)),
        ("the lesson before lesson 2", LessonPlace(number=2, step=-1)),
        ("Which lesson comes next after lesson 2?", LessonPlace(number=2, step=1)),
        ("How many lessons, and what is the first one?", LessonPlace(position=1)),
        ("With which lesson does Ann's course close?", LessonPlace(position=-1)),
        ("Which lesson does the tea course start with?", LessonPlace(position=1)),
        ("the lesson directly following the one on tea", LessonPlace(step=1)),
        ("the lesson that is before of the lesson on tea", LessonPlace(step=-1)),
        ("Which lesson ends a transaction with a commit?", None),
        ("Is the second one faster?", None),
        ("What is a queue?", None),
    ],
)
def test_a_lesson_is_read_by_number_place_or_neighbour(
    question: str, place: LessonPlace | None
) -> None:
    assert lesson_place(question) == place


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("the first and last lesson", (1, -1)),
        ("the first, the second and the last lesson", (1, 2, -1)),
        ("the first two lessons", (1, 2)),
        ("the last 3 lessons", (-3, -2, -1)),
    ],
)
def test_several_lessons_are_read_by_place(
    question: str, places: tuple[int, ...]
) -> None:
    assert [place.position for place in lesson_places(question)] == list(places)


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("lessons 2 to 4", (2, 3, 4)),
        ("lessons 2-4", (2, 3, 4)),
        ("from lesson 2 to lesson 4", (2, 3, 4)),
        ("lessons 1 and 3", (1, 3)),
        ("How does lesson 2 compare to lesson 4?", (2, 4)),
    ],
)
def test_several_lessons_are_read_by_number(
    question: str, numbers: tuple[int, ...]
) -> None:
    assert [place.number for place in lesson_places(question)] == list(numbers)


def test_a_range_of_lessons_is_bounded() -> None:
    assert len(lesson_places("lessons 1 to 9999")) == 10


def test_after_lessons_the_last_is_one() -> None:
    assert lesson_place("and the last?") is None
    assert lesson_place("and the last?", after_lessons=True) == LessonPlace(position=-1)


@pytest.mark.parametrize(
    ("question", "spelled"),
    [
        ("title of L3 in the course", "title of lesson 3 in the course"),
        ("what is an L2 cache", "what is an L2 cache"),
    ],
)
def test_a_short_lesson_number_is_spelled_out(question: str, spelled: str) -> None:
    assert spelled_out(question) == spelled


@pytest.mark.parametrize(
    ("place", "number"),
    [
        (LessonPlace(position=1), 0),
        (LessonPlace(position=-1), 5),
        (LessonPlace(number=2, step=1), 5),
        (LessonPlace(number=5, step=1), None),
        (LessonPlace(number=3), None),
        (LessonPlace(position=9), None),
    ],
)
def test_a_place_is_a_number_among_those_that_there_are(
    place: LessonPlace, number: int | None
) -> None:
    assert place.among((0, 2, 5)) == number


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Was ist ein Circuit Breaker?", "Englisch"),
        ("Qu'est-ce que le prompt caching ?", "anglais"),
        ("\u00bfQu\u00e9 es un cortacircuitos?", "ingl\u00e9s"),
        ("O que \u00e9 um circuit breaker?", "ingl\u00eas"),
        ("Wat is een circuit breaker?", "Engels"),
        ("\u4ec0\u4e48\u662f\u65ad\u8def\u5668\uff1f", "\u82f1\u6587"),
        ("What is a de facto standard?", None),
        ("Which values does Lucene ship with?", None),
        ("Was Kafka first?", None),
    ],
)
def test_a_language_is_known_by_its_words(question: str, language: str | None) -> None:
    note = tongue_of(question).note

    if language is None:
        assert note == ""
    else:
        assert language in note


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("hey, what is a saga?", "what is a saga?"),
        ("Good morning! What is a saga, please?", "What is a saga?"),
        ("What is a saga? Thanks in advance!", "What is a saga?"),
        ("Well-known patterns", "Well-known patterns"),
        ("thanks", "thanks"),
    ],
)
def test_courtesies_are_no_part_of_a_question(said: str, asked: str) -> None:
    assert without_courtesies(said) == asked


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Was ist ein Voxel?", "What is voxel?"),
        ("\u00bfQu\u00e9 es un voxel?", "What is voxel?"),
        ("What is a voxel?", "What is a voxel?"),
        (
            "Warum ist eine Abfrage in der Datenbank langsam?",
            "Warum ist eine Abfrage in der Datenbank langsam?",
        ),
    ],
)
def test_a_short_question_in_another_language_is_asked_by_its_name(
    question: str, asked: str
) -> None:
    assert wordings(question) == (asked,)
