"""What the offline reasoner says where the courses may not answer."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.engine.offline.answering import (
    ALL_FAILED,
    IRRELEVANT,
    NO_CALL,
    NO_MATCH,
    answer,
)
from antiphon.engine.offline.reading import read_task
from antiphon.engine.offline.remarks import CLOSEST
from antiphon.language.evidence import Measures
from antiphon.language.words import stem
from antiphon.vocabulary.events import CLOSEST_FOUND, LOOSE_FIT, PART_MISSING
from tests.fakes_likeness import all_alike
from tests.unit.engine.answered import (
    CACHES,
    QUEUES,
    answered,
    text,
)
from tests.unit.engine.briefings import attempt, briefing, source

UNKNOWN = "No course named 'Basket Weaving'. The nearest are: Reliability Engineering for Services."


def test_what_is_only_near_is_said_to_be_the_closest_that_was_found() -> None:
    question = "Does a queue of Kafka partition its consumers?"
    measures = Measures(likeness=all_alike(0.35))

    draft = answer(read_task(briefing(question, QUEUES)), measures)

    assert text(draft.blocks).startswith(f"{CLOSEST}\n\nLesson 6, t: ")
    assert draft.stop_reason == CLOSEST_FOUND


def test_a_comparison_in_doubt_says_so_before_it_quotes_anything() -> None:
    question = "Compare messages of Kafka with queues of RabbitMQ."
    measures = Measures(likeness=all_alike(0.33))
    searched = (attempt(query="messages"), attempt(query="queues"))

    request = briefing(question, QUEUES, attempts=searched)
    draft = answer(read_task(request), measures)

    assert draft.stop_reason == CLOSEST_FOUND
    assert text(draft.blocks).startswith(f"{CLOSEST}\n\nOn ")


def test_weak_evidence_is_said_to_be_not_in_these_courses() -> None:
    blocks = answered("How does Raft elect a leader?", CACHES, QUEUES)

    assert blocks == [{"type": "text", "text": IRRELEVANT}]
    assert "not in these courses" in IRRELEVANT


@pytest.mark.parametrize(
    ("attempts", "sentence"),
    [
        ((), NO_CALL),
        ((attempt(outcome="nothing"),), NO_MATCH),
        ((attempt(outcome="failed"),), ALL_FAILED),
        ((attempt(outcome="failed", detail=UNKNOWN),), UNKNOWN),
    ],
)
def test_an_answer_without_facts_says_why(
    attempts: tuple[Any, ...], sentence: str
) -> None:
    assert answered("What is a saga?", attempts=attempts) == [
        {"type": "text", "text": sentence}
    ]


@pytest.mark.parametrize(
    ("name", "stop_reason"),
    [("GPT-2", LOOSE_FIT), ("GPT-4", CLOSEST_FOUND), ("GPT2", LOOSE_FIT)],
)
def test_another_version_of_a_thing_is_another_thing(
    name: str, stop_reason: str
) -> None:
    models = source("C - Lesson 1", "The vocabulary of GPT-2 has 50,257 entries. ")
    question = f"How many entries has the vocabulary of {name}?"

    draft = answer(read_task(briefing(question, models)))

    assert draft.stop_reason == stop_reason


def test_another_source_that_names_the_version_does_not_make_it_answer() -> None:
    models = source("C - Lesson 1", "The vocabulary of GPT-2 has 50,257 entries. ")
    judges = source("C - Lesson 7", "GPT-4 judges as people do. ")
    question = "How many entries has the vocabulary of GPT-4?"

    draft = answer(read_task(briefing(question, models, judges)))

    assert draft.stop_reason == CLOSEST_FOUND


@pytest.mark.parametrize(
    ("question", "stop_reason"),
    [
        ("What is the default frobnicator of a queue?", CLOSEST_FOUND),
        ("What is the default length of a queue?", LOOSE_FIT),
        ("¿Cuál es la longitud por defecto de la cola?", LOOSE_FIT),
    ],
)
def test_what_the_courses_have_no_word_for_is_not_answered_by_what_is_like_it(
    question: str, stop_reason: str
) -> None:
    known = {"default", "length", "queue"}
    measures = Measures(
        weigh=lambda term: 2.0 if stem(term) in map(stem, known) else 6.0,
        likeness=all_alike(0.7),
    )
    queues = source("C - Lesson 1", "A queue has a default. ")

    draft = answer(read_task(briefing(question, queues)), measures)

    assert draft.stop_reason == stop_reason


@pytest.mark.parametrize(
    ("side", "stop_reason"), [("monad", CLOSEST_FOUND), ("kernel", PART_MISSING)]
)
def test_what_is_compared_with_a_thing_of_no_course_is_only_the_closest(
    side: str, stop_reason: str
) -> None:
    known = {"queue", "kernel"}
    measures = Measures(
        weigh=lambda term: 2.0 if stem(term) in map(stem, known) else 6.0,
        likeness=lambda asked, texts: all_alike(0.7 * ("queue" in asked))(asked, texts),
    )
    queues = source("C - Lesson 1", "A queue is a line of things that wait. ")

    task = read_task(briefing(f"Compare a queue with a {side}.", queues))

    assert answer(task, measures).stop_reason == stop_reason


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("什么是断路器", "这些课程中没有答案"),
        ("Wer war der erste Mensch auf dem Mond?", "Die Antwort steht nicht in diesen"),
        ("Who was the first man on the moon?", IRRELEVANT),
    ],
)
def test_that_nothing_answers_is_said_in_the_language_of_the_question(
    question: str, said: str
) -> None:
    measures = Measures(likeness=all_alike(0.05))

    draft = answer(read_task(briefing(question, QUEUES)), measures)

    assert text(draft.blocks).startswith(said)


@pytest.mark.parametrize(("likeness", "is_shown"), [(0.26, True), (0.06, False)])
def test_what_is_near_to_a_question_in_another_language_is_shown_as_the_closest(
    likeness: float, is_shown: bool
) -> None:
    question = "¿Por qué crear una rama en Git es instantáneo?"
    measures = Measures(likeness=all_alike(likeness))

    draft = answer(read_task(briefing(question, QUEUES)), measures)

    shown = text(draft.blocks)
    assert ("Quiz\u00e1 no lo respondan." in shown) == is_shown
    assert CLOSEST not in shown
