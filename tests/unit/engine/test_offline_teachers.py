"""Courses that are named by who teaches them: in all usual forms, beside another name, and by initials."""

from __future__ import annotations

import pytest

from antiphon.engine.offline.catalogue import Catalogue
from antiphon.engine.offline.intents import Inquiry, understand
from antiphon.engine.offline.planning import plan
from antiphon.engine.offline.reading import read_task
from tests.unit.engine.briefings import attempt, briefing, course, source

KILNS = "Fired Twice: Building with the Wood Kiln Protocol"
GLAZES = "Glazes from Local Ash"
TILES = "Tiles and Kilns for Small Houses"
CATALOGUE = Catalogue(
    (
        course(KILNS, "Ingrid Halvorsen", "Introduction", "Stacking", "Kiln Use", "The Last Firing", first=0),
        course(GLAZES, "Yuki Sandoval and Bram Teller", "Introduction", "Sieving", "Testing", first=0),
        course(TILES, "Desmond Okafor", "Introduction", "Pressing", first=0),
    )
)  # fmt: skip


def read(question: str) -> Inquiry:
    return understand(question, (), CATALOGUE)


@pytest.mark.parametrize(
    "question",
    [
        "is there anything taught by Ingrid Halvorsen?",
        "does Ingrid Halvorsen teach something?",
        "what does Ingrid Halvorsen teach",
        "which courses does Ingrid give?",
        "courses with ingrid",
        "do you have anything by Ingrid?",
        "list everything by Ingrid Halvorsen",
    ],
)
def test_who_names_a_teacher_and_asks_for_no_more_wants_the_courses(
    question: str,
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.courses) == ("outline", (KILNS,))
    assert inquiry.asks == {"teacher"}


def test_two_teachers_named_together_are_those_of_one_course() -> None:
    inquiry = read("What is the course by Bram and Yuki called?")

    assert (inquiry.kind, inquiry.course) == ("outline", GLAZES)


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Show me the outline of the WKP course by Ingrid Halvorsen.", {"contents"}),
        ("outline of Ingrid Halvorsen's WKP course", {"contents"}),
        ("course link fired twice ingrid", {"link"}),
        ("ingrids course link", {"link"}),
    ],
)
def test_a_course_is_named_by_its_teacher_beside_what_else_it_is_called(
    question: str, asks: set[str]
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course) == ("outline", KILNS)
    assert (inquiry.unknown, set(inquiry.asks)) == (None, asks)


def test_what_is_said_of_a_teacher_s_course_is_no_name_of_another() -> None:
    inquiry = read("in the new course by Ingrid, what is stacked first?")

    assert (inquiry.course, inquiry.unknown) == (KILNS, None)


def test_a_name_that_two_courses_share_is_that_of_the_teacher_s() -> None:
    assert set(read("How long is the kiln course?").courses) == {KILNS, TILES}
    assert read("How long is the kiln course by Desmond?").courses == (TILES,)


def test_a_teacher_s_name_in_the_plural_is_a_thing_elsewhere() -> None:
    roses = Catalogue((course(KILNS, "Rose Amsel", "Introduction", first=0),))

    assert understand("Which roses are watered first?", (), roses).course is None


def test_the_initials_within_a_title_name_its_course() -> None:
    assert read("How many lessons has the WKP course?").course == KILNS


def test_who_was_a_teacher_for_some_time_is_not_asked_for() -> None:
    inquiry = read("How many years was Ingrid Halvorsen a teacher in Bergen?")

    assert inquiry.course == KILNS
    assert "teacher" not in inquiry.asks


def test_who_speaks_in_a_lesson_of_two_teachers_is_heard_at_its_beginning() -> None:
    of_two = read("Who teaches lesson 2 of the glazes course?")
    of_one = read("Who teaches lesson 2 of the WKP course?")

    assert (of_two.kind, of_two.part) == ("lesson", "beginning")
    assert (of_one.kind, of_one.part) == ("outline", None)


def test_who_speaks_in_a_lesson_that_has_to_be_found_is_heard_there() -> None:
    question = (
        "Find me the lesson where cracks are tested, and tell me who is speaking in it."
    )
    found = source(f"{GLAZES} - Lesson 2", "The cracks are tested.", title="Testing")
    done = attempt(query="cracks are tested", facts=(1,))
    task = read_task(briefing(question, found, attempts=(done,)))

    told, part = plan(task._replace(catalogue=CATALOGUE))

    assert told.arguments["course_name"] == GLAZES
    assert part.arguments["lesson_number"] == 2
    assert "beginning" in str(part.arguments["why"])


def test_a_title_that_ends_with_a_little_word_names_its_lesson() -> None:
    inquiry = read("Two lessons before the kiln use one: what is stacked?")

    assert (inquiry.course, inquiry.lesson, inquiry.step) == (KILNS, 0, 0)
