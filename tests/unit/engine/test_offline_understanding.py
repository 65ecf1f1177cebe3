"""How the offline reasoner reads a question against the courses that there are."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.engine.offline.catalogue import EMPTY, Catalogue
from antiphon.engine.offline.intents import Inquiry, understand
from antiphon.engine.offline.mentions import mentions_in, without_places
from antiphon.engine.offline.spelling import corrected
from tests.unit.engine.briefings import CATALOGUE, course

EVENTS = "Event-Driven Systems from First Principles"
MCP = "MCP: Build Rich-Context Apps"
MODELS = "Language Models and Tools"
RETRIEVAL = "Practical Information Retrieval"
RELIABILITY = "Reliability Engineering for Services"


def read(question: str, *earlier: str, answered: str = "") -> Inquiry:
    return understand(question, earlier, CATALOGUE, answered)


@pytest.mark.parametrize(
    ("question", "course"),
    [
        ("In the reliability course, what is jitter?", RELIABILITY),
        ("What does your course on event-driven systems say about logs?", EVENTS),
        ("what is pooling in practical information retreival", RETRIEVAL),
        ("According to the MCP course, what is a server?", MCP),
        ("What does the langauge models course say about tokens?", MODELS),
        ("In the PIR course, what is pooling?", RETRIEVAL),
        ("In the circuit breakers course, what is a budget?", RELIABILITY),
        ("What does Priya Raghunathan's course say about tokens?", MODELS),
        ('In "Language Models and Tools", what is a token?', MODELS),
        ("What is a saga?", None),
        ("How do language models count tokens?", None),
        ("Is there a course on sagas?", None),
        ("What is the systems theory of first principles thinking?", None),
        ("Was the golf course of Augusta National built in Georgia?", None),
    ],
)
def test_a_course_is_known_by_title_part_nickname_typo_or_teacher(
    question: str, course: str | None
) -> None:
    assert read(question).course == course


@pytest.mark.parametrize(
    ("question", "asks", "lesson"),
    [
        ("Wer unterrichtet den Reliability-Kurs?", {"teacher"}, None),
        ("Wie viele Lektionen hat Reliability Engineering for Services?", {"lessons"}, None),
        ("Wie hei\u00dft die letzte Lektion von Reliability Engineering for Services?", {"title"}, 3),
        ("Gib mir den Link zum Kurs Reliability Engineering for Services", {"link"}, None),
        ("\u00bfQui\u00e9n ense\u00f1a el curso Reliability Engineering for Services?", {"teacher"}, None),
        ("\u00bfQu\u00e9 lecciones tiene el curso Reliability Engineering for Services?", {"contents"}, None),
        ("Dame el enlace de la lecci\u00f3n 2 del curso Reliability Engineering for Services", {"link"}, 2),
        ("Qui enseigne le cours Reliability Engineering for Services ?", {"teacher"}, None),
        ("Quel est le titre de la le\u00e7on 3 de Reliability Engineering for Services ?", {"title"}, 3),
        ("Chi insegna il corso Reliability Engineering for Services?", {"teacher"}, None),
        ("Quem ensina o curso Reliability Engineering for Services?", {"teacher"}, None),
        ("Worum geht es im Kurs Reliability Engineering for Services?", {"overview"}, None),
        ("Wie geeft de cursus Reliability Engineering for Services?", {"teacher"}, None),
    ],
)  # fmt: skip
def test_a_catalogue_is_asked_in_other_languages(
    question: str, asks: set[str], lesson: int | None
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)
    assert (set(inquiry.asks), inquiry.lesson) == (asks, lesson)
    assert inquiry.tongue.note


@pytest.mark.parametrize(
    "question",
    ["\u00bfCu\u00e1ntos cursos hay?", "Wie viele Kurse gibt es?", "Combien de cours y a-t-il ?"],
)  # fmt: skip
def test_courses_are_counted_in_other_languages(question: str) -> None:
    inquiry = read(question)

    assert (inquiry.kind, set(inquiry.asks)) == ("outline", {"courses"})


def test_a_topic_in_another_language_is_searched_for_in_its_own_words() -> None:
    question = "\u00bfQu\u00e9 es un cortacircuitos?"

    inquiry = read(question)

    assert (inquiry.kind, inquiry.question) == ("plain", question)


def test_a_name_that_two_courses_share_means_both() -> None:
    inquiry = read("Who teaches the retrieval course?")

    assert inquiry.course is None
    assert set(inquiry.courses) == {RETRIEVAL, "Retrieval in Small"}


def test_a_text_of_one_lesson_is_a_document_and_its_title_a_subject() -> None:
    catalogue = Catalogue((course("New York City", "Nobody", "New York City"),))

    question = "Who was the mayor of New York City in 1999?"

    assert understand(question, (), catalogue).course is None
    assert without_places(question, mentions_in(question, catalogue).all) == question


@pytest.mark.parametrize(
    ("question", "asks", "lesson"),
    [
        ("Who is the teacher of the reliability course?", {"teacher"}, None),
        ("who's teaching reliability engineering", {"teacher"}, None),
        ("who gives the reliability course", {"teacher"}, None),
        ("give me the URL of the reliability course", {"link"}, None),
        ("Where can I watch lesson 2 of the reliability course?", {"link"}, 2),
        ("how many lessons are in the reliability course", {"lessons"}, None),
        ("What is lesson two of the reliability course called?", {"title"}, 2),
        ("the title of the last lesson of the reliability course", {"title"}, 3),
        ("Which topics does the reliability course cover?", {"contents"}, None),
        ("How long is the reliability course?", {"duration"}, None),
        ("What is the reliability course about?", {"overview"}, None),
        ("THE SYLLABUS OF THE RELIABILITY COURSE", {"contents"}, None),
        ("hey, who teaches the reliability course, please?", {"teacher"}, None),
    ],
)
def test_what_a_catalogue_knows_is_asked_of_it(
    question: str, asks: set[str], lesson: int | None
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)
    assert (set(inquiry.asks), inquiry.lesson) == (asks, lesson)


@pytest.mark.parametrize(
    "question",
    [
        "What is the link between recall and precision?",
        "How long must a prompt be before it is cached?",
        "What is the structure of an event?",
        "Who wrote the article on logs?",
        "What are the topics of a broker called?",
        "How many tokens does GPT-2 know?",
    ],
)
def test_the_same_words_about_a_topic_are_searched_for(question: str) -> None:
    assert read(question).kind == "plain"


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
    ("question", "sought", "by_lesson"),
    [
        ("Who teaches the course that explains HNSW?", "HNSW", False),
        ("What's the first lesson of the course that covers HNSW called?", "HNSW", False),
        ("What is the title of the lesson that explains jitter?", "jitter", True),
        ("Which lesson comes right before the one where jitter is explained?", "jitter", True),
    ],
)  # fmt: skip
def test_what_a_course_or_lesson_says_may_be_its_name(
    question: str, sought: str, by_lesson: bool
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.topic) == ("find", sought)
    assert inquiry.by_lesson == by_lesson


@pytest.mark.parametrize(
    "question",
    [
        "What is covered in the lesson after lesson 1 of the reliability course?",
        "In the lesson after lesson 1 of the reliability course, what is half-open?",
        "What does the second lesson of the reliability course teach?",
    ],
)
def test_what_a_lesson_says_that_is_named_by_its_neighbour(question: str) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course) == ("lesson", RELIABILITY)
    assert (inquiry.lesson, inquiry.step) == (2, 0)


def test_a_hyphened_word_of_a_title_may_be_written_as_one() -> None:
    assert read("Who teaches the richcontext apps course?").course == MCP


def test_a_lesson_of_no_course_in_particular_is_named_for_each_that_has_it() -> None:
    inquiry = read("What does lesson 3 cover?")

    assert inquiry.kind == "outline"
    assert set(inquiry.courses) == {EVENTS, RETRIEVAL, RELIABILITY}


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What did the instructor say about secrets in images?", "plain"),
        ("What's the name of the first course?", "plain"),
        ("Does any other course talk about caching besides the MCP course?", "across"),
        ("How is caching treated in the MCP course vs the reliability course?", "compare"),
        ("Compare the MCP course with the reliability course.", "outline"),
    ],
)  # fmt: skip
def test_courses_may_be_named_for_other_reasons_than_to_search_in_one(
    question: str, kind: str
) -> None:
    assert read(question).kind == kind


@pytest.mark.parametrize(
    "question",
    [
        "Which courses talk about bounded queues?",
        "Does another course mention bounded queues?",
        "Which course besides the MCP course covers bounded queues?",
    ],
)
def test_what_is_asked_of_all_courses_is_searched_for_by_its_topic_alone(
    question: str,
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.topic) == ("across", "bounded queues")


def test_what_is_said_of_a_course_is_no_part_of_its_name() -> None:
    uses = read("What does the MCP course, which builds apps, use for context?")
    besides = read("Which course besides Language Models and Tools uses retrieval?")

    assert uses.course == MCP
    assert (besides.courses, besides.topic) == ((MODELS,), "retrieval")


def test_which_lesson_explains_something_asks_for_a_lesson_to_be_found() -> None:
    inquiry = read("Which lesson of the reliability course explains jitter?")

    assert (inquiry.kind, inquiry.by_lesson) == ("find", True)
    assert (inquiry.course, inquiry.topic) == (RELIABILITY, "jitter")


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


def test_a_lesson_named_after_several_is_one() -> None:
    several = "What are the titles of lessons 1 to 3 of the reliability course?"

    inquiry = read("And lesson 2?", several)

    assert (inquiry.lesson, inquiry.lessons) == (2, ())


def test_what_several_lessons_say_is_asked_of_each() -> None:
    inquiry = read("Summarize the first and the last lesson of the reliability course")

    assert inquiry.kind == "several"
    parts = [(part.kind, part.course, part.lesson) for part in inquiry.parts]
    assert parts == [("lesson", RELIABILITY, 1), ("lesson", RELIABILITY, 3)]


@pytest.mark.parametrize(
    ("question", "asks", "lesson"),
    [
        ("title of L3 in the reliability course", {"title"}, 3),
        ("How can I find the reliability course online?", {"link"}, None),
        ("link to the reliability course pls", {"link"}, None),
        ("the links of all lessons of the reliability course", {"links"}, None),
        ("I'd like the link to the reliability course", {"link"}, None),
        ("whos teaching reliability engineering", {"teacher"}, None),
        ("how many chapters does the reliability course have", {"lessons"}, None),
        ("tell me about the reliability course", {"overview"}, None),
        ("Reliability Engineering for Services", {"overview"}, None),
    ],
)
def test_what_a_catalogue_knows_may_be_asked_carelessly(
    question: str, asks: set[str], lesson: int | None
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)
    assert (set(inquiry.asks), inquiry.lesson) == (asks, lesson)


def test_a_lesson_named_by_its_title_needs_no_word_for_it_before_what_comes_next() -> (
    None
):
    inquiry = read("What comes before Circuit Breakers?")
    topic = read("What comes before Circuit Breakers open in a busy service?")

    assert (inquiry.kind, inquiry.lesson, inquiry.step) == ("outline", 2, -1)
    assert topic.kind == "plain"


def test_courses_may_be_named_by_the_first_name_of_who_teaches_them() -> None:
    assert read("courses by Priya").courses == (MODELS,)
    assert read("What is said by Priya Nobody?").courses == ()


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("Do you have a course on reliability?", (RELIABILITY,)),
        ("Which courses are about retrieval?", (RETRIEVAL, "Retrieval in Small")),
        ("Is there a course about cooking?", ()),
    ],
)
def test_a_course_on_something_is_one_whose_title_says_so(
    question: str, titles: tuple[str, ...]
) -> None:
    inquiry = read(question)

    assert inquiry.courses == titles
    assert (inquiry.kind == "outline") == bool(titles)


def test_without_a_catalogue_what_may_be_a_course_is_searched_for() -> None:
    assert understand("What does the lesson say of backoff?").kind == "plain"


def test_other_courses_of_a_teacher_are_all_that_the_teacher_has() -> None:
    inquiry = read("Are there any other courses by Priya Raghunathan?")

    assert (inquiry.kind, inquiry.courses) == ("outline", (MODELS,))


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


def test_what_lessons_do_is_no_name_of_a_course() -> None:
    assert read("Which lessons mention caching?").kind == "across"


@pytest.mark.parametrize(
    "question", ["which courses exist", "What's the longest course?"]
)
def test_some_questions_are_answered_by_the_list_of_courses(question: str) -> None:
    assert read(question).asks == {"courses"}


def test_in_a_conversation_on_lessons_the_last_and_the_next_one_are_lessons() -> None:
    first = "What is the first lesson of the reliability course called?"

    assert read("And the last?", first).lesson == 3
    assert read("And the next one?", first).step == 1


def test_lessons_are_counted_by_place_where_they_begin_with_zero() -> None:
    assert read("Summarize the first lesson of the event-driven course").lesson == 0
    assert read("Summarize the last lesson of the event-driven course").lesson == 3


def test_a_lesson_that_the_course_does_not_have_is_noted() -> None:
    inquiry = read("What is taught in lesson 12 of the reliability course?")

    assert (inquiry.kind, inquiry.missing_lesson) == ("outline", 12)


def test_a_course_that_is_none_is_noted_and_stays_in_the_query() -> None:
    inquiry = read("In the cooking course, what is a saga?")

    assert (inquiry.course, inquiry.unknown) == (None, "cooking")
    assert "cooking" in inquiry.focus


@pytest.mark.parametrize(
    ("message", "talk"),
    [
        ("Thanks!", "thanks"),
        ("Hello there", "hello"),
        ("who are you?", "who"),
        ("What can you do?", "abilities"),
        ("thank you, bye", "thanks"),
        ("Goodbye", "bye"),
        ("Hola", "hello"),
        ("Vielen Dank!", "thanks"),
        ("Merci beaucoup", "thanks"),
        ("Hello, what is a saga?", None),
        ("What is a thank-you message?", None),
    ],
)
def test_small_talk_is_told_from_questions(message: str, talk: str | None) -> None:
    assert read(message).talk == talk


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


def test_two_adjectives_share_the_noun_behind_the_second() -> None:
    shared = read("What is the difference between linear and logistic regression?")
    apart = read("What is the difference between docker and virtual machines?")

    assert [side.topic for side in shared.sides] == [
        "linear regression",
        "logistic regression",
    ]
    assert [side.topic for side in apart.sides] == ["docker", "virtual machines"]


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


def test_a_misspelt_word_is_read_as_the_nearest_that_the_courses_hold() -> None:
    known = {"what", "circuit", "breaker"}

    def weigh(term: str) -> float:
        return 1.0 if term in known else 9.0

    question = "What is a circit braker in Raft by Ethanol?"

    said = corrected(question, weigh, CATALOGUE, ())

    assert said == "What is a circuit breakers in Raft by Ethanol?"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("wat is teh first leson of Practcal Retreival", "what is the first lesson of practical retrieval"),
        ("whcih cource covers sagas", "which course covers sagas"),
        ("who teachs langauge modles and tols", "who teaches language models and tools"),
        ("what do the callers of Wendy wait for", "what do the callers of Wendy wait for"),
        ("what does Coarse say", "what does Coarse say"),
    ],
)  # fmt: skip
def test_little_words_are_misspelt_like_long_ones_and_names_are_not(
    question: str, said: str
) -> None:
    known = {"practic", "inform", "retriev", "saga", "languag", "model", "tool", "wait"}

    def weigh(term: str) -> float:
        return 1.0 if term in known else 9.0

    assert corrected(question, weigh, CATALOGUE, ()) == said


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


LETTERS = st.text(
    alphabet="abe is of lesson course the and 1?.,:\"'\u2019\u00e9\u4e00",
    max_size=1_000,
)


@settings(max_examples=60, deadline=None)
@given(LETTERS)
def test_no_text_breaks_the_reading(text: str) -> None:
    understand(text, (text[::-1],), CATALOGUE, text)


@pytest.mark.parametrize(
    "hostile",
    [
        "the course " * 2_000,
        "lesson of the course about " * 1_000,
        "what comes after lesson " * 1_000,
        "and what is " * 2_000,
        "hello, " * 3_000,
        "is the first of the last of " * 1_000,
        "\u201c" * 20_000,
        "Language Models and Tools " * 1_000,
        "which course that " * 2_000,
        "look at lesson 1 of it. then " * 1_000,
        "see, then see, then see what, " * 1_000,
    ],
)
@pytest.mark.parametrize("catalogue", [EMPTY, CATALOGUE])
def test_reading_a_hostile_question_takes_no_time(
    hostile: str, catalogue: Catalogue
) -> None:
    start = time.process_time()

    understand(hostile, (hostile, hostile), catalogue, hostile)

    assert time.process_time() - start < 0.5


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How much does the course on event-driven systems cost?", "not_held"),
        ("Is there a certificate for the MCP course?", "not_held"),
        ("Is the retrieval course free?", "not_held"),
        ("What does the MCP course say about the cost of tokens?", "plain"),
        ("What does a retry cost?", "plain"),
        ("When does a circuit breaker start?", "plain"),
    ],
)
def test_what_no_catalogue_holds_is_told_from_what_courses_say(
    question: str, kind: str
) -> None:
    assert read(question).kind == kind


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


def test_the_lesson_after_the_introduction_is_the_second() -> None:
    asked = "In the session that Marta Lindqvist holds straight after her introduction, what does she show?"

    assert (read(asked).kind, read(asked).lesson) == ("lesson", 1)


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


@pytest.mark.parametrize(
    ("question", "topic", "by_lesson"),
    [
        ("url of the lesson w/ the hystrix defaults", "hystrix defaults", True),
        (
            "Could you let me know who gives the course in which the leak at Acme is discussed, as I want to meet her?",
            "leak at Acme is discussed",
            False,
        ),
        (
            "There's that course with the bikes all over the place. Who's doing it again?",
            "bikes all over the place",
            False,
        ),
        (
            "I have long texts and want to slice them. Where is that taught?",
            "I have long texts and want to slice them.",
            True,
        ),
        (
            "What is the opening lesson of the course in which musl comes up?",
            "musl",
            False,
        ),
    ],
)
def test_what_is_said_of_a_place_that_has_to_be_found_is_all_that_is_searched_for(
    question: str, topic: str, by_lesson: bool
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.by_lesson) == ("find", by_lesson)
    assert inquiry.topic == topic


def test_in_charge_of_a_course_is_who_teaches_it() -> None:
    inquiry = read("What course is Marta Lindqvist in charge of?")

    assert (inquiry.kind, inquiry.course) == ("outline", EVENTS)


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
