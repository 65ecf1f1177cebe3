"""A plain function becomes a tool, or is refused with what to change."""

from __future__ import annotations

import enum
import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Literal, Optional

import pytest
from pydantic import Field

from antiphon.dispatcher import Registry, tool_from_function
from antiphon.vocabulary.errors import ToolDefinitionError


class Unit(enum.Enum):
    METRIC = "metric"
    IMPERIAL = "imperial"


async def lake_depth(
    lake: str,
    unit: Unit = Unit.METRIC,
    year: Annotated[int, Field(ge=1900)] | None = None,
    schema: Optional[Literal["a", "b"]] = None,  # noqa: UP045 - users write it so
    stations: list[int] = [],  # noqa: B006 - never changed
    *,
    _private: bool = False,
) -> str:
    """Says how deep a lake is.

    Use it for questions about depth.

    Args:
        lake: Its name,
            as on maps.
        unit (Unit): Metres or feet.
        year: Only this year.

    Returns:
        A sentence.

    Raises:
        KeyError: Never shown to the model.
    """
    return lake


def test_the_schema_says_what_the_function_takes() -> None:
    tool = tool_from_function(lake_depth)

    assert tool.name == "lake_depth"
    assert (
        tool.description
        == "Says how deep a lake is.\n\nUse it for questions about depth."
    )
    properties = tool.schema["properties"]
    assert properties["lake"] == {
        "type": "string",
        "description": "Its name, as on maps.",
    }
    assert properties["unit"]["description"] == "Metres or feet."
    assert properties["year"] == {
        "type": "integer",
        "minimum": 1900,
        "description": "Only this year.",
    }
    assert properties["schema"] == {"type": "string", "enum": ["a", "b"]}
    assert properties["stations"] == {
        "type": "array",
        "items": {"type": "integer"},
        "default": [],
    }
    assert properties["_private"] == {"type": "boolean", "default": False}
    assert properties["why"]["type"] == "string"
    assert tool.schema["required"] == ["lake"]
    assert tool.schema["additionalProperties"] is False
    assert tool.schema["$defs"]["Unit"]["enum"] == ["metric", "imperial"]


async def no_arguments() -> str:
    """Lists all lakes.

    Args:
        None.

    Note:
        Never shown to the model.
    """
    return ""


async def indented(
    lake: str, unit: Annotated[str, Field(description="Metres or feet.")] = "m"
) -> str:
    """Says how deep a lake is.
    It knows all: even small ones.

    Arguments:
      lake (str, optional): Its name: as on maps,

        or as people say it.

    Example:
        depth: 7
    """
    return lake + unit


def test_a_section_that_describes_no_argument_takes_nothing_from_the_description() -> (
    None
):
    tool = tool_from_function(no_arguments)

    assert tool.description == "Lists all lakes."
    assert set(tool.schema["properties"]) == {"why"}


async def further_on(lake: str, unit: str) -> str:
    """Says how deep a lake is.

    Args:
        lake: Its name.
            unit: a part of that name.
        unit is not described.

    Below its arguments, a docstring may go on:
        unit: no argument either.
    """
    return lake + unit


def test_only_what_is_indented_as_the_first_argument_describes_one() -> None:
    properties = tool_from_function(further_on).schema["properties"]

    assert properties["lake"]["description"] == "Its name. unit: a part of that name."
    assert "description" not in properties["unit"]


def test_a_description_of_several_lines_is_one_line_and_the_types_own_stands_where_there_is_none() -> (
    None
):
    tool = tool_from_function(indented)

    assert (
        tool.description == "Says how deep a lake is.\nIt knows all: even small ones."
    )
    properties = tool.schema["properties"]
    assert (
        properties["lake"]["description"]
        == "Its name: as on maps, or as people say it."
    )
    assert properties["unit"]["description"] == "Metres or feet."


def test_definitions_are_sorted_leave_out_what_is_not_offered_and_are_the_same_bytes_every_time() -> (
    None
):
    def registry(*names: str) -> Registry:
        hidden = tool_from_function(lake_depth, name="hidden", offered=False)
        return Registry(
            [hidden, *(tool_from_function(lake_depth, name=name) for name in names)]
        )

    definitions = registry("b", "a", "c").definitions()

    assert [tool["name"] for tool in json.loads(definitions.text)] == ["a", "b", "c"]
    assert set(json.loads(definitions.text)[0]) == {
        "name",
        "description",
        "input_schema",
    }
    assert definitions == registry("c", "b", "a").definitions()
    assert registry("b", "a").names == ("a", "b")


def test_two_tools_of_one_name_are_refused_naming_both() -> None:
    async def other() -> str:
        """Is another."""
        return ""

    with pytest.raises(
        ToolDefinitionError, match=r"'lake_depth'.*lake_depth and .*other; rename one"
    ):
        Registry(
            [
                tool_from_function(lake_depth),
                tool_from_function(other, name="lake_depth"),
            ]
        )


@pytest.mark.parametrize("substitute", ["sea_depth", "lake_depth"])
def test_a_substitute_must_be_another_tool_that_is_there(substitute: str) -> None:
    with pytest.raises(
        ToolDefinitionError, match=f"names '{substitute}' as its substitute"
    ):
        Registry([tool_from_function(lake_depth, substitutes=(substitute,))])


async def no_docstring() -> str:
    return ""


async def only_arguments(a: str) -> str:
    """Args:
    a: Something.
    """
    return a


async def untyped(a) -> str:  # type: ignore[no-untyped-def]  # wrong on purpose
    """Has an untyped parameter."""
    return str(a)


async def many(*words: str) -> str:
    """Takes any number."""
    return words[0]


async def anything(**words: str) -> str:
    """Takes any name."""
    return words["a"]


async def positional(a: str, /) -> str:
    """Takes one by position."""
    return a


async def unsayable(a: object, b: Callable[[], int]) -> str:
    """Takes what JSON cannot say."""
    return f"{a}{b}"


async def unknown_type(a: Missing) -> str:  # type: ignore[name-defined]  # noqa: F821 - wrong on purpose
    """Has a type that is nowhere."""
    return str(a)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (no_docstring, "no docstring"),
        (only_arguments, "no docstring"),
        (untyped, "does not say the type of a"),
        (many, r"takes \*words"),
        (anything, r"takes \*\*words"),
        (positional, "positional-only"),
        (unsayable, "b is of a type that JSON cannot say"),
        (unknown_type, "import it at the top of its module"),
    ],
)
def test_a_function_that_cannot_be_offered_is_refused_with_what_to_change(
    function: Callable[..., Awaitable[object]], says: str
) -> None:
    with pytest.raises(ToolDefinitionError, match=says):
        tool_from_function(function)


@pytest.mark.parametrize("name", ["", "a b", "dot.dot", "x" * 65, "naïve", "line\n"])
def test_a_name_that_the_api_would_refuse_is_refused(name: str) -> None:
    with pytest.raises(ToolDefinitionError, match="1 to 64 letters"):
        tool_from_function(lake_depth, name=name)


@pytest.mark.parametrize("timeout_s", [0, -1, float("nan")])
def test_a_timeout_that_leaves_no_time_is_refused(timeout_s: float) -> None:
    with pytest.raises(ToolDefinitionError, match="timeout_s"):
        tool_from_function(lake_depth, timeout_s=timeout_s)
