"""How the offline reasoner reads a question with what was asked, or looked up, before it."""

from __future__ import annotations

import pytest

from antiphon.engine.offline.catalogue import Catalogue
from antiphon.engine.offline.intents import Inquiry, understand
from tests.unit.engine.briefings import (
    CATALOGUE,
    EVENTS,
    MCP,
    MODELS,
    RELIABILITY,
    course,
)


def read(question: str, *earlier: str, answered: str = "") -> Inquiry:
    return understand(question, earlier, CATALOGUE, answered)


def test_a_lesson_named_after_several_is_one() -> None:
    several = "What are the titles of lessons 1 to 3 of the reliability course?"

    inquiry = read("And lesson 2?", several)

    assert (inquiry.lesson, inquiry.lessons) == (2, ())


def test_a_follow_up_that_names_only_a_lesson_goes_on_in_the_course_of_the_answer() -> (
    None
):
    answered = f"Lesson 2 of {RELIABILITY} is \u201cCircuit Breakers\u201d."

    inquiry = read("And the third?", "and lesson 2's title?", answered=answered)

    assert (inquiry.course, inquiry.lesson) == (RELIABILITY, 3)


def test_after_a_search_in_all_courses_the_next_lesson_is_that_of_the_answer() -> None:
    answered = f"In {RELIABILITY}, Lesson 1, Timeouts and Deadlines: a deadline."

    inquiry = read(
        "What's the next lesson?", "Which course explains jitter?", answered=answered
    )

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)
    assert (inquiry.lesson, inquiry.step) == (1, 1)


def test_in_a_conversation_on_lessons_the_last_and_the_next_one_are_lessons() -> None:
    first = "What is the first lesson of the reliability course called?"

    assert read("And the last?", first).lesson == 3
    assert read("And the next one?", first).step == 1


def test_thanks_between_two_questions_do_not_hide_the_first() -> None:
    inquiry = read("And the reliability one?", "Who teaches the MCP course?", "Thanks!")

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)
    assert inquiry.asks == {"teacher"}


def test_after_a_list_of_courses_the_third_one_is_a_course() -> None:
    listed = f"There are 3 courses:\n\n- {EVENTS}\n- {MODELS}\n- {RELIABILITY}"

    third = read("Who teaches the third one?", "List all courses", answered=listed)
    last = read("How long is the last one?", "List all courses", answered=listed)

    assert (third.course, set(third.asks)) == (RELIABILITY, {"teacher"})
    assert (last.course, set(last.asks)) == (RELIABILITY, {"duration"})


def test_what_it_means_may_stand_in_the_answer_before() -> None:
    inquiry = read(
        "Who teaches it?",
        "Which course covers sagas?",
        answered=f"In {EVENTS}, lesson 2: a saga undoes steps.",
    )

    assert (inquiry.kind, inquiry.course) == ("outline", EVENTS)


def test_what_it_means_may_be_the_lesson_that_was_quoted() -> None:
    answered = "Lesson 2, Circuit Breakers: **A breaker opens.**"

    inquiry = read("Who teaches that?", "What does a breaker do?", answered=answered)

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)


def test_a_lesson_title_that_two_courses_share_gives_no_course_away() -> None:
    two = Catalogue((course("Tea", "Ann", "Intro"), course("Coffee", "Bob", "Intro")))

    inquiry = understand(
        "Who teaches it?", ("What is a cup?",), two, "Lesson 1, Intro: A cup."
    )

    assert inquiry.course is None


def test_a_question_to_the_catalogue_about_it_is_one_of_its_own() -> None:
    asked = read(
        "What is lesson 2 of the reliability course about, and how many lessons does it have?"
    )

    assert [part.kind for part in asked.parts] == ["lesson", "outline"]
    assert {part.course for part in asked.parts} == {RELIABILITY}


def test_that_course_is_the_one_that_speaks_of_what_was_asked() -> None:
    asked = read("How do compensating steps work, and who teaches that course?")

    assert [part.kind for part in asked.parts] == ["plain", "find"]
    assert asked.parts[1].asks == {"teacher"}
    assert "compensating steps" in asked.parts[1].topic


@pytest.mark.parametrize(
    "question",
    [
        "Which course teaches something similar to lesson 2 of the reliability course?",
        "Find a course that treats the same topic as lesson 2 of the reliability course",
        "Is there another course on the topic of lesson 2 of the reliability course?",
    ],
)
def test_another_course_on_the_topic_of_a_lesson_is_looked_up(question: str) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course) == ("look_up", RELIABILITY)
    assert inquiry.lesson == 2


def test_a_follow_up_on_a_topic_keeps_its_words_and_its_course() -> None:
    inquiry = read(
        "And why does it help?", "In the reliability course, what is jitter?"
    )

    assert inquiry.course == RELIABILITY
    assert "jitter" in inquiry.focus
    assert "help" in inquiry.focus


def test_several_questions_are_parts_and_a_comparison_is_one() -> None:
    several = read(
        "What is a saga, and how does BM25 rank? Who teaches the MCP course?"
    )

    assert [part.kind for part in several.parts] == ["plain", "plain", "outline"]
    assert read("How does a queue differ from a log?").parts == ()
    assert read("Who came up with sagas, and when?").parts == ()


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("Look at what lesson 2 of the reliability course is about. What does the MCP course say of it?", MCP),
        ("First see what lesson 2 of the reliability course is, then tell me what Marta's course says of it.", EVENTS),
        ("Read lesson 2 of the reliability course: which other course treats the same subject?", None),
        ("Check lesson 2 of the reliability course. What has the language models course that is similar?", MODELS),
        ("What does the language models course say about what lesson 2 of the reliability course covers?", MODELS),
        ("How is the topic of lesson 2 of the reliability course treated in Language Models and Tools?", MODELS),
    ],
)  # fmt: skip
def test_what_another_course_says_on_the_lesson_of_a_first_step_is_looked_up(
    question: str, other: str | None
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course, inquiry.lesson) == ("look_up", RELIABILITY, 2)
    assert inquiry.other == other


def test_a_question_that_says_its_topic_is_asked_of_its_own_course() -> None:
    inquiry = read(
        "Look at what lesson 2 of the reliability course is about. What does the language models course say of fusion?"
    )

    first, then = inquiry.parts
    assert (first.kind, first.course, first.lesson) == ("outline", RELIABILITY, 2)
    assert (then.kind, then.course, then.other) == ("plain", MODELS, None)


def test_a_question_that_names_no_place_is_asked_of_the_lesson_of_the_first_step() -> (
    None
):
    inquiry = read(
        "Open lesson 2 of the reliability course. How many times may a call be made?"
    )

    assert (inquiry.kind, inquiry.course, inquiry.lesson) == ("lesson", RELIABILITY, 2)


def test_an_order_that_names_no_lesson_is_no_first_step() -> None:
    assert read("Find the best queue. What is a log?").kind != "look_up"


def test_a_later_question_may_be_on_the_topic_of_the_lesson_before_it() -> None:
    inquiry = read(
        "What is lesson 2 of the reliability course about? And what does the language models course say on that topic?"
    )

    later = inquiry.parts[1]
    assert (later.kind, later.course, later.other) == (
        "look_up",
        RELIABILITY,
        MODELS,
    )


def test_the_lesson_after_the_introduction_is_the_second() -> None:
    asked = "In the session that Marta Lindqvist holds straight after her introduction, what does she show?"

    assert (read(asked).kind, read(asked).lesson) == ("lesson", 1)


@pytest.mark.parametrize(
    ("question", "joined"),
    [
        ("Oh nice. And who found out that it works with one magic sentence?", True),
        ("And whose idea was that picture, and from what year is it?", True),
        ("Who described it first?", True),
        ("And how large is a page that Postgres reads from a disk?", False),
    ],
)
def test_a_longer_follow_up_is_read_with_the_question_before_it(
    question: str, joined: bool
) -> None:
    inquiry = read(question, "What is chain-of-thought prompting?")

    assert ("chain-of-thought" in inquiry.question) is joined


def test_the_middle_one_of_an_odd_number_of_lessons_is_a_lesson() -> None:
    first = "How many lessons does Tom\u00e1s Ferreira's course have?"

    inquiry = read("And what is the title of the middle one?", first)

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)
    assert inquiry.lesson == 2


def test_of_an_even_number_of_lessons_none_is_in_the_middle_and_all_are_named() -> None:
    first = "How many lessons does Marta Lindqvist's course have?"

    inquiry = read("And what is the title of the middle one?", first)

    assert (inquiry.kind, inquiry.course) == ("outline", EVENTS)
    assert (inquiry.lesson, inquiry.missing_lesson) == (None, None)
