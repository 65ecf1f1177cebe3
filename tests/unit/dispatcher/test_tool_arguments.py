"""Arguments are the model's: they may be anything, and what is wrong with them is said in a few words."""

from __future__ import annotations

import enum
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.dispatcher import tool_from_function
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import ToolFailed, ToolStarted
from tests.unit.dispatcher.fakes import Session


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


async def paint(
    what: str,
    colour: Colour = Colour.RED,
    coats: int = 1,
    gloss: float | None = None,
    how: Literal["brush", "spray"] = "brush",
    tags: list[str] = [],  # noqa: B006 - never changed
    dry: bool = False,
) -> str:
    """Paints something."""
    return f"{what} {colour.name} {coats} {gloss} {how} {tags} {dry}"


PAINT = tool_from_function(paint)


async def refusal(arguments: str) -> str:
    session = Session(PAINT)
    outcome = await session.call("paint", arguments)
    assert isinstance(outcome, ToolFailed)
    assert outcome.failure == "invalid_arguments"
    assert session.heard(ToolStarted) == []
    return outcome.detail


async def test_arguments_come_as_the_types_of_the_function() -> None:
    given_arguments = PAINT.parameters.read(
        '{"what": "wall", "colour": "blue", "coats": 2, "gloss": null, "how": "spray", "tags": ["a"], "dry": true}'
    )

    assert given_arguments == {
        "what": "wall", "colour": Colour.BLUE, "coats": 2, "gloss": None, "how": "spray", "tags": ["a"], "dry": True,
    }  # fmt: skip


def test_what_is_not_given_is_left_to_the_function_and_why_is_not_passed_on() -> None:
    assert PAINT.parameters.read('{"what": "wall", "why": "it is grey"}') == {
        "what": "wall"
    }


def test_a_function_that_takes_why_itself_is_given_it() -> None:
    async def ask(why: str) -> str:
        """Asks."""
        return why

    assert tool_from_function(ask).parameters.read('{"why": "x"}') == {"why": "x"}


def test_no_arguments_at_all_are_an_empty_object() -> None:
    async def ping() -> str:
        """Pings."""
        return "pong"

    assert tool_from_function(ping).parameters.read(" ") == {}


async def test_each_wrong_argument_is_named_with_what_was_wanted_and_found() -> None:
    detail = await refusal(
        '{"coats": "many", "colour": "green", "tags": [1], "brand": "x"}'
    )

    assert detail == (
        "paint: what: is required and was not given; "
        "colour: wanted 'red' or 'blue', found 'green'; "
        "coats: wanted a valid integer, unable to parse string as an integer, found 'many'; "
        "tags.0: wanted a valid string, found 1; "
        "brand: is not an argument of this tool, which takes what, colour, coats, gloss, how, tags, dry, why."
    )


@pytest.mark.parametrize(
    "arguments",
    [
        '{"what": "wa',
        "nonsense",
        "[" * 90_000,
        '{"what": "\\ud800"}',
        f'{{"what": "x", "coats": {"9" * 50_000}}}',
        '{"what": "x", "gloss": NaN}',
        '{"what": "x", "gloss": 1e999}',
        "null",
        "[1, 2]",
        '"what"',
        f'{{"{"k" * 90_000}": 1}}',
        "{" + ",".join(f'"k{n}": 1' for n in range(5_000)) + "}",
        f'{{"what": {{"a": "{"x" * 90_000}"}}}}',
        '{"what": "' + "x" * 200_000 + '"}',
    ],
)
async def test_hostile_arguments_are_refused_in_few_words(arguments: str) -> None:
    assert len(await refusal(arguments)) < 1_500


@given(st.text(max_size=200))
def test_any_text_is_either_read_or_refused(arguments: str) -> None:
    try:
        said = str(PAINT.parameters.read(arguments))
    except BadInputError as error:
        said = str(error)

    assert len(said) < 1_500


async def test_an_unknown_tool_is_refused_with_the_names_of_those_there_are() -> None:
    async def hidden() -> str:
        """Is only a substitute."""
        return ""

    session = Session(PAINT, tool_from_function(hidden, offered=False))
    session.request("t1", "p" * 5_000)
    session.request("t2", "hidden")

    unknown, not_offered = session.heard(ToolFailed)
    assert unknown.failure == not_offered.failure == "unknown_tool"
    assert (
        not_offered.detail == "There is no tool named 'hidden'. The tools are: paint."
    )
    assert len(unknown.detail) < 200
