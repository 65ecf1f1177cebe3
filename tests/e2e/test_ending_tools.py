"""A user's tool may raise anything that ends a process or a task: its call fails, and the service goes on."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.e2e.conftest import STARTING_S, Server, serving, without_traces
from tests.e2e.ending_tools import WAY, WAYS

ROOM = "In which room is the course {} taught?"


class House:
    """The service whose tool ends, and the folder in which it runs."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server = server
        self._folder = folder

    def ask_both(self, way: str) -> list[Any]:
        """Asks a question whose tool ends in this way, and one beside it whose call is under way meanwhile."""
        (self._folder / WAY).write_text(way)
        with ThreadPoolExecutor(2) as callers:
            return list(
                callers.map(self.ask, (ROOM.format("Apple"), ROOM.format("Pear")))
            )

    def ask(self, question: str) -> Any:
        reply = httpx2.post(
            f"{self.server.url}/api/query", json={"query": question}, timeout=STARTING_S
        )
        assert reply.status_code == 200
        return reply.json()

    def outcome(self, query_id: str) -> Any:
        """The outcome of the query's call of the tool, as its trace has it."""
        trace = httpx2.get(f"{self.server.url}/api/traces/{query_id}").json()
        events = [recorded["event"] for recorded in trace["events"]]
        [outcome] = [
            event
            for event in events
            if event["kind"] in ("tool_failed", "tool_succeeded")
            and event["name"] == "room_of"
        ]
        return outcome


@contextmanager
def serving_house(data_dir: Path, folder: Path) -> Iterator[House]:
    """The service whose tool ends."""
    with serving(
        without_traces(data_dir, folder),
        folder,
        ANTIPHON_TOOLS="tests.e2e.ending_tools:room_of",
    ) as server:
        house = House(server, folder)
        # The first question after a start may come before the courses can be searched.
        house.ask("What is applemailbox7 in the Apple course?")
        yield house


@pytest.fixture(scope="module")
def house(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with serving_house(data_dir, tmp_path_factory.mktemp("ending")) as served:
        yield served


@pytest.mark.parametrize("way", WAYS)
def test_a_tool_that_ends_costs_its_call_and_neither_another_query_nor_the_service(
    house: House, way: str
) -> None:
    ended, beside = house.ask_both(way)

    assert house.server.process.poll() is None
    assert "tool_failed" in {
        doubt["kind"] for doubt in ended["uncertainty"]["indicators"]
    }
    failed = house.outcome(ended["query_id"])
    assert failed["failure"] == "error"
    assert failed["detail"].startswith("room_of failed: ")
    assert house.outcome(beside["query_id"])["output"].startswith(
        "It is taught in room"
    )
    assert "tool_failed" not in {
        doubt["kind"] for doubt in beside["uncertainty"]["indicators"]
    }


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_still_ends_a_service_whose_tools_have_tried_to(
    data_dir: Path, tmp_path: Path, by: signal.Signals
) -> None:
    with serving_house(data_dir, tmp_path) as house:
        house.ask_both("exit in a task")

        code = house.server.stop(by)

    assert code == 0
