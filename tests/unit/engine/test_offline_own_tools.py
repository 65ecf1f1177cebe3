"""Which of the user's own tools the offline reasoner calls, and when."""

from __future__ import annotations

import pytest

from antiphon.vocabulary.ports import Json
from tests.unit.engine.briefings import (
    OUTLINE,
    SEARCH,
)
from tests.unit.engine.planned import planned

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


def test_only_offered_tools_are_called() -> None:
    assert planned("What is a saga?", tools=(OUTLINE,)) == []
    assert planned("Give me the outline of Tools and Models.", tools=(SEARCH,)) == []
    assert planned("What is a saga?", tools=()) == []


def test_another_tool_is_used_where_its_description_fits_and_one_text_is_enough() -> (
    None
):
    question = "What will the weather be?"

    assert planned(question, tools=(STOCKS, TWO_NEEDED, WEATHER)) == [
        ("weather", {"place": question})
    ]
    assert planned("Who won?", tools=(STOCKS, WEATHER)) == []


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

    assert [name for name, _ in calls[:-1]] == ["search_course_content"] * 2
    assert calls[-1] == ("room_of", {"course": "Retrieval in Small"})


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


def test_a_topic_is_what_the_question_is_about() -> None:
    calls = planned("Are there notices on logs?", tools=(SEARCH, NOTICES))

    assert [name for name, _ in calls] == ["search_course_content", "notices"]
    assert "logs" in str(calls[1][1]["topic"])
