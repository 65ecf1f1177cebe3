"""A call that was under way when its query was interrupted is made again only where that does no harm."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from antiphon.dispatcher import Tool, tool_from_function
from antiphon.vocabulary.errors import ToolDefinitionError
from antiphon.vocabulary.events import (
    ToolFailed,
    ToolRequested,
    ToolStarted,
    ToolSucceeded,
)
from antiphon.vocabulary.values import ToolCall
from tests.unit.dispatcher.fakes import Session, recorded


class Office:
    """What the tools change: one line for each time that they are run."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    async def enrol(self, student: str) -> str:
        """Enrols."""
        self.ran.append(student)
        return f"{student} is enrolled."

    async def enrol_once(self, student: str, key: str) -> str:
        """Enrols, once a key."""
        self.ran.append(f"{student} {key}")
        return f"{student} is enrolled."

    async def look(self, student: str) -> str:
        """Looks."""
        self.ran.append(student)
        return f"{student} is there."


ARGUMENTS = json.dumps({"student": "Ada"})


async def ask_again(session: Session, name: str) -> ToolSucceeded | ToolFailed:
    asked = ToolRequested(
        round=1, call=ToolCall(id="t1", name=name, arguments=ARGUMENTS), timeout_s=10.0
    )
    session.perform(recorded(asked), again=True)
    await session.done()
    (outcome,) = [
        event
        for event in session.published
        if isinstance(event, ToolSucceeded | ToolFailed)
    ]
    return outcome


async def test_a_tool_without_effects_is_run_again() -> None:
    office = Office()

    outcome = await ask_again(Session(tool_from_function(office.look)), "look")

    assert isinstance(outcome, ToolSucceeded)
    assert office.ran == ["Ada"]


async def test_a_tool_with_effects_is_not_run_again_and_the_call_says_so() -> None:
    office = Office()

    outcome = await ask_again(
        Session(tool_from_function(office.enrol, has_effects=True)), "enrol"
    )

    assert isinstance(outcome, ToolFailed)
    assert outcome.failure == "interrupted"
    assert "may have done its work and was not run again" in outcome.detail
    assert office.ran == []


def keyed(office: Office) -> Tool:
    return tool_from_function(office.enrol_once, has_effects=True, key_parameter="key")


async def test_a_tool_with_effects_and_a_key_is_run_again_with_the_same_key() -> None:
    office = Office()
    first, second = Session(keyed(office)), Session(keyed(office))
    first.request("t1", "enrol_once", ARGUMENTS)
    await first.done()

    outcome = await ask_again(second, "enrol_once")

    assert isinstance(outcome, ToolSucceeded)
    assert len(office.ran) == 2
    assert len(set(office.ran)) == 1
    (started,) = first.heard(ToolStarted)
    assert (started, len(started.idempotency_key)) == (second.heard(ToolStarted)[0], 32)
    assert office.ran[0] == f"Ada {started.idempotency_key}"


async def test_the_recorded_key_is_used_also_where_the_query_has_another_id() -> None:
    office = Office()
    session = Session(keyed(office))
    session.recall(
        ToolStarted(
            tool_call_id="t1", name="enrol_once", idempotency_key="the-first-key"
        )
    )

    await ask_again(session, "enrol_once")

    assert office.ran == ["Ada the-first-key"]


async def test_two_calls_never_have_one_key() -> None:
    session = Session(keyed(Office()))
    for call_id in ("t1", "t2"):
        session.request(call_id, "enrol_once", ARGUMENTS)
    await session.done()

    assert len({event.idempotency_key for event in session.heard(ToolStarted)}) == 2


async def test_a_call_whose_substitute_may_have_changed_something_is_not_run_again() -> (
    None
):
    office = Office()
    look = tool_from_function(office.look, substitutes=("enrol",))

    outcome = await ask_again(
        Session(look, tool_from_function(office.enrol, has_effects=True)), "look"
    )

    assert isinstance(outcome, ToolFailed)
    assert outcome.failure == "interrupted"
    assert office.ran == []


def test_a_key_needs_a_parameter_of_its_own() -> None:
    with pytest.raises(ToolDefinitionError, match="give it a parameter `request: str`"):
        tool_from_function(Office().enrol, key_parameter="request")


async def test_the_model_is_not_told_of_the_key_and_cannot_send_one() -> None:
    office = Office()
    tool = keyed(office)
    session = Session(tool)
    session.request("t1", "enrol_once", json.dumps({"student": "Ada", "key": "mine"}))
    await session.done()

    assert "key" not in tool.schema["properties"]
    (failed,) = session.heard(ToolFailed)
    assert failed.failure == "invalid_arguments"
    assert office.ran == []


async def test_the_same_call_id_in_two_queries_gets_two_keys() -> None:
    session = Session(keyed(Office()))
    call = ToolCall(id="t1", name="enrol_once", arguments=ARGUMENTS)
    asked = ToolRequested(round=1, call=call, timeout_s=10.0)
    other = Session(keyed(Office()))
    session.perform(recorded(asked))
    other.perform(replace(recorded(asked), query_id="q2"))
    await session.done()
    await other.done()

    (one,), (two,) = session.heard(ToolStarted), other.heard(ToolStarted)
    assert one.idempotency_key != two.idempotency_key


async def test_a_tool_that_takes_no_key_is_recorded_without_one() -> None:
    session = Session(tool_from_function(Office().look))
    session.request("t1", "look", ARGUMENTS)
    await session.done()

    (started,) = session.heard(ToolStarted)
    assert started.idempotency_key == ""
