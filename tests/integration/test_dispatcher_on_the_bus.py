"""The dispatcher on the real bus and the real library: its work is the session's, and its outcomes end the round."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from antiphon.bus import Bus, Performing, SystemClock
from antiphon.composition import LiveOutside
from antiphon.dispatcher import (
    CourseLibrary,
    Registry,
    Tool,
    ToolDispatcher,
    ToolPerformer,
    course_tools,
    tool_from_function,
)
from antiphon.knowledge.library import Library
from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary import events as e
from antiphon.vocabulary.ports import Ports, Publish, Subscription, on
from antiphon.vocabulary.values import QuerySettings, ToolCall


class NoEmbedder:
    """An embedder that an empty library never asks."""

    name = "none"
    dimensions = 1
    max_tokens = 1

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0] for _ in texts]

    def count_tokens(self, text: str) -> int:
        return len(text)


class OneRound:
    """Asks for some calls, and closes the query when they are settled."""

    def __init__(
        self, publish: Publish, calls: tuple[ToolCall, ...], timeout_s: float
    ) -> None:
        self._publish = publish
        self._calls = calls
        self._timeout_s = timeout_s

    def on_query_received(self, _said: e.Recorded[e.QueryReceived]) -> None:
        for call in self._calls:
            self._publish(
                e.ToolRequested(round=1, call=call, timeout_s=self._timeout_s)
            )
        self._publish(
            e.ToolCallsConfirmed(
                round=1, tool_call_ids=tuple(call.id for call in self._calls)
            )
        )

    def on_tools_settled(self, _said: e.Recorded[e.ToolsSettled]) -> None:
        self._publish(e.QueryClosed(status="answered"))


def components(
    tools: tuple[Tool, ...], calls: tuple[ToolCall, ...], timeout_s: float
) -> Callable[[Ports], list[Subscription]]:
    def build(ports: Ports) -> list[Subscription]:
        asker = OneRound(ports.publish, calls, timeout_s)
        performer = ToolPerformer(
            ports.publish, ports.spawn, SystemClock(), Registry(tools)
        )
        performing = Performing(
            LiveOutside({e.ToolRequested: performer.perform}),
            {e.ToolRequested: "ToolDispatcher"},
            ports.past,
        )
        heard: tuple[type[e.Event], ...] = (
            e.ToolStarted,
            e.ToolSubstituted,
        )
        return [
            on(e.QueryReceived, asker.on_query_received),
            on(e.ToolsSettled, asker.on_tools_settled),
            *ToolDispatcher(ports.publish).subscriptions(),
            *performing.subscriptions(),
            *(on(kind, lambda _said: None) for kind in heard),
        ]

    return build


async def trace(
    folder: Path, tools: tuple[Tool, ...], *calls: ToolCall, timeout_s: float = 5.0
) -> list[e.Recorded[e.Event]]:
    """What was recorded of a query that makes these calls."""
    store = SqliteTraceStore.open(folder)
    bus = Bus(store, SystemClock())
    session = bus.open("q1", components(tools, calls, timeout_s))
    session.start(e.QueryReceived(query="?", session_id="s", settings=QuerySettings()))
    await session.drain()
    recorded = await store.read("q1")
    await store.close()
    return recorded


async def test_two_calls_that_wait_for_one_another_both_succeed_and_are_caused_by_their_requests(
    tmp_path: Path,
) -> None:
    meeting = asyncio.Barrier(2)

    async def meet(name: str) -> str:
        """Waits for the other."""
        await meeting.wait()
        return f"{name} was here."

    calls = [
        ToolCall(id=name, name="meet", arguments=f'{{"name": "{name}"}}')
        for name in ("a", "b")
    ]

    recorded = await trace(tmp_path, (tool_from_function(meet),), *calls)

    requests = {
        said.event.call.id: said.seq
        for said in recorded
        if isinstance(said.event, e.ToolRequested)
    }
    outcomes = {
        said.event.tool_call_id: said
        for said in recorded
        if isinstance(said.event, e.ToolSucceeded)
    }
    assert {name: said.cause for name, said in outcomes.items()} == requests
    assert [
        said.event.succeeded
        for said in recorded
        if isinstance(said.event, e.ToolsSettled)
    ] == [("a", "b")]


async def test_a_tool_that_never_answers_is_stopped_and_the_query_goes_on(
    tmp_path: Path,
) -> None:
    async def hang() -> str:
        """Never answers."""
        await asyncio.Event().wait()
        return ""

    call = ToolCall(id="t1", name="hang", arguments="")

    recorded = await trace(tmp_path, (tool_from_function(hang),), call, timeout_s=0.01)

    assert [
        said.event.failure for said in recorded if isinstance(said.event, e.ToolFailed)
    ] == ["timeout"]
    assert isinstance(recorded[-1].event, e.QueryClosed)


async def test_the_course_tools_run_on_the_real_library(tmp_path: Path) -> None:
    library: CourseLibrary = Library.open(tmp_path, NoEmbedder())
    calls = (
        ToolCall(
            id="t1", name="search_course_content", arguments='{"query": "ranking"}'
        ),
        ToolCall(
            id="t2", name="get_course_outline", arguments='{"course_name": "Search"}'
        ),
    )

    recorded = await trace(tmp_path, course_tools(library), *calls)

    said = {type(each.event): each.event for each in recorded}
    succeeded, failed = said[e.ToolSucceeded], said[e.ToolFailed]
    assert isinstance(succeeded, e.ToolSucceeded)
    assert succeeded.output.text == "Nothing was found for 'ranking'."
    assert isinstance(failed, e.ToolFailed)
    assert failed.detail == "No course named 'Search'. There are no courses yet."
