"""What earlier rounds found is handed to a tool that asks for it, and to nobody else."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from antiphon.dispatcher import Registry, tool_from_function
from antiphon.vocabulary.errors import ToolDefinitionError
from antiphon.vocabulary.events import ToolsSettled, ToolSucceeded
from antiphon.vocabulary.ports import ToolOutput
from antiphon.vocabulary.values import Passage, StoredText
from tests.unit.dispatcher.fakes import Session, passage


class Shelf:
    """A tool that brings a passage named after what it is asked, and notes what it was told is known."""

    def __init__(self) -> None:
        self.known: list[tuple[str, ...]] = []

    async def look(self, name: str, known: Sequence[Passage]) -> ToolOutput:
        """Looks."""
        self.known.append(tuple(each.text.text for each in known))
        return ToolOutput(text=name, passages=(passage(name),))


def session(shelf: Shelf) -> Session:
    return Session(tool_from_function(shelf.look, known_parameter="known"))


def asked_for(name: str) -> str:
    return json.dumps({"name": name})


async def test_calls_know_the_rounds_before_theirs_and_nothing_of_their_own() -> None:
    shelf = Shelf()
    here = session(shelf)
    for call_id in ("a", "b"):
        here.request(call_id, "look", asked_for(call_id))
        await here.done()
    here.confirm("a", "b")

    here.request("c", "look", asked_for("c"), round_number=2)
    await here.done()

    assert shelf.known == [(), (), ("a", "b")]


async def test_a_call_that_its_round_does_not_confirm_has_found_nothing() -> None:
    shelf = Shelf()
    here = session(shelf)
    for call_id in ("early", "a"):
        here.request(call_id, "look", asked_for(call_id))
    await here.done()
    here.confirm("a")

    here.request("c", "look", asked_for("c"), round_number=2)
    await here.done()

    assert shelf.known[-1] == ("a",)


async def test_a_query_that_goes_on_from_its_trace_knows_what_was_found() -> None:
    shelf = Shelf()
    here = session(shelf)
    for event in (
        ToolSucceeded(
            tool_call_id="a",
            name="look",
            output=StoredText("a"),
            passages=(passage("a"),),
            duration_ms=1.0,
        ),
        ToolsSettled(round=1, succeeded=("a",), failed=()),
    ):
        here.recall(event)

    here.request("c", "look", asked_for("c"), round_number=2)
    await here.done()

    assert shelf.known == [("a",)]


async def test_a_round_that_is_settled_after_the_interruption_counts_all_the_same() -> (
    None
):
    shelf = Shelf()
    here = session(shelf)
    here.recall(
        ToolSucceeded(
            tool_call_id="a",
            name="look",
            output=StoredText("a"),
            passages=(passage("a"),),
            duration_ms=1.0,
        )
    )
    here.confirm("a")

    here.request("c", "look", asked_for("c"), round_number=2)
    await here.done()

    assert shelf.known == [("a",)]


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
