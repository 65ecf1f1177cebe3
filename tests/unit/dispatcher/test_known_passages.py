"""What earlier rounds found is handed to a tool that asks for it, and to nobody else."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from antiphon.dispatcher import Registry, tool_from_function
from antiphon.vocabulary.errors import ToolDefinitionError
from antiphon.vocabulary.ports import ToolOutput
from antiphon.vocabulary.values import Passage
from tests.unit.dispatcher.fakes import passage


class Shelf:
    """A tool that brings a passage named after what it is asked, and notes what it was told is known."""

    def __init__(self) -> None:
        self.known: list[tuple[str, ...]] = []

    async def look(self, name: str, known: Sequence[Passage]) -> ToolOutput:
        """Looks."""
        self.known.append(tuple(each.text.text for each in known))
        return ToolOutput(text=name, passages=(passage(name),))


def test_the_model_is_not_told_of_the_parameter() -> None:
    registry = Registry([tool_from_function(Shelf().look, known_parameter="known")])

    (definition,) = json.loads(registry.definitions().text)

    assert list(definition["input_schema"]["properties"]) == ["name", "why"]


async def look_for(name: str, known: str) -> str:
    """Looks."""
    return name + known


@pytest.mark.parametrize("parameter", ["known", "seen"])
def test_the_parameter_must_be_there_and_take_passages(parameter: str) -> None:
    with pytest.raises(
        ToolDefinitionError,
        match=rf"give it a parameter `{parameter}: Sequence\[Passage\]`",
    ):
        tool_from_function(look_for, known_parameter=parameter)
