"""Which tools the offline reasoner asks for."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.engine.offline.planning import plan
from antiphon.engine.offline.reading import read_task
from antiphon.vocabulary.ports import Json
from tests.unit.engine.briefings import (
    OUTLINE,
    SEARCH,
    attempt,
    briefing,
    outline,
    source,
)

Calls = list[tuple[str, dict[str, object]]]


def planned(question: str, *sources: Json, **more: Any) -> Calls:
    calls = plan(read_task(briefing(question, *sources, **more)))
    assert all(call.arguments["why"] for call in calls)
    return [
        (call.tool, {k: v for k, v in call.arguments.items() if k != "why"})
        for call in calls
    ]


def search(query: str, **filters: object) -> tuple[str, dict[str, object]]:
    return "search_course_content", {"query": query, **filters}


def outlined(course: str) -> tuple[str, dict[str, object]]:
    return "get_course_outline", {"course_name": course}


@pytest.mark.parametrize(
    ("question", "course"),
    [
        (
            "What lessons does Practical Information Retrieval have?",
            "Practical Information Retrieval",
        ),
        (
            "Give me the outline of Language Models and Tools.",
            "Language Models and Tools",
        ),
        (
            "Who teaches Reliability Engineering for Services?",
            "Reliability Engineering for Services",
        ),
        (
            "How many lessons are there in the course on event-driven systems?",
            "event-driven systems",
        ),
        (
            "I would like the table of contents of the reliability course.",
            "reliability",
        ),
        ('What is the syllabus of the course "MCP in Practice"?', "MCP in Practice"),
    ],
)
def test_a_question_about_a_courses_build_asks_for_its_outline(
    question: str, course: str
) -> None:
    assert planned(question) == [outlined(course)]


def test_a_plain_question_is_searched_as_it_is() -> None:
    assert planned("Who came up with sagas, and when?") == [
        search("Who came up with sagas, and when?")
    ]


def test_a_question_naming_a_course_is_searched_there() -> None:
    question = "In the event-driven course, what becomes of extra group members?"

    assert planned(question) == [
        search("what becomes of extra group members?", course_name="event-driven")
    ]


def test_a_question_about_one_lesson_is_searched_in_that_lesson() -> None:
    question = "According to lesson 7 of Practical Information Retrieval, whose experiments set the pattern?"

    course = "Practical Information Retrieval"
    assert planned(question) == [
        search(
            "whose experiments set the pattern?", course_name=course, lesson_number=7
        )
    ]


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("What is the difference between retries and timeouts?", [search("retries"), search("timeouts")]),
        ("Compare BM25 with embeddings: which is better?", [search("BM25"), search("embeddings")]),
        ("Queues versus logs?", [search("Queues"), search("logs")]),
        ("Is the recall of an index the same thing as the recall of a judge?",
         [search("recall of an index"), search("recall of a judge")]),
        ("What is the difference between backpressure as taught in Event-Driven Systems and shedding as taught in "
         "Tools and Models?",
         [search("backpressure", course_name="Event-Driven Systems"),
          search("shedding", course_name="Tools and Models")]),
    ],
)  # fmt: skip
def test_a_comparison_searches_both_sides_in_one_round(
    question: str, sides: Calls
) -> None:
    assert planned(question) == sides


def test_a_look_up_asks_for_the_outline_first() -> None:
    calls = planned(
        "Explain the topic of lesson 2 of Event-Driven Systems using another course."
    )

    assert calls[0] == outlined("Event-Driven Systems")


def test_and_then_searches_for_the_title_that_it_found() -> None:
    question = "The topic of lesson 2 of Event-Driven Systems comes up again in the course about models. What is said?"
    done = attempt(
        tool="get_course_outline", course_name="Event-Driven Systems", facts=(1,)
    )

    calls = planned(
        question,
        outline("Event-Driven Systems", "Queues", "Bounded Logs"),
        attempts=(done,),
    )

    assert calls == [search("Bounded Logs", course_name="models")]


def test_another_course_that_is_known_of_is_searched_for_it() -> None:
    question = (
        "Explain the topic of lesson 2 of Event-Driven Systems using another course."
    )
    done = attempt(
        tool="get_course_outline", course_name="Event-Driven Systems", facts=(1,)
    )
    other = source(
        "Reliability - Lesson 1", "As in Lesson 3 of Tools and Models, it matters."
    )

    calls = planned(
        question,
        outline("Event-Driven Systems", "Queues", "Bounded Logs"),
        other,
        attempts=(done,),
    )

    assert calls == [
        search("Bounded Logs", course_name="Reliability"),
        search("Bounded Logs", course_name="Tools and Models"),
    ]


def test_a_search_that_brought_little_is_tried_again_in_fewer_words() -> None:
    question = (
        "Can you please explain how the Raft consensus algorithm elects its leader?"
    )
    weak = source("C - Lesson 1", "A leader writes the log.")

    calls = planned(question, weak, attempts=(attempt(query=question, facts=(1,)),))

    assert calls == [search("raft consensus algorithm elects leader")]


def test_a_search_that_brought_enough_is_followed_by_the_answer() -> None:
    question = "How does Raft elect its leader?"
    good = source("C - Lesson 1", "Raft elects its leader by votes.")

    assert (
        planned(question, good, attempts=(attempt(query=question, facts=(1,)),)) == []
    )


def test_a_course_that_was_not_found_is_given_up() -> None:
    failed = attempt(outcome="failed", query="what is a saga?", course_name="cooking")

    assert planned("In the cooking course, what is a saga?", attempts=(failed,)) == [
        search("what is a saga?")
    ]


def test_there_is_no_third_round_and_no_call_is_made_twice() -> None:
    question = "What is a saga?"
    first, second = (
        attempt(1, "nothing", query=question),
        attempt(2, "nothing", query="saga"),
    )

    assert planned(question, attempts=(first,)) == [search("saga")]
    assert planned(question, attempts=(first, second)) == []
    assert planned("saga", attempts=(attempt(1, "nothing", query="saga"),)) == []


def test_a_follow_up_is_understood_with_the_question_before_it() -> None:
    calls = planned(
        "And the second one?", earlier="Which lessons does Event-Driven Systems have?"
    )

    assert calls == [outlined("Event-Driven Systems")]


def test_only_offered_tools_are_called() -> None:
    assert planned("What is a saga?", tools=(OUTLINE,)) == []
    assert planned("Give me the outline of Tools and Models.", tools=(SEARCH,)) == []
    assert planned("What is a saga?", tools=()) == []


@pytest.mark.parametrize("words", ["Hello!", "thanks", "Good morning"])
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
