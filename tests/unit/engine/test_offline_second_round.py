"""Which tools the offline reasoner asks for in the second round."""

from __future__ import annotations

from antiphon.engine.offline.catalogue import EMPTY
from tests.unit.engine.briefings import (
    CATALOGUE,
    EVENTS,
    RETRIEVAL,
    attempt,
    outline,
    source,
)
from tests.unit.engine.planned import outlined, planned, search

LOOK_UP = f"Which other course treats the topic of lesson 1 of {EVENTS}?"


def test_the_course_that_speaks_of_what_none_is_called_is_asked_for_its_outline() -> (
    None
):
    question = "Who teaches the graph search course?"
    refused = attempt(
        1,
        "failed",
        "get_course_outline",
        course_name="graph search",
        detail="No course named 'x'.",
    )
    found = source(f"{RETRIEVAL} - Lesson 2", "HNSW is a way of graph search.")
    done = attempt(query="graph search", facts=(1,))

    calls = planned(question, found, attempts=(refused, done))

    assert calls == [outlined(RETRIEVAL)]


def test_and_then_searches_all_other_courses_and_never_the_same() -> None:
    found = source(f"{EVENTS} - Lesson 1", "A log keeps messages.", title="Broker")
    attempts = (
        attempt(tool="get_course_outline", course_name=EVENTS, facts=(1,)),
        attempt(query="Broker", course_name=EVENTS, lesson_number=1, facts=(2,)),
    )

    calls = planned(
        LOOK_UP, outline(EVENTS, "Broker Queues and Logs"), found, attempts=attempts
    )

    query = "Broker Queues and Logs Broker A log keeps messages."
    places = [arguments.get("course_name") for _, arguments in calls]
    others = {each.title for each in CATALOGUE.courses} - {EVENTS}
    assert [arguments["query"] for _, arguments in calls[1:]] == [query] * 6
    assert places[:2] == [None, None]
    assert set(places[2:]) == others


def test_where_a_second_course_is_named_that_one_alone_is_searched() -> None:
    question = "The topic of lesson 2 of Event-Driven Systems comes up again in the course about models. What is said?"
    done = attempt(
        tool="get_course_outline", course_name="Event-Driven Systems", facts=(1,)
    )

    calls = planned(
        question,
        outline("Event-Driven Systems", "Queues", "Bounded Logs"),
        attempts=(done,),
        catalogue=EMPTY,
    )

    assert calls == [search("Bounded Logs", course_name="models")]


def test_a_course_that_is_known_by_what_it_teaches_is_found_first() -> None:
    question = "Who teaches the course that explains HNSW?"
    found = source(f"{RETRIEVAL} - Lesson 2", "HNSW is a graph.")
    done = attempt(query="HNSW", facts=(1,))

    assert planned(question) == [search("HNSW")]
    assert planned(question, found, attempts=(done,)) == [outlined(RETRIEVAL)]


def test_a_second_search_follows_the_best_passage_of_the_first() -> None:
    question = "Where was the author of the log article born?"
    found = source("C - Lesson 1", "Jay Kreps wrote the article on logs.", title="Logs")

    calls = planned(question, found, attempts=(attempt(query=question, facts=(1,)),))

    assert calls == [search(f"{question} Logs Jay Kreps wrote the article on logs.")]


def test_the_catalogue_is_asked_in_the_second_round_for_what_texts_may_not_say() -> (
    None
):
    question = (
        f"At which address does my deputy read up on the whole {RETRIEVAL} course?"
    )
    found = source(f"{RETRIEVAL} - Lesson 2", "It is called k1.", title="BM25")
    done = attempt(query=question, course_name=RETRIEVAL, facts=(1,))

    calls = planned(question, found, attempts=(done,))

    assert [name for name, _ in calls] == [
        "search_course_content",
        "get_course_outline",
    ]
    assert calls[1] == outlined(RETRIEVAL)


def test_a_second_search_keeps_the_place_of_the_first() -> None:
    question = f"In lesson 2 of {RETRIEVAL}, what is the saturation parameter?"
    topic = "what is the saturation parameter?"
    found = source(f"{RETRIEVAL} - Lesson 2", "It is called k1.", title="BM25")
    done = attempt(query=topic, course_name=RETRIEVAL, lesson_number=2, facts=(1,))

    calls = planned(question, found, attempts=(done,))

    assert calls == [
        search(f"{topic} BM25 It is called k1.", course_name=RETRIEVAL, lesson_number=2)
    ]


def test_a_search_that_brought_all_is_followed_by_the_answer() -> None:
    question = "How does Raft elect its leader?"
    good = source("C - Lesson 1", "Raft elects its leader by votes.")

    assert (
        planned(question, good, attempts=(attempt(query=question, facts=(1,)),)) == []
    )


def test_a_course_that_was_not_found_is_given_up() -> None:
    failed = attempt(outcome="failed", query="what is a saga?", course_name="cooking")
    question = "In the cooking course, what is a saga?"

    assert planned(question, attempts=(failed,), catalogue=EMPTY) == [
        search("what is a saga?")
    ]


def test_there_is_no_third_round_and_no_call_is_made_twice() -> None:
    question = "What is a saga?"
    found = source("C - Lesson 1", "Nobody knows.", title="Tales")
    first = attempt(1, query=question, facts=(1,))
    second = attempt(2, query=f"{question} Tales Nobody knows.", facts=(1,))

    assert planned(question, found, attempts=(first,)) == [
        search(f"{question} Tales Nobody knows.")
    ]
    assert planned(question, found, attempts=(first, second)) == []
    assert planned(question, attempts=(attempt(1, "nothing", query=question),)) == []


def test_the_outline_of_a_course_that_does_not_exist_is_not_searched_for_elsewhere() -> (
    None
):
    tried = attempt(
        1,
        "failed",
        "get_course_outline",
        course_name="Basket Weaving",
        detail="No course named 'x'.",
    )

    assert planned("Give me the outline of Basket Weaving", attempts=(tried,)) == []


def test_what_answers_one_of_two_questions_is_found_again_beside_what_follows() -> None:
    # The first is answered by what was found; the second leads on.
    question = "What is a saga? How do the lovely new brokers of the harbour keep their many orders?"
    saga = source(f"{EVENTS} - Lesson 2", "A saga is a chain of steps.", title="Sagas")
    broker = source(f"{EVENTS} - Lesson 1", "A broker keeps orders.", title="Brokers")
    first = "What is a saga?"
    second = "How do the lovely new brokers of the harbour keep their many orders?"
    attempts = (
        attempt(query=first, facts=(1,)),
        attempt(query=second, facts=(2,)),
    )

    calls = planned(question, saga, broker, attempts=attempts)

    queries = [str(arguments["query"]) for _, arguments in calls]
    assert len(queries) == 2
    assert queries[0].startswith(f"{second} Brokers")
    assert queries[1] == f"{first} Sagas A saga is a chain of steps."


def test_nothing_is_found_again_where_both_questions_are_answered() -> None:
    saga = source(f"{EVENTS} - Lesson 2", "A saga is a chain of steps.", title="Sagas")
    broker = source(f"{EVENTS} - Lesson 1", "A broker keeps orders.", title="Brokers")
    attempts = (
        attempt(query="What is a saga?", facts=(1,)),
        attempt(query="What is a broker?", facts=(2,)),
    )

    question = "What is a saga? What is a broker?"
    assert planned(question, saga, broker, attempts=attempts) == []
