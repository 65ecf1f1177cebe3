"""Every snippet of docs/tools.md runs, and does what the page says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from antiphon.dispatcher import Tool, tool_from_function
from antiphon.vocabulary.events import ToolFailed, ToolSubstituted, ToolSucceeded
from tests.unit.dispatcher.fakes import Session

GUIDE = Path(__file__).parents[3] / "docs" / "tools.md"
SNIPPETS = re.findall(
    r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL
)


def run_snippet(defines: str) -> dict[str, Any]:
    """The names that the snippet with `defines` in it leaves behind."""
    (snippet,) = [snippet for snippet in SNIPPETS if defines in snippet]
    names: dict[str, Any] = {"__name__": "my_tools"}
    exec(compile(snippet, "docs/tools.md", "exec"), names)
    return names


def tool(name: str) -> Tool:
    return tool_from_function(run_snippet(f"def {name}(")[name])


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        (
            "room_of",
            {"course": "Search", "why": "asked"},
            "It meets on Monday and Thursday.",
        ),
        (
            "free_places",
            {"course": "Search", "term": "autumn", "at_least": 10},
            '"lecture": 40',
        ),
        ("free_places", {"course": "Search", "kinds": ["exercise"]}, '"exercise": 3'),
        ("notices", {"topic": "ranking"}, "12 June"),
        ("library_hours", {"day": "Friday"}, "On Friday the library is open"),
    ],
)
async def test_the_tools_of_the_guide_answer(
    name: str, arguments: dict[str, object], says: str
) -> None:
    outcome = await Session(tool(name)).call(name, json.dumps(arguments))

    assert isinstance(outcome, ToolSucceeded)
    assert says in outcome.output.text
    assert any(says in passage.text.text for passage in outcome.passages)


async def test_limits_in_the_type_are_told_to_the_model() -> None:
    outcome = await Session(tool("free_places")).call(
        "free_places", '{"course": "Search", "at_least": 0}'
    )

    assert isinstance(outcome, ToolFailed)
    assert "at_least: wanted greater than or equal to 1, found 0" in outcome.detail


@pytest.mark.parametrize(
    ("student", "failure"), [("1234567", "not_found"), ("Ada", "invalid_arguments")]
)
async def test_the_two_errors_of_the_guide_are_told_apart(
    student: str, failure: str
) -> None:
    outcome = await Session(tool("grade_of")).call(
        "grade_of", json.dumps({"student": student})
    )

    assert isinstance(outcome, ToolFailed)
    assert outcome.failure == failure


async def test_the_substitute_of_the_guide_stands_in() -> None:
    session = Session(*run_snippet("TOOLS = [")["TOOLS"])

    outcome = await session.call("live_timetable", '{"course": "Search"}')

    assert isinstance(outcome, ToolSucceeded)
    assert outcome.output.text == "Search meets on Mondays at ten."
    assert session.heard(ToolSubstituted)[0].arguments == '{"title": "Search"}'


async def test_a_call_of_the_guide_that_is_made_again_with_its_key_does_nothing_twice() -> (
    None
):
    names = run_snippet("async def enrol")
    first, again = Session(names["ENROL"]), Session(names["ENROL"])

    said = [
        await each.call("enrol", '{"course": "Search", "student": "1234567"}')
        for each in (first, again)
    ]

    assert [each.output.text for each in said if isinstance(each, ToolSucceeded)] == [
        "1234567 has place 1 in Search."
    ] * 2
    assert len(names["places"]) == 1
    assert "request" not in names["ENROL"].schema["properties"]


async def test_the_search_of_the_guide_brings_in_a_second_round_what_is_new() -> None:
    session = Session(run_snippet("async def find_notes")["FIND_NOTES"])
    session.request("t1", "find_notes", '{"word": "room"}')
    await session.done()
    session.confirm("t1")

    session.request("t2", "find_notes", '{"word": "exam"}', round_number=2)
    await session.done()

    found = [each.output.text for each in session.heard(ToolSucceeded)]
    assert found == ["The exam is in room 3.", "The exam has two parts."]


def test_every_snippet_is_run_here() -> None:
    tried = (
        *("room_of", "free_places", "notices", "grade_of", "live_timetable"),
        *("enrol", "find_notes", "library_hours"),
    )

    assert [
        name
        for name, snippet in zip(tried, SNIPPETS, strict=True)
        if f"def {name}(" not in snippet
    ] == []
