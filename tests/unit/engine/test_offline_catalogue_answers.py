"""Answers from outlines and from the list of all courses."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.engine.offline.answering import NOT_IN_CATALOGUE, answer
from antiphon.engine.offline.reading import read_task
from antiphon.vocabulary.ports import Json
from tests.unit.engine.briefings import (
    CATALOGUE,
    RELIABILITY,
    attempt,
    briefing,
    source,
)

OUTLINED = source(
    RELIABILITY,
    f"Course: {RELIABILITY}\n",
    "Instructor: Tom\u00e1s Ferreira\n",
    "Link: https://example.org/reliability\n",
    "Lessons: 3 (1 to 3)\n",
    "Lesson 1: Timeouts and Deadlines\n",
    "Lesson 2: Circuit Breakers\n",
    "Lesson 3: Blameless Postmortems\n",
    "Link of lesson 2: https://example.org/reliability/2",
)
LISTED = source(
    "All courses",
    "Courses: 2, with 5 lessons in all\n",
    "Course: Tea. Lessons: 3 (0 to 2). Instructor: Ann Other. Link: https://example.org/tea\n",
    "Lessons of Tea: 0 Leaves; 1 Water; 2 Cups\n",
    "Course: Coffee. Lessons: 2 (1 to 2)\n",
)


def answered(question: str, *sources: Json, **more: Any) -> str:
    task = read_task(briefing(question, *sources, **more))
    draft = answer(task._replace(catalogue=CATALOGUE))
    return "".join(block["text"] for block in draft.blocks)


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("Who teaches the reliability course?", f"{RELIABILITY} is taught by Tom\u00e1s Ferreira."),
        ("Give me its URL: the reliability course", f"The link to {RELIABILITY}: https://example.org/reliability"),
        ("link of lesson 2 of the reliability course",
         f"The link to lesson 2 (\u201cCircuit Breakers\u201d) of {RELIABILITY}: https://example.org/reliability/2"),
        ("link of lesson 3 of the reliability course",
         f"No link to lesson 3 (\u201cBlameless Postmortems\u201d) of {RELIABILITY} is given."),
        ("How many lessons has the reliability course?", f"{RELIABILITY} has 3 lessons (lesson 1 to lesson 3)."),
        ("What is lesson 2 of the reliability course called?",
         f"Lesson 2 of {RELIABILITY} is \u201cCircuit Breakers\u201d."),
        ("title of the last lesson of the reliability course?",
         f"Lesson 3 of {RELIABILITY}, its last, is \u201cBlameless Postmortems\u201d."),
        ("Which lesson comes after lesson 1 of the reliability course?",
         "The lesson after lesson 1 (\u201cTimeouts and Deadlines\u201d) is lesson 2, \u201cCircuit Breakers\u201d."),
        ("Which lesson comes after lesson 3 of the reliability course?",
         f"No lesson comes after lesson 3 (\u201cBlameless Postmortems\u201d): it is the last of {RELIABILITY}."),
        ("What was covered in lesson 9 of the reliability course?",
         f"{RELIABILITY} has no lesson 9: it has 3 lessons (lesson 1 to lesson 3)."),
        ("How long is the reliability course?",
         f"How long it takes is not said in the outline of {RELIABILITY}. It has 3 lessons."),
    ],
)  # fmt: skip
def test_exactly_what_is_asked_is_said(question: str, says: str) -> None:
    assert answered(question, OUTLINED) == says


def test_a_course_may_be_called_by_what_it_speaks_of() -> None:
    refused = attempt(
        1,
        "failed",
        "get_course_outline",
        detail="No course named 'failing calls'. The nearest are: Tea.",
    )
    question = "Who teaches the failing calls course?"
    spoken = source(f"{RELIABILITY} - Lesson 2", "A breaker stops failing calls.")
    other = source(f"{RELIABILITY} - Lesson 2", "A breaker is made of metal.")

    said = answered(question, spoken, OUTLINED, attempts=(refused,))
    declined = answered(question, other, OUTLINED, attempts=(refused,))

    assert said.startswith("No course is called \u201cfailing calls\u201d")
    assert said.endswith(f"{RELIABILITY} is taught by Tom\u00e1s Ferreira.")
    assert declined == "No course named 'failing calls'. The nearest are: Tea."


def test_the_lesson_that_explains_something_is_named_and_quoted() -> None:
    first = source(f"{RELIABILITY} - Lesson 1", "A breaker is explained later.")
    called = source(
        f"{RELIABILITY} - Lesson 2",
        "A breaker opens after failures.",
        title="Circuit Breakers",
    )
    done = attempt(query="breaker", facts=(1, 2))

    said = answered(
        "Which lesson explains the breaker?",
        first,
        called,
        OUTLINED,
        attempts=(done,),
    )

    assert said.startswith(
        f"Lesson 2 of {RELIABILITY} is \u201cCircuit Breakers\u201d."
    )
    assert "A breaker opens after failures." in said


def test_the_lesson_that_was_found_is_named_and_so_is_the_one_before_it() -> None:
    found = source(f"{RELIABILITY} - Lesson 2", "Jitter is explained here.")
    title = "What is the title of the lesson where jitter is explained?"
    before = "Which lesson comes right before the one where jitter is explained?"
    done = attempt(query="jitter is explained", facts=(1,))

    assert answered(title, found, OUTLINED, attempts=(done,)) == (
        f"Lesson 2 of {RELIABILITY} is \u201cCircuit Breakers\u201d."
    )
    assert answered(before, found, OUTLINED, attempts=(done,)) == (
        "The lesson before lesson 2 (\u201cCircuit Breakers\u201d) is lesson 1, \u201cTimeouts and Deadlines\u201d."
    )


def test_each_statement_cites_its_line() -> None:
    question = "How many lessons has the reliability course and who teaches it?"
    task = read_task(briefing(question, OUTLINED))._replace(catalogue=CATALOGUE)

    blocks = answer(task).blocks

    cited = [
        block["citations"][0]["cited_text"] for block in blocks if "citations" in block
    ]
    assert "Instructor: Tom\u00e1s Ferreira" in cited[0]
    assert "Lessons: 3 (1 to 3)" in cited[1]


def test_the_link_of_a_lesson_cites_the_line_of_its_title_and_that_of_the_link() -> (
    None
):
    question = "link of lesson 2 of the reliability course"
    task = read_task(briefing(question, OUTLINED))._replace(catalogue=CATALOGUE)

    named, linked = answer(task).blocks

    assert named["citations"][0]["cited_text"].strip() == "Lesson 2: Circuit Breakers"
    assert linked["citations"][0]["cited_text"].startswith("Link of lesson 2: ")


@pytest.mark.parametrize(
    "question", ["List all courses.", "How many courses are there?"]
)
def test_all_courses_are_counted_and_listed(question: str) -> None:
    assert answered(question, LISTED).splitlines() == [
        "There are 2 courses, with 5 lessons in all:",
        "",
        "- Tea: 3 lessons, taught by Ann Other, https://example.org/tea",
        "- Coffee: 2 lessons",
    ]


def test_the_list_of_courses_is_no_passage() -> None:
    passage = source("Tea - Lesson 1", "Water is boiled first.")

    said = answered("How is water boiled first?", LISTED, passage)

    assert said.endswith("Water is boiled first.")
    assert "Courses" not in said


def test_each_of_several_questions_is_answered_under_it() -> None:
    passage = source("Tea - Lesson 1", "A kettle boils water.")
    done = attempt(query="What does a kettle boil?", facts=(1,))

    said = answered(
        "What does a kettle boil? Who teaches the reliability course?",
        passage,
        OUTLINED,
        attempts=(done,),
    )

    first, second = said.split("\n\n")
    assert first.startswith("What does a kettle boil?\n")
    assert first.endswith("A kettle boils water.")
    assert second == (
        f"Who teaches the reliability course?\n{RELIABILITY} is taught by Tom\u00e1s Ferreira."
    )


@pytest.mark.parametrize(
    ("question", "sentence", "is_quoted"),
    [
        ("How much does the reliability course cost?", "Retries cost time. ", False),
        ("Are there prerequisites for the reliability course?", "Retries cost time. ", False),
        ("When does the reliability course start?", "Retries cost time. ", False),
        ("Are there prerequisites for the reliability course?", "The course has no prerequisites. ", True),
    ],
)  # fmt: skip
def test_what_no_catalogue_holds_is_said_unless_a_sentence_says_it_of_a_course(
    question: str, sentence: str, is_quoted: bool
) -> None:
    lesson = source(f"{RELIABILITY} - Lesson 1", sentence, "Budgets are kept. ")

    said = answered(question, lesson)

    assert (sentence.strip() in said) == is_quoted
    assert (said == NOT_IN_CATALOGUE) != is_quoted


@pytest.mark.parametrize(
    ("question", "course"),
    [
        ("Which of your courses is the shortest?", "- Coffee: 2 lessons"),
        ("Which course has the most lessons?", "- Tea: 3 lessons, taught by Ann Other"),
    ],
)
def test_of_all_courses_the_longest_or_shortest_is_named(
    question: str, course: str
) -> None:
    said = answered(question, LISTED).splitlines()[2:]

    assert [line.partition(", https")[0] for line in said] == [course]


def test_lessons_without_a_link_are_named_among_the_links() -> None:
    said = answered(
        "Give me the links of all lessons of the reliability course", OUTLINED
    )

    assert "- Lesson 2, Circuit Breakers: https://example.org/reliability/2" in said
    assert "- Lesson 3, Blameless Postmortems: no link is given" in said


def test_hours_that_no_outline_says_leave_doubt() -> None:
    task = read_task(briefing("How many hours is the reliability course?", OUTLINED))

    assert answer(task._replace(catalogue=CATALOGUE)).certainty == "low"


def test_the_link_of_a_lesson_that_was_found_stands_above_what_shows_it() -> None:
    found = source(f"{RELIABILITY} - Lesson 2", "Jitter is explained here.")
    done = attempt(query="jitter is explained", facts=(1,))

    said = answered(
        "url of the lesson w/ jitter is explained", found, OUTLINED, attempts=(done,)
    )

    assert said.splitlines() == [
        f"The link to lesson 2 (\u201cCircuit Breakers\u201d) of {RELIABILITY}: https://example.org/reliability/2",
        "",
        "Lesson 2, t: Jitter is explained here.",
    ]


def test_of_a_lesson_that_is_named_the_closest_is_shown() -> None:
    said_there = source(
        f"{RELIABILITY} - Lesson 2", "A fuse refuses calls for a while."
    )

    said = answered(
        "In lesson 2 of the reliability course, which household object refuses guests, visitors, cats and neighbours?",
        said_there,
    )

    assert "A fuse refuses calls for a while." in said
    assert "closest" in said


def test_where_the_texts_may_not_say_it_the_catalogue_answers_first() -> None:
    beside = source(f"{RELIABILITY} - Lesson 2", "Breakers open under load.")

    said = answered(
        "At which address does my deputy read up on the whole reliability course?",
        beside,
        OUTLINED,
    )

    assert said.startswith("The catalogue says:")
    assert f"The link to {RELIABILITY}: https://example.org/reliability" in said


def test_a_lesson_is_summed_up_where_the_other_words_ask_for_nothing() -> None:
    lesson = source(
        f"{RELIABILITY} - Lesson 2",
        "Circuit breakers refuse calls. ",
        title="Circuit Breakers",
    )

    said = answered(
        "Before I approve the training budget, what is taught in lesson 2 of the reliability course?",
        lesson,
    )

    assert "Circuit breakers refuse calls." in said
    assert "may not answer" not in said
