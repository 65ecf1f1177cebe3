"""A user's tools are found by name, or it is said what is wrong."""

from __future__ import annotations

import pytest

from antiphon.dispatcher import load_tools
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.events import ToolSucceeded
from tests.unit.dispatcher.fakes import Session

HERE = "tests.unit.dispatcher.user_tools"


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("", []),
        (f"{HERE}:echo", ["echo"]),
        (f" {HERE}:SHOUT ,, {HERE}:echo,", ["shout", "echo"]),
        (f"{HERE}:ALL", ["echo", "shout"]),
    ],
)
def test_functions_tools_and_lists_of_them_are_found(
    names: str, found: list[str]
) -> None:
    assert [tool.name for tool in load_tools(names)] == found


async def test_a_users_tool_runs_like_any_other() -> None:
    outcome = await Session(*load_tools(f"{HERE}:ALL")).call(
        "shout", '{"text": "Hear, hear."}'
    )

    assert isinstance(outcome, ToolSucceeded)
    assert outcome.passages[0].source == "shout"


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ("echo", "package.module:name"),
        (f"{HERE}:", "package.module:name"),
        ("nowhere.at_all:echo", "on PYTHONPATH"),
        (f"{HERE}:nobody", "has no nobody"),
        (f"{HERE}:NUMBER", "is int; wanted a function"),
        (f"{HERE}:annotations", "wanted a function"),
    ],
)
def test_what_cannot_be_loaded_is_named(names: str, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        load_tools(names)
