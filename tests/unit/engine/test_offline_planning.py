"""Which tools the offline reasoner asks for."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.engine.offline.catalogue import EMPTY, Catalogue
from antiphon.engine.offline.planning import plan
from antiphon.engine.offline.reading import read_task
from antiphon.vocabulary.ports import Json
from tests.unit.engine.briefings import (
    CATALOGUE,
    OUTLINE,
    SEARCH,
    attempt,
    briefing,
    outline,
    source,
)

Calls = list[tuple[str, dict[str, object]]]


def planned(
    question: str, *sources: Json, catalogue: Catalogue = CATALOGUE, **more: Any
) -> Calls:
    task = read_task(briefing(question, *sources, **more))
    calls = plan(task._replace(catalogue=catalogue))
    assert all(call.arguments["why"] for call in calls)
    return [
        (call.tool, {k: v for k, v in call.arguments.items() if k != "why"})
        for call in calls
    ]


def search(query: str, **filters: object) -> tuple[str, dict[str, object]]:
    return "search_course_content", {"query": query, **filters}


def outlined(course: str) -> tuple[str, dict[str, object]]:
    return "get_course_outline", {"course_name": course}


EVENTS = "Event-Driven Systems from First Principles"
MODELS = "Language Models and Tools"
RETRIEVAL = "Practical Information Retrieval"
RELIABILITY = "Reliability Engineering for Services"


@pytest.mark.parametrize(
    ("question", "course"),
    [
        ("What lessons does Practical Information Retrieval have?", RETRIEVAL),
        ("Give me the outline of Language Models and Tools.", MODELS),
        ("Who teaches Reliability Engineering for Services?", RELIABILITY),
        ("How many lessons are there in the course on event-driven systems?", EVENTS),
        ("I would like the table of contents of the reliability course.", RELIABILITY),
        ('What is the syllabus of the course "Language Models and Tools"?', MODELS),
        ("who teaches the langauge models course", MODELS),
        ("What is the last lesson of the PIR course called?", RETRIEVAL),
        ("Give me the link of lesson 2 of Language Models and Tools", MODELS),
        ("What is the title of lesson two of Practical Information Retrieval?", RETRIEVAL),
        ("What comes after Circuit Breakers in the lessons?", RELIABILITY),
        ("What was covered in lesson 12 of Practical Information Retrieval?", RETRIEVAL),
        ("Who is Daniel Okonjo?", RETRIEVAL),
    ],
)  # fmt: skip
def test_a_question_that_the_catalogue_answers_asks_for_the_outline(
    question: str, course: str
) -> None:
    assert planned(question) == [outlined(course)]


def test_a_name_that_no_course_has_is_left_to_the_outline_tool_and_searched_for() -> (
    None
):
    assert planned("Give me the outline of Basket Weaving.") == [
        outlined("Basket Weaving"),
        search("Basket Weaving"),
    ]


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


@pytest.mark.parametrize(
    "question",
    ["List all courses.", "How many courses are there?", "Which courses do you have?"],
)
def test_all_courses_are_asked_for_by_the_outline_tool_without_a_name(
    question: str,
) -> None:
    optional = OUTLINE | {"input_schema": OUTLINE["input_schema"] | {"required": []}}

    assert planned(question, tools=(optional, SEARCH)) == [("get_course_outline", {})]


def test_where_the_outline_tool_must_have_a_name_each_course_is_asked_for() -> None:
    calls = planned("List all courses.")

    assert calls == [outlined(each.title) for each in CATALOGUE.courses]


def test_a_plain_question_is_searched_as_it_is() -> None:
    assert planned("Who came up with sagas, and when?") == [
        search("Who came up with sagas, and when?")
    ]


@pytest.mark.parametrize(
    "question",
    [
        "What did President Biden sign?",
        "Who is Kim Jong-chul?",
        "What does Apache Kafka keep in New York City?",
        "How reliable is an inverted index?",
        "Which golf course did Alister MacKenzie design?",
    ],
)
def test_a_name_that_is_no_course_stays_in_the_query_and_is_no_filter(
    question: str,
) -> None:
    ((tool, arguments), *_) = planned(question)

    assert (tool, arguments) == ("search_course_content", {"query": question})


def test_a_question_naming_a_course_is_searched_there() -> None:
    question = "In the event-driven course, what becomes of extra group members?"

    assert planned(question) == [
        search("what becomes of extra group members?", course_name=EVENTS)
    ]


def test_the_course_of_a_teacher_is_named_by_the_teacher() -> None:
    question = "In the course that Daniel Okonjo teaches, what is said about pooling?"

    assert planned(question) == [
        search("what is said about pooling?", course_name=RETRIEVAL)
    ]


@pytest.mark.parametrize("named", ["lesson 3", "lesson three", "the last lesson"])
def test_a_question_about_one_lesson_is_searched_in_that_lesson(named: str) -> None:
    question = (
        f"According to {named} of {RETRIEVAL}, whose experiments set the pattern?"
    )

    ((tool, arguments),) = planned(question)

    assert tool == "search_course_content"
    assert "whose experiments set the pattern?" in str(arguments["query"])
    assert (arguments["course_name"], arguments["lesson_number"]) == (RETRIEVAL, 3)


@pytest.mark.parametrize(
    "question",
    [
        "What was covered in lesson 2 of Practical Information Retrieval?",
        "Summarize lesson 2 of Practical Information Retrieval.",
        "What is the second lesson of the information retrieval course about?",
        "Summarise the lesson Ranking with BM25",
    ],
)
def test_a_whole_lesson_is_searched_by_its_title_and_named_by_the_outline(
    question: str,
) -> None:
    assert planned(question) == [
        outlined(RETRIEVAL),
        search("Ranking with BM25", course_name=RETRIEVAL, lesson_number=2),
    ]


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("What is the difference between retries and timeouts?", [search("retries"), search("timeouts")]),
        ("Compare BM25 with embeddings: which is better?", [search("BM25"), search("embeddings")]),
        ("Queues versus logs?", [search("Queues"), search("logs")]),
        ("Is the recall of an index the same thing as the recall of a judge?",
         [search("recall of an index"), search("recall of a judge")]),
        (f"What is the difference between backpressure as taught in {EVENTS} and shedding as taught in {RELIABILITY}?",
         [search("backpressure", course_name=EVENTS), search("shedding", course_name=RELIABILITY)]),
        ("Compare lesson 1 and lesson 2 of the reliability course.",
         [search("Timeouts and Deadlines", course_name=RELIABILITY, lesson_number=1),
          search("Circuit Breakers", course_name=RELIABILITY, lesson_number=2)]),
    ],
)  # fmt: skip
def test_a_comparison_searches_both_sides_in_one_round(
    question: str, sides: Calls
) -> None:
    assert planned(question) == sides


def test_several_questions_are_each_planned_in_one_round() -> None:
    question = "What is jitter and how does BM25 rank? Who teaches the MCP course?"

    assert planned(question) == [
        search("What is jitter"),
        search("how does BM25 rank?"),
        outlined("MCP: Build Rich-Context Apps"),
    ]


LOOK_UP = f"Which other course treats the topic of lesson 1 of {EVENTS}?"


def test_a_look_up_asks_for_the_outline_and_for_what_the_lesson_says() -> None:
    assert planned(LOOK_UP) == [
        outlined(EVENTS),
        search("Broker Queues and Logs", course_name=EVENTS, lesson_number=1),
    ]


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
    question = f"I would like to send my deputy the address of the whole {RETRIEVAL} course, where possible"
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


@pytest.mark.parametrize(
    ("earlier", "question", "calls"),
    [
        ("Which lessons does Event-Driven Systems have?", "And the second one?", [outlined(EVENTS)]),
        ("Who teaches the MCP course?", "And the retrieval in small one?", [outlined("Retrieval in Small")]),
        ("Who teaches the MCP course?", "How many lessons does it have?", [outlined("MCP: Build Rich-Context Apps")]),
        ("What is jitter?", "What is a circuit breaker?", [search("What is a circuit breaker?")]),
        (f"In {RETRIEVAL}, what is pooling?", "Why is it done?",
         [search("what is pooling? Why is it done?", course_name=RETRIEVAL)]),
        (f"Summarize lesson 1 of {RETRIEVAL}", "And lesson 2?",
         [outlined(RETRIEVAL), search("Ranking with BM25", course_name=RETRIEVAL, lesson_number=2)]),
    ],
)  # fmt: skip
def test_a_follow_up_is_understood_with_the_question_before_it(
    earlier: str, question: str, calls: Calls
) -> None:
    assert planned(question, earlier=earlier) == calls


def test_only_offered_tools_are_called() -> None:
    assert planned("What is a saga?", tools=(OUTLINE,)) == []
    assert planned("Give me the outline of Tools and Models.", tools=(SEARCH,)) == []
    assert planned("What is a saga?", tools=()) == []


@pytest.mark.parametrize(
    "words", ["Hello!", "thanks", "Good morning", "Who are you?", "what can you do"]
)
def test_a_greeting_needs_no_tool(words: str) -> None:
    assert planned(words) == []


WEATHER: Json = {
    "name": "weather",
    "description": "The weather forecast of a city.",
    "input_schema": {
        "type": "object",
        "properties": {"place": {"type": "string"}, "why": {"type": "string"}},
        "required": ["place"],
    },
}
STOCKS: Json = WEATHER | {"name": "stocks", "description": "The price of a share."}
TWO_NEEDED: Json = {
    "name": "forecast",
    "description": "The weather forecast, what will the weather be.",
    "input_schema": {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a", "b"],
    },
}


def test_another_tool_is_used_where_its_description_fits_and_one_text_is_enough() -> (
    None
):
    question = "What will the weather be?"

    assert planned(question, tools=(STOCKS, TWO_NEEDED, WEATHER)) == [
        ("weather", {"place": question})
    ]
    assert planned("Who won?", tools=(STOCKS, WEATHER)) == []


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


def own(name: str, description: str, *required: str, **types: object) -> Json:
    """The definition of a tool of the user's own, whose parameters are texts unless they say otherwise."""
    properties: Json = {"why": {"type": "string"}}
    for parameter in required:
        properties[parameter] = types.get(parameter, {"type": "string"})
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": description, "input_schema": schema}


ROOM = own(
    "room_of",
    "Says in which room a course is taught.\n\nUse it for questions about where or when a course meets, not about what "
    "it teaches.",
    "course",
)
NOTICES = own("notices", "Finds the notices on the board about a topic.", "topic")


@pytest.mark.parametrize(
    "question",
    [
        "In which room is Retrieval in Small taught?",
        "What room is Retrieval in Small in?",
        "Which room does the course Retrieval in Small use?",
        "Where does Retrieval in Small meet?",
        "When does the course Retrieval in Small meet?",
        "On which days does Retrieval in Small meet?",
        "Tell me the room of Retrieval in Small.",
    ],
)
def test_a_tool_of_the_users_own_is_called_beside_the_search_where_its_words_fit(
    question: str,
) -> None:
    calls = planned(question, tools=(OUTLINE, SEARCH, ROOM, NOTICES))

    assert calls[0][0] == "search_course_content"
    assert calls[1:] == [("room_of", {"course": "Retrieval in Small"})]


def test_a_topic_is_what_the_question_is_about() -> None:
    calls = planned("Are there notices on logs?", tools=(SEARCH, NOTICES))

    assert [name for name, _ in calls] == ["search_course_content", "notices"]
    assert "logs" in str(calls[1][1]["topic"])


@pytest.mark.parametrize(
    ("question", "tool"),
    [
        ("What does Retrieval in Small teach about ranking?", ROOM),
        ("In which room do we meet?", ROOM),
        ("How do logs grow?", NOTICES),
        (
            "In which room is Retrieval in Small taught?",
            own("room_of", "Says the room of a course.", "student"),
        ),
        (
            "In which room is Retrieval in Small taught?",
            own("room_of", "Says a room.", "course", course={"type": "integer"}),
        ),
        (
            "In which room is Retrieval in Small taught?",
            own("room_of", "Says a room.", "course", "day"),
        ),
        (
            "Change the room of Retrieval in Small.",
            own(
                "change_room",
                "Changes a room.\n\nCalling it changes something outside.",
                "course",
            ),
        ),
    ],
)
def test_a_tool_that_does_not_fit_or_whose_arguments_are_not_known_is_left_alone(
    question: str, tool: Json
) -> None:
    calls = planned(question, tools=(OUTLINE, SEARCH, tool))

    assert tool["name"] not in [name for name, _ in calls]


def test_a_tool_with_effects_is_not_called_either_where_there_is_no_other() -> None:
    tool = own(
        "post_note", "Posts a note on logs.\n\nCalling it changes something outside.", "note"
    )  # fmt: skip

    assert planned("Is there a note on logs?", tools=(tool,)) == []
