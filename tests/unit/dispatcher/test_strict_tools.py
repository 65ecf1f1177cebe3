"""A strict tool's schema is one by which arguments can be constrained; examples are calls as they should be."""

from __future__ import annotations

import enum
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Annotated, Any, Literal

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ConfigDict, Field

from antiphon.dispatcher import Registry, Tool, course_tools, tool_from_function
from antiphon.vocabulary.errors import BadInputError, ToolDefinitionError
from antiphon.vocabulary.ports import Json
from tests.unit.dispatcher.fakes import FakeLibrary

SUPPORTED = {
    "type", "description", "enum", "const", "anyOf", "allOf", "items", "properties", "required",
    "additionalProperties", "minItems", "format",
}  # fmt: skip


class Shore(enum.Enum):
    NORTH = "north"
    SOUTH = "south"


class Spot(BaseModel):
    shore: Shore = Shore.NORTH
    metres: Annotated[float, Field(gt=0, description="From the pier.")]


async def measure(
    lake: Annotated[str, Field(min_length=1, max_length=80)],
    spots: Annotated[list[Spot], Field(min_length=2, max_length=9)],
    times: Annotated[int, Field(ge=1, le=5)] = 1,
    unit: Literal["metres", "feet"] | None = None,
    day: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")] | None = None,
) -> str:
    """Measures how deep a lake is.

    Args:
        lake: Its name.
        times: How often.
    """
    return f"{lake} {spots} {times} {unit} {day}"


def definitions(*tools: Tool) -> list[Json]:
    written: list[Json] = json.loads(Registry(tools).definitions().text)
    return written


def schemas_in(schema: Json) -> Iterator[Json]:
    yield schema
    below = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    if "items" in schema:
        below.append(schema["items"])
    for each in below:
        yield from schemas_in(each)


def test_a_strict_tool_says_so_with_its_examples_and_a_plain_one_says_nothing() -> None:
    example = {"lake": "Thun", "spots": [{"metres": 1.5}, {"metres": 2}]}
    strict = tool_from_function(measure, strict=True, examples=(example,))
    plain = tool_from_function(measure, name="plain")

    first, second = definitions(strict, plain)

    assert (first["strict"], first["input_examples"]) == (True, [example])
    assert set(second) == {"name", "description", "input_schema"}
    assert definitions(strict) == definitions(strict)


def test_no_keyword_that_strict_use_refuses_is_left_in_a_strict_schema() -> None:
    (definition,) = definitions(tool_from_function(measure, strict=True))

    for schema in schemas_in(definition["input_schema"]):
        assert set(schema) <= SUPPORTED
        assert schema.get("minItems", 1) in (0, 1)
        if schema.get("type") == "object":
            assert schema["additionalProperties"] is False


def test_bounds_of_a_strict_tool_are_told_in_words_and_still_checked() -> None:
    tool = tool_from_function(measure, strict=True)

    properties = tool.schema["properties"]
    spot = properties["spots"]["items"]["properties"]
    assert properties["lake"]["description"] == "Its name. 1 to 80 characters."
    assert properties["spots"]["description"] == "2 to 9 items."
    assert properties["times"]["description"] == (
        "How often. 1 to 5. Where it is left out: 1."
    )
    assert spot["shore"]["enum"] == ["north", "south"]
    assert spot["metres"]["description"] == "From the pier. More than 0."
    assert "regular expression" in properties["day"]["description"]
    with pytest.raises(BadInputError, match="times: wanted less than or equal to 5"):
        tool.parameters.read(
            '{"lake": "x", "spots": [{"metres": 1}, {"metres": 2}], "times": 6}'
        )


class Branch(BaseModel):
    branches: list[Branch] = []


class Anything(BaseModel):
    model_config = ConfigDict(extra="allow")


async def recursive(tree: Branch) -> str:
    """Takes what holds itself."""
    return str(tree)


async def mapping(marks: dict[str, int]) -> str:
    """Takes any keys."""
    return str(marks)


async def open_model(marks: list[Anything]) -> str:
    """Takes any keys beside its own."""
    return str(marks)


async def pair(both: tuple[int, str]) -> str:
    """Takes a tuple."""
    return str(both)


async def unsaid(value: Any) -> str:
    """Takes anything."""
    return str(value)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (recursive, "tree is of a type that holds itself; write out how deep it goes"),
        (mapping, "marks takes an object with any keys; name them"),
        (open_model, "marks takes an object with any keys; name them"),
        (pair, "both takes a list of anything, or a tuple; write a list of one type"),
        (unsaid, "value takes anything; give it a type"),
    ],
)
def test_a_tool_that_cannot_be_strict_is_refused_with_what_to_change(
    function: Callable[..., Awaitable[object]], says: str
) -> None:
    tool_from_function(function)

    with pytest.raises(
        ToolDefinitionError, match=f"{says}.*, or make the tool not strict"
    ):
        tool_from_function(function, strict=True)


@pytest.mark.parametrize(
    ("example", "says"),
    [
        ({}, "example 2 shows: lake: is required and was not given"),
        ({"lake": "Thun", "times": "4"}, "times: wanted a valid integer, found '4'"),
        ({"lake": "Thun", "depth": 3}, "depth: is not an argument of this tool"),
        ({"lake": "Thun", "times": {1}}, "cannot be written as JSON"),
    ],
)
def test_an_example_that_is_no_call_of_the_tool_is_refused(
    example: Json, says: str
) -> None:
    async def visit(lake: str, times: int = 1) -> str:
        """Visits a lake."""
        return lake * times

    with pytest.raises(ToolDefinitionError, match=says):
        tool_from_function(visit, examples=({"lake": "Thun"}, example))


def test_the_course_tools_are_strict_and_their_examples_fit_what_is_shown() -> None:
    for definition in definitions(*course_tools(FakeLibrary())):
        validator = Draft202012Validator(definition["input_schema"])

        assert definition["strict"] is True
        assert 2 <= len(definition["input_examples"]) <= 3
        for example in definition["input_examples"]:
            validator.validate(example)
        for schema in schemas_in(definition["input_schema"]):
            assert set(schema) <= SUPPORTED
