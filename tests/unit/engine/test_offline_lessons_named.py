"""How the offline reasoner reads which lesson a question means."""

from __future__ import annotations

import pytest

from antiphon.engine.offline.catalogue import Catalogue
from antiphon.engine.offline.catalogue_answers import of_found
from antiphon.engine.offline.intents import Inquiry, understand
from antiphon.engine.offline.mentions import mentions_in, without_places
from antiphon.engine.offline.reading import read_task
from tests.unit.engine import trades
from tests.unit.engine.briefings import (
    CATALOGUE,
    EVENTS,
    RELIABILITY,
    RETRIEVAL,
    attempt,
    briefing,
    course,
    source,
)


def read(question: str, *earlier: str, answered: str = "") -> Inquiry:
    return understand(question, earlier, CATALOGUE, answered)


def test_a_text_of_one_lesson_is_a_document_and_its_title_a_subject() -> None:
    catalogue = Catalogue((course("New York City", "Nobody", "New York City"),))

    question = "Who was the mayor of New York City in 1999?"

    assert understand(question, (), catalogue).course is None
    assert without_places(question, mentions_in(question, catalogue).all) == question


@pytest.mark.parametrize(
    ("question", "step", "lesson"),
    [
        ("Which lesson comes after lesson 1 of the reliability course?", 1, 1),
        ("What is the next lesson after Circuit Breakers?", 1, 2),
        ("What lesson precedes lesson 3 of the reliability course?", -1, 3),
        ("Title of the lesson that comes after the one about circuit breakers?", 1, 2),
        (
            "What is the lesson called that is directly following the one on circuit-breakers?",
            1,
            2,
        ),
    ],
)
def test_a_lesson_may_be_named_by_its_neighbour(
    question: str, step: int, lesson: int
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)
    assert (inquiry.step, inquiry.lesson) == (step, lesson)


@pytest.mark.parametrize(
    "question",
    [
        "What is covered in the lesson after lesson 1 of the reliability course?",
        "In the lesson after lesson 1 of the reliability course, what is half-open?",
        "lesson after the timeouts and deadlines one, name of that cautious state where three probes get through",
        "What does the second lesson of the reliability course teach?",
        "reliability course, lesson after timeouts and deadlines - what are the probes called",
    ],
)
def test_what_a_lesson_says_that_is_named_by_its_neighbour(question: str) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course) == ("lesson", RELIABILITY)
    assert (inquiry.lesson, inquiry.step) == (2, 0)


def test_a_lesson_of_no_course_in_particular_is_named_for_each_that_has_it() -> None:
    inquiry = read("What does lesson 3 cover?")

    assert inquiry.kind == "outline"
    assert set(inquiry.courses) == {EVENTS, RETRIEVAL, RELIABILITY}


@pytest.mark.parametrize(
    ("question", "lessons"),
    [
        ("What are the titles of lessons 1 to 3 of the reliability course?", (1, 2, 3)),
        ("The links of lessons 1 and 2 of the reliability course", (1, 2)),
        ("The titles of the last two lessons of the reliability course", (2, 3)),
    ],
)
def test_several_lessons_are_asked_of_the_catalogue_at_once(
    question: str, lessons: tuple[int, ...]
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)
    assert inquiry.lessons == lessons


def test_what_several_lessons_say_is_asked_of_each() -> None:
    inquiry = read("Summarize the first and the last lesson of the reliability course")

    assert inquiry.kind == "several"
    parts = [(part.kind, part.course, part.lesson) for part in inquiry.parts]
    assert parts == [("lesson", RELIABILITY, 1), ("lesson", RELIABILITY, 3)]


def test_a_lesson_named_by_its_title_needs_no_word_for_it_before_what_comes_next() -> (
    None
):
    inquiry = read("What comes before Circuit Breakers?")
    topic = read("What comes before Circuit Breakers open in a busy service?")

    assert (inquiry.kind, inquiry.lesson, inquiry.step) == ("outline", 2, -1)
    assert topic.kind == "plain"


def test_what_lessons_do_is_no_name_of_a_course() -> None:
    assert read("Which lessons mention caching?").kind == "across"


def test_lessons_are_counted_by_place_where_they_begin_with_zero() -> None:
    assert read("Summarize the first lesson of the event-driven course").lesson == 0
    assert read("Summarize the last lesson of the event-driven course").lesson == 3


def test_a_lesson_that_the_course_does_not_have_is_noted() -> None:
    inquiry = read("What is taught in lesson 12 of the reliability course?")

    assert (inquiry.kind, inquiry.missing_lesson) == ("outline", 12)


@pytest.mark.parametrize(
    ("question", "lesson"),
    [
        ("What does the lesson after Tokens and the Context Window say about prefixes?", 2),
        ("What does the lesson before Prompt Caching say about tokens?", 1),
        ("What does the last lesson of the event-driven course say about credit?", 3),
        ("What does the lesson before last of the event-driven course say about steps?", 2),
        ("What does the last lesson but one of the event-driven course say about steps?", 2),
    ],
)  # fmt: skip
def test_a_lesson_named_by_its_neighbour_or_its_end_is_searched(
    question: str, lesson: int
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.lesson) == ("lesson", lesson)


def test_the_first_lesson_of_no_course_is_that_of_each_and_so_is_its_teacher() -> None:
    inquiry = read("What does the first lesson cover and who teaches it?")

    assert inquiry.kind == "outline"
    assert inquiry.asks == {"overview", "teacher"}
    assert len(inquiry.courses) == len(CATALOGUE.courses)
    assert inquiry.place is not None
    assert inquiry.place.position == 1


@pytest.mark.parametrize(
    ("question", "lesson", "step"),
    [
        ("Which lesson stands immediately before Ranking with BM25?", 2, -1),
        ("What do I watch right before the one about ranking with BM25?", 2, -1),
        ("What is the lesson called that comes straight after the one on the inverted index?", 1, 1),
        ("What's number 3 in Practical Information Retrieval called?", 3, 0),
        ("What is chapter 2 of Practical Information Retrieval called?", 2, 0),
        ("Which is the second session of Practical Information Retrieval?", 2, 0),
        ("Which lesson comes third in Practical Information Retrieval?", 3, 0),
    ],
)  # fmt: skip
def test_a_lesson_is_named_by_its_place_in_many_words(
    question: str, lesson: int, step: int
) -> None:
    inquiry = read(question)

    assert (inquiry.course, inquiry.lesson, inquiry.step) == (RETRIEVAL, lesson, step)


@pytest.mark.parametrize(
    "question",
    [
        "I slept through the one on circuit breakers. What is it about?",
        "Can you sum up the lesson of the circuit breakers?",
        "tldr reliability engineering for services lesson 2",
        "Summarize Tom\u00e1s Ferreira's lesson 2",
    ],
)
def test_a_lesson_as_a_whole_may_be_the_object_of_a_sentence(question: str) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course, inquiry.lesson) == ("lesson", RELIABILITY, 2)


def test_a_lesson_is_known_by_its_title_in_the_words_of_another_language() -> None:
    inquiry = read(
        "En el curso de Tom\u00e1s Ferreira, en la lecci\u00f3n que viene antes de los circuitos breakers, "
        "\u00bfqu\u00e9 dos herramientas tiene el asistente?"
    )

    assert (inquiry.kind, inquiry.course) == ("lesson", RELIABILITY)
    assert (inquiry.lesson, inquiry.step) == (1, 0)


def test_of_the_neighbour_of_a_lesson_that_is_not_known_the_texts_are_asked() -> None:
    inquiry = read(
        "In the reliability course, in the lesson after the one with the frozen penguins, "
        "which two polar explorers, ships and huts are compared?"
    )

    assert inquiry.kind != "outline"
    assert inquiry.course == RELIABILITY


@pytest.mark.parametrize(
    "question",
    [
        "I have long lecture tokens and cannot cut them. Which lesson should I go back to?",
        "My senders are too fast and I want them to slow down. In which lesson was that?",
    ],
)
def test_what_stands_before_the_question_for_a_lesson_is_what_is_sought(
    question: str,
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.by_lesson) == ("find", True)
    assert inquiry.topic == question[: question.index(".") + 1]


def test_two_passages_of_a_lesson_outweigh_the_first_one_of_another() -> None:
    first = source(f"{RELIABILITY} - Lesson 1", "Slow senders wait.", title="Waiting")
    second = source(f"{RELIABILITY} - Lesson 2", "Senders slow down.", title="Breakers")
    third = source(f"{RELIABILITY} - Lesson 2", "They stop.", title="Breakers")
    done = attempt(query="My senders are to slow down.", facts=(1, 2, 3))
    asked = "My senders are to slow down. In which lesson was that?"
    request = briefing(asked, first, second, third, attempts=(done,))
    task = read_task(request)._replace(catalogue=CATALOGUE)

    found = of_found(task.inquiry, task)

    assert (found.course, found.lesson) == (RELIABILITY, 2)


def test_the_first_passage_is_the_lesson_where_the_others_are_of_several() -> None:
    first = source(f"{RELIABILITY} - Lesson 1", "Slow senders wait.", title="Waiting")
    second = source(f"{RELIABILITY} - Lesson 2", "Senders slow down.", title="Breakers")
    third = source(f"{RELIABILITY} - Lesson 3", "They stop.", title="Reports")
    done = attempt(query="My senders are to slow down.", facts=(1, 2, 3))
    asked = "My senders are to slow down. In which lesson was that?"
    request = briefing(asked, first, second, third, attempts=(done,))
    task = read_task(request)._replace(catalogue=CATALOGUE)

    found = of_found(task.inquiry, task)

    assert (found.course, found.lesson) == (RELIABILITY, 1)


@pytest.mark.parametrize(
    "question",
    [
        "Summarize Feeding for Winter",
        "Can you give me the main points of Feeding for Winter?",
        "a quick recap of Feeding for Winter please",
        "gist of feeding for winter",
    ],
)
def test_a_title_that_is_summed_up_is_that_of_a_lesson(question: str) -> None:
    inquiry = understand(question, (), trades.CATALOGUE)

    assert (inquiry.kind, inquiry.course, inquiry.lesson) == ("lesson", trades.BEES, 2)
    assert not inquiry.has_topic


def test_words_of_a_title_are_no_lesson_where_more_than_that_is_asked() -> None:
    inquiry = understand("Summarize feeding for winter in towns", (), trades.CATALOGUE)

    assert inquiry.lesson is None


@pytest.mark.parametrize(
    "question",
    [
        "What does the lesson before Watches at Night say about striking a title?",
        "What does the lesson before Watches at Night do when a title is struck?",
    ],
)
def test_a_title_of_something_else_is_asked_of_the_lessons_text(question: str) -> None:
    inquiry = understand(question, (), trades.CATALOGUE)

    assert (inquiry.kind, inquiry.course, inquiry.lesson) == (
        "lesson",
        trades.SAILING,
        1,
    )


def test_the_title_that_a_lesson_has_is_still_the_catalogues() -> None:
    inquiry = understand(
        "Does lesson 2 of the bees course have a title?", (), trades.CATALOGUE
    )

    assert inquiry.kind == "outline"
    assert inquiry.asks == frozenset({"title"})


def test_a_course_whose_title_begins_with_a_question_word_leaves_no_empty_name() -> (
    None
):
    title = "What to Borrow Next: Recommenders"
    catalogue = Catalogue((course(title, "Femi Ade", "Hubs", "Trees", first=6),))

    inquiry = understand(
        "What does lesson 7 of What to Borrow Next say about roots?", (), catalogue
    )

    assert (inquiry.course, inquiry.lesson) == (title, 7)
    assert inquiry.unknown is None
