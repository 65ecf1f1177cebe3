"""Requests are performed by the outside, with what happened before, until they are abandoned."""

from __future__ import annotations

from antiphon.bus import Performing
from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.performing import Command, Run
from antiphon.vocabulary.values import ToolCall

PERFORMED: dict[type[Event], str] = {
    e.ToolRequested: "Tools",
    e.ReasoningRequested: "Model",
}


class NotedRun:
    def __init__(self) -> None:
        self.abandoned: list[str] = []

    def abandon(self, why: str, /) -> None:
        self.abandoned.append(why)


class NotedOutside:
    """Notes what it is to perform."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.runs: list[NotedRun] = []

    def perform(self, command: Command, /) -> Run | None:
        self.commands.append(command)
        self.runs.append(NotedRun())
        return self.runs[-1]


def at(seq: int, event: Event) -> Recorded[Event]:
    return Recorded(query_id="q", seq=seq, cause=0, at=0.0, event=event)


def tool(call_id: str) -> e.ToolRequested:
    call = ToolCall(id=call_id, name="look", arguments="{}")
    return e.ToolRequested(round=1, call=call, timeout_s=1.0)


def abandoned(*call_ids: str, why: str = "late") -> Recorded[e.CallsAbandoned]:
    event = e.CallsAbandoned(call_ids=call_ids, why=why)
    return Recorded(query_id="q", seq=9, cause=0, at=0.0, event=event)


def test_a_request_is_performed_with_what_happened_before() -> None:
    outside = NotedOutside()
    past = [at(1, tool("a")), at(2, tool("b"))]
    performing = Performing(outside, PERFORMED, lambda: past)

    performing.perform(past[1])
    performing.perform_again(past[0])

    assert outside.commands == [
        Command(past[1], past),
        Command(past[0], past, again=True),
    ]


def test_it_hears_each_request_in_the_name_of_the_part_that_performs_it() -> None:
    performing = Performing(NotedOutside(), PERFORMED, tuple)

    assert [each.name for each in performing.subscriptions()] == [
        "Tools.on_tool_requested",
        "Model.on_reasoning_requested",
        "Performing.on_calls_abandoned",
    ]
