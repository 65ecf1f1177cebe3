"""What kind of answer a question wants."""

from __future__ import annotations

import pytest

from antiphon.engine.offline.asked import GREETINGS, Inquiry, Kind, understand
from antiphon.engine.offline.names import EMPTY, Catalogue
from antiphon.language.asking import Ask
from tests.unit.engine.trades import BEES, BREAD, CATALOGUE, PHOTOS


def read(question: str, *earlier: str, catalogue: Catalogue = CATALOGUE) -> Inquiry:
    return understand(question, earlier, catalogue)


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        (f"Who teaches {PHOTOS}?", {"teacher"}),
        ("Who teaches the photo archive course, please?", {"teacher"}),
        (f"Wer unterrichtet den Kurs {PHOTOS}?", {"teacher"}),
        (f"How many lessons has {BREAD}?", {"lessons"}),
        (f"Give me the outline of {BEES}.", {"contents"}),
        (f"Where is the link to lesson 2 of {PHOTOS}?", {"link"}),
        (f"How long is the course {PHOTOS}?", {"duration"}),
        ("Which courses are there?", {"courses"}),
        ("How many courses are there?", {"courses"}),
    ],
)
def test_what_is_asked_of_nothing_but_the_catalogue_is_looked_up(
    question: str, asks: set[Ask]
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.topic) == ("catalogue", ())
    assert inquiry.asks == asks


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        (f"What is in lesson 2 of {PHOTOS}?", "lesson"),
        ("Summarize the lesson Scanning Negatives.", "lesson"),
        (f"What is in lesson 9 of {PHOTOS}?", "catalogue"),
        (f"Which lesson comes after lesson 1 of {PHOTOS}?", "catalogue"),
        ("Which lesson comes after the one on dust and scratches?", "find"),
        ("Who teaches the course in which dust is removed?", "find"),
        ("What is the link to the lesson about varroa?", "find"),
        (f"What does lesson 2 of {PHOTOS} say of dashes?", "text"),
        ("What does the photo archive course say of dust?", "text"),
        ("In which year did sourdough become popular?", "text"),
        ("Which lesson is about dust?", "find"),
        ("In which lecture are swarms explained?", "find"),
        ("Which unit covers the starter?", "find"),
        ("Where is the varroa mite discussed?", "find"),
        ("Where do I read about dust?", "find"),
        ("Which lesson would you read to learn of Naming Files?", "lesson"),
        ("Which unit is used for dust?", "text"),
        ("Where do bees fly?", "text"),
    ],
)
def test_a_lesson_as_a_whole_what_has_to_be_found_and_the_texts_are_told_apart(
    question: str, kind: Kind
) -> None:
    assert read(question).kind == kind


@pytest.mark.parametrize(
    "question",
    [
        "and ++?", "why?", "What does $? mean", "handle logging in?", "?", "\u03bb", "ok so what",
        "What is keyword search?", "hello, how is dough shaped?", "thank you for explaining what a starter is",
    ],
)  # fmt: skip
def test_every_other_question_is_searched_as_it_was_asked(question: str) -> None:
    for catalogue in (CATALOGUE, EMPTY):
        inquiry = read(question, catalogue=catalogue)

        assert (inquiry.kind, inquiry.question) == ("text", question)


@pytest.mark.parametrize(
    ("said", "talk"),
    [
        ("hi", "hello"),
        ("Hello!", "hello"),
        ("Thanks a lot.", "thanks"),
        ("BYE", "bye"),
    ],
)
def test_a_greeting_is_nothing_but_a_greeting(said: str, talk: str) -> None:
    inquiry = read(said, f"Who teaches {PHOTOS}?")

    assert (inquiry.kind, inquiry.talk) == ("greeting", talk)
    assert all(read(f"{words} dough").kind == "text" for words in GREETINGS)


@pytest.mark.parametrize(
    "question",
    [
        "What did I ask first?",
        "What was my last question?",
        "What did you say before that?",
        "Repeat your answer.",
        "What have we talked about so far?",
        "Can you summarize our conversation?",
    ],
)
def test_a_question_about_the_conversation_asks_no_lesson(question: str) -> None:
    assert read(question, "Why?").kind == "conversation"


@pytest.mark.parametrize(
    "question",
    [
        "What did you say about dust?",
        "What did I ask about varroa first?",
        "What is the first question of the exam?",
        "What is the answer?",
        "What did we learn about dough?",
    ],
)
def test_a_question_about_what_was_said_of_a_subject_asks_the_lessons(
    question: str,
) -> None:
    assert read(question, "Why?").kind != "conversation"


def test_a_question_that_refers_back_has_the_one_before_it_behind_it() -> None:
    before = f"What is {PHOTOS} about?"

    inquiry = read("And who teaches it?", "Why?", before)

    assert inquiry.question == f"And who teaches it?\n{before}"
    assert inquiry.kind == "catalogue"
    assert inquiry.asks == {"teacher"}
    assert inquiry.course == CATALOGUE.course(PHOTOS)


def test_a_question_of_its_own_leaves_the_one_before_it_alone() -> None:
    question = "Why does dough rest in a cold room?"

    inquiry = read(question, f"What is {PHOTOS} about?")

    assert (inquiry.question, inquiry.course) == (question, None)


def test_a_question_that_refers_back_may_name_another_course() -> None:
    inquiry = read(f"And who teaches {BEES}?", f"Who teaches {PHOTOS}?")

    assert inquiry.course == CATALOGUE.course(BEES)


def test_of_a_single_course_nothing_needs_to_be_named() -> None:
    inquiry = read("Who teaches it?", catalogue=Catalogue(CATALOGUE.courses[:1]))

    assert inquiry.course == CATALOGUE.course(PHOTOS)


@pytest.mark.parametrize(
    ("question", "lesson"),
    [
        (f"Which lesson comes after lesson 1 of {PHOTOS}?", 2),
        (f"What is in lesson 1 of {PHOTOS}?", 1),
        (f"Which lesson comes after lesson 3 of {PHOTOS}?", None),
    ],
)
def test_the_lesson_that_is_meant_is_the_one_beside_the_one_named(
    question: str, lesson: int | None
) -> None:
    assert read(question).lesson == lesson


def test_other_courses_are_asked_beside_the_one_that_is_named() -> None:
    assert read(f"Which other course than {PHOTOS} speaks of dust?").is_elsewhere
    assert not read(f"Does {PHOTOS} speak of dust?").is_elsewhere
    assert not read("Which other course speaks of dust?").is_elsewhere


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is sourdough bread?", "text"),
        ("Why sourdough bread?", "text"),
        ("Sourdough Bread", "catalogue"),
        ("What is in the course Sourdough Bread?", "catalogue"),
        ("Which lesson follows the one on dust?", "find"),
        ("Which courses does Ines Duarte-Vale teach?", "catalogue"),
    ],
)
def test_what_a_course_is_called_by_may_be_the_topic(question: str, kind: Kind) -> None:
    assert read(question).kind == kind


@pytest.mark.parametrize(
    ("question", "lesson", "missing"),
    [
        ("And lesson 2?", 2, None),
        ("And the last lesson?", 3, None),
        ("And lesson 9?", None, 9),
    ],
)
def test_a_question_that_goes_on_may_name_another_lesson_of_the_same_course(
    question: str, lesson: int | None, missing: int | None
) -> None:
    inquiry = read(question, f"What is in lesson 1 of {PHOTOS}?")

    assert inquiry.course is not None
    assert inquiry.course.title == PHOTOS
    assert (inquiry.lesson, inquiry.place.missing) == (lesson, missing)
