"""A second round over a real index brings new passages, even in an interrupted or forked query, and replays."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from antiphon.bus import Bus
from antiphon.composition import wire
from antiphon.coordinator import receive
from antiphon.dispatcher import Registry, course_tools
from antiphon.knowledge import Library, index_paths
from antiphon.service import Change, History, replay
from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary.events import (
    Event,
    QueryClosed,
    Recorded,
    ToolRequested,
    ToolsSettled,
    ToolSucceeded,
)
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import QuerySettings, Request
from tests.course_files import write_course
from tests.fakes_knowledge import HashingEmbedder
from tests.traces.victim import parts_in
from tests.whole_query import ScriptedModel, reply

Trace = Sequence[Recorded[Event]]


async def by_round(request: Request) -> Sequence[Json]:
    """Two searches at once, then two more, then the answer, depending on the attempts that the request lists."""
    shown = request.messages[-1].content[-1].text
    written = "".join(block.text for block in request.messages[0].content)
    if request.tools is None:
        return reply(f"It is called so. {len(shown)}")
    if '\\"round\\":1' in written or '"round":1' in written:
        return reply("More.", search("apple mailbox case"), search("the apple course"))
    return reply("I look.", search("apple mailbox"), search("mailbox of the apple"))


def search(query: str) -> tuple[str, Json]:
    return "search_course_content", {"query": query, "course_name": "apple"}


class Rounds:
    """A store and the parts of a service whose tools search a real index."""

    def __init__(self, folder: Path, library: Library) -> None:
        self.store = SqliteTraceStore.open(folder)
        model = ScriptedModel(by_round)
        registry = Registry(course_tools(library))
        self.parts = dataclasses.replace(
            parts_in(folder),
            models={"primary": model, "fallback": model},
            tools=registry,
            tool_definitions=registry.definitions(),
        )
        self.bus = Bus(self.store, self.parts.clock)
        self.history = History(self.bus, self.parts, self.store)

    async def ask(self) -> Trace:
        session = self.bus.open(
            "q1", lambda ports: wire(self.parts, ports).subscriptions()
        )
        await session.run(receive("What is applemailbox7?", "s1", QuerySettings()))
        return await self.store.read("q1")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("rounds")
    write_course(folder / "courses", "apple", lessons=4)
    write_course(folder / "courses", "pear", lessons=3)
    index_paths([folder / "courses"], folder / "data", HashingEmbedder())
    library = Library.open(folder / "data", HashingEmbedder())
    yield library
    library.close()


def all_of(calls: Sequence[set[str]]) -> set[str]:
    together: set[str] = set()
    return together.union(*calls)


def found_in(trace: Trace) -> dict[int, list[set[str]]]:
    """The ids of the passages that each call brought, by round."""
    rounds: dict[str, int] = {}
    found: dict[int, list[set[str]]] = {1: [], 2: []}
    for recorded in trace:
        event = recorded.event
        if isinstance(event, ToolRequested):
            rounds[event.call.id] = event.round
        if isinstance(event, ToolSucceeded):
            ids = {passage.id for passage in event.passages}
            found[rounds[event.tool_call_id]].append(ids)
    return found


async def test_the_second_round_brings_only_what_the_first_did_not(
    library: Library, tmp_path: Path
) -> None:
    rounds = Rounds(tmp_path, library)

    trace = await rounds.ask()
    await rounds.store.close()

    found = found_in(trace)
    known = all_of(found[1])
    assert len(found[1]) == len(found[2]) == 2
    assert all([*found[1], *found[2]])
    assert not known & all_of(found[2])
    # Calls of one round run side by side, so the same passage may come twice.
    assert found[1][0] & found[1][1]
    assert replay(trace).divergence is None


async def test_interrupted_anywhere_a_query_brings_the_same_in_its_second_round(
    library: Library, tmp_path: Path
) -> None:
    whole = Rounds(tmp_path / "whole", library)
    trace = await whole.ask()
    await whole.store.close()
    expected = found_in(trace)
    settled = next(
        recorded.seq for recorded in trace if isinstance(recorded.event, ToolsSettled)
    )

    for last in range(settled - 4, len(trace)):
        again = Rounds(tmp_path / str(last), library)
        await again.store.append("q1", 0, trace[:last])
        await (await again.history.resume("q1")).outcome()
        resumed = await again.store.read("q1")
        await again.store.close()

        found = found_in(resumed)
        assert sorted(map(sorted, found[2])) == sorted(map(sorted, expected[2])), last
        assert isinstance(resumed[-1].event, QueryClosed)
        assert replay(resumed).divergence is None


async def test_a_fork_that_drops_a_passage_brings_neither_it_nor_what_is_known(
    library: Library, tmp_path: Path
) -> None:
    rounds = Rounds(tmp_path, library)
    trace = await rounds.ask()
    first = found_in(trace)[1][0]
    dropped = sorted(first)[0]

    running = await rounds.history.fork(
        "q1", None, [Change(kind="drop", name=dropped)], "live"
    )
    await running.outcome()
    forked = await rounds.store.read(running.query_id)
    await rounds.store.close()

    found = found_in(forked)
    assert dropped not in all_of([*found[1], *found[2]])
    assert not all_of(found[1]) & all_of(found[2])
    assert found[2][0]
    assert replay(forked).divergence is None
