"""The matrix covers an external component like the service's own, and breaking it breaks no promise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import structlog

from antiphon.faults import Chosen, World, all_points, run_singles
from antiphon.service import silence_logging
from antiphon.vocabulary.events import QueryClosed, Recorded, ToolSucceeded
from antiphon.vocabulary.ports import Subscription, on
from antiphon.vocabulary.subscribers import Subscriber, Surroundings

HEARD = "deliver.tool_succeeded.Observer"
STARTED = "spawn.Observer._write"


class Observer:
    """Receives each tool success, and pretends to write it down."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings

    def on_tool_succeeded(self, recorded: Recorded[ToolSucceeded]) -> None:
        self._surroundings.ports.spawn(
            self._write(recorded.event.name), background=True
        )

    def on_query_closed(self, recorded: Recorded[QueryClosed]) -> None:
        """Receives the end of the query."""

    async def _write(self, _: str) -> None:
        await self._surroundings.clock.sleep(0.01)


def observe(surroundings: Surroundings) -> Sequence[Subscription]:
    observer = Observer(surroundings)
    return [
        on(ToolSucceeded, observer.on_tool_succeeded),
        on(QueryClosed, observer.on_query_closed),
    ]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    silence_logging()
    yield World(tmp_path, subscribers=[Subscriber("observer", act=observe)])
    structlog.reset_defaults()


def test_each_delivery_to_an_external_component_is_a_point(world: World) -> None:
    assert HEARD in all_points(world)


def test_a_broken_external_component_breaks_no_promise(world: World) -> None:
    report = run_singles(world, chosen=Chosen(points=[HEARD, STARTED]))

    assert [
        (verdict.command, verdict.result, verdict.broken) for verdict in report.failures
    ] == []
    assert {verdict.cell.point for verdict in report.verdicts} == {HEARD, STARTED}
