"""What strangers ask of a catalogue in words of their own: places, links, titles, counts, all of them or one."""

from __future__ import annotations

import pytest

from antiphon.engine.offline.catalogue import Catalogue
from antiphon.engine.offline.intents import Inquiry, understand
from antiphon.engine.offline.intents.by_meaning import asked_by_meaning
from antiphon.language.asking import Asked
from tests.unit.engine.briefings import (
    CATALOGUE,
    EVENTS,
    MODELS,
    RELIABILITY,
    RETRIEVAL,
)


def read(question: str) -> Inquiry:
    return understand(question, (), CATALOGUE)


@pytest.mark.parametrize(
    ("question", "lesson"),
    [
        ("Reliability engineering: name of the final lesson", 3),
        ("Counting from the back, which is the third lesson of the reliability course?", 1),
        ("which lesson of the reliability course is the second counted from the end", 2),
        ("title of the very last bit of the reliability course", 3),
    ],
)  # fmt: skip
def test_a_lesson_by_its_place(question: str, lesson: int) -> None:
    inquiry = read(question)

    assert (inquiry.course, inquiry.lesson) == (RELIABILITY, lesson)
    assert inquiry.step == 0


def test_lessons_from_one_to_another_in_words() -> None:
    assert read(f"titles of lessons one through three of {EVENTS}").lessons == (1, 2, 3)


@pytest.mark.parametrize(
    ("question", "course", "lesson", "asks"),
    [
        ("I need the link of Blameless Postmortems.", RELIABILITY, 3, {"link"}),
        ("the link of The Inverted Index please", RETRIEVAL, 1, {"link"}),
        ("I want to open lesson 2 of the reliability course, where's that", RELIABILITY, 2, {"link"}),
        ("what's lesson 2 of the reliability course called, and where do I click to open it", RELIABILITY, 2,
         {"title", "link"}),
    ],
)  # fmt: skip
def test_what_is_asked_of_a_lesson(
    question: str, course: str, lesson: int, asks: set[str]
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course, inquiry.lesson) == ("outline", course, lesson)
    assert inquiry.asks == asks


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Kindly provide the links to every course in the catalogue.", {"courses", "link"}),
        ("Kindly draw up a table: every course with teacher and course link.", {"courses", "teacher", "link"}),
        ("im lazy. shortest course (fewest lessons)?", {"courses"}),
        ("If I'm short on time: the two courses having the fewest lessons are...?", {"courses"}),
        ("WHICH COURSE HAS THE FEWEST LESSONS AND HOW MANY ARE THEY", {"courses"}),
    ],
)  # fmt: skip
def test_what_is_asked_of_all_courses(question: str, asks: set[str]) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course, inquiry.unknown) == ("outline", None, None)
    assert inquiry.asks == asks


@pytest.mark.parametrize(
    ("question", "courses"),
    [
        ('lessons with "queues" in the heading??', {EVENTS}),
        ("over all the courses, which lesson names have caching or ranking in them", {MODELS, RETRIEVAL}),
        ("i only remember that a lesson title had blameless in it. can you find it", {RELIABILITY}),
        ("Queues turn up in the title of more than one lesson, I believe; name them.", {EVENTS}),
        ("I collect all lessons which mention a queue, or queues, in the headline. Help me?", {EVENTS}),
        ("any lesson titles with ranking or caching in them?", {MODELS, RETRIEVAL}),
        ("Going only by titles, which lessons are about queues?", {EVENTS}),
        ("Everything with the word queue or queues in the lesson title, across the courses", {EVENTS}),
    ],
)  # fmt: skip
def test_lessons_by_a_word_of_their_titles(question: str, courses: set[str]) -> None:
    inquiry = read(question)

    found = {part.course for part in inquiry.parts or (inquiry,)}
    assert found == courses


def test_the_title_and_the_link_of_a_lesson_are_no_links_of_all() -> None:
    asked = Asked(frozenset({"title", "link"}), topic=("both",))

    of_all = Catalogue((), lambda _, texts: ["links of all" in text for text in texts])

    assert asked_by_meaning("x", asked, of_all, of_lesson=True) == asked


def test_whoever_runs_the_one_that_is_called_so() -> None:
    inquiry = read("who runs the reliability one?")

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)
    assert inquiry.asks == {"teacher"}


def test_the_names_of_the_people_behind_a_course_are_its_teachers() -> None:
    inquiry = read("names of the people behind the reliability course")

    assert inquiry.course == RELIABILITY
    assert inquiry.asks == {"teacher"}


@pytest.mark.parametrize(
    "question",
    [
        "What's the link between Sagas and Compensating Actions?",
        "In the reliability course, how long do they wait till the breaker closes?",
        "Find out how many lessons we learned from the outage.",
    ],
)
def test_what_only_sounds_like_the_catalogue(question: str) -> None:
    assert read(question).kind != "outline"


def test_no_name_is_made_of_two_sentences_or_of_a_part_of_a_word() -> None:
    for question in (
        "im lazy. shortest training (fewest lessons)?",
        "Counted by lessons, two of them share first place. Please name them.",
    ):
        assert read(question).unknown is None


def test_a_common_word_of_a_title_names_no_lesson() -> None:
    # "Only" stands in two titles of lessons, "in" and "Small" in one of a course.
    assert (
        read("How many lessons would that be in total, only to count?").lesson is None
    )


@pytest.mark.parametrize(
    ("question", "topic", "wanted"),
    [
        ("There's a lesson with a story about a tent. In that same lesson, what do they do if the guard goes down?",
         "a story about a tent", "what do they do if the guard goes down?"),
        ("there was a lesson with window retrieval in it, how many answers did graph facts improve?",
         "window retrieval", "how many answers did graph facts improve?"),
        ("In the lesson where a pier collapses, what rusts first?", "a pier collapses", "what rusts first?"),
    ],
)  # fmt: skip
def test_what_is_asked_of_a_lesson_that_is_only_described(
    question: str, topic: str, wanted: str
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.by_lesson) == ("find", True)
    assert (inquiry.topic, inquiry.wanted) == (topic, wanted)


def test_a_number_in_the_second_question_is_of_the_course_in_the_first() -> None:
    inquiry = read(
        "reliability engineering for services: why do breakers trip + what's lesson 2 called"
    )

    assert inquiry.parts[1].course == RELIABILITY
    assert inquiry.parts[1].lesson == 2


def test_of_two_questions_in_another_language_each_is_answered() -> None:
    inquiry = read(
        "Wie hei\u00dft die letzte Lektion im Reliability-Kurs, und was ist ein Saga-Log?"
    )

    first, second = inquiry.parts
    assert (first.kind, first.course, first.lesson) == ("outline", RELIABILITY, 3)
    assert "Saga-Log" in second.topic


def test_the_link_of_the_lesson_that_was_found() -> None:
    inquiry = understand(
        "send me its link",
        (f"Which lesson of {RELIABILITY} explains tripping?",),
        CATALOGUE,
        f"Lesson 2 of {RELIABILITY} is \u201cCircuit Breakers\u201d.",
    )

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)
    assert inquiry.lesson == 2
    assert inquiry.asks == {"link"}


@pytest.mark.parametrize("misspelt", ["teching", "insturctor of", "lecturrer of"])
def test_words_for_what_a_catalogue_holds_may_be_misspelt(misspelt: str) -> None:
    inquiry = read(f"who is the {misspelt} the reliability course")

    assert inquiry.course == RELIABILITY
    assert inquiry.asks == {"teacher"}


def test_a_word_of_its_own_is_no_misspelling() -> None:
    assert "cores" in read("How large must the pool be with eight cores?").question


def test_every_teacher_is_asked_for() -> None:
    assert read("For the staff page: name every teacher you have.").asks == {
        "courses",
        "teacher",
    }


def test_the_one_after_the_next() -> None:
    inquiry = understand(
        "and the one after that",
        (f"What comes right after lesson 1 of {EVENTS}?",),
        CATALOGUE,
    )

    assert (inquiry.course, inquiry.lesson, inquiry.step) == (EVENTS, 2, 1)


def test_the_link_of_the_lesson_that_answers_the_question_before() -> None:
    inquiry = read(
        "How large may a bounded queue get, oh and send me that lesson's link too"
    )

    assert inquiry.parts[1].kind == "find"
    assert inquiry.parts[1].by_lesson
