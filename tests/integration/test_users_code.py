"""A user's own code that blocks or hangs costs its own call, and the log names it; nothing else waits for it."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path

import pytest
import structlog
from structlog.typing import EventDict

from antiphon import Antiphon, Question, events, live_outside, load_settings, on, tool
from antiphon.composition import BuildOutside
from antiphon.composition.telemetry import Telemetry
from antiphon.dispatcher import Tool
from antiphon.service import Resources
from antiphon.telemetry import Metrics
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.events import Event, Recorded, ToolFailed, ToolSucceeded
from antiphon.vocabulary.performing import Command, Outside, Run
from antiphon.vocabulary.ports import Json, Ports, Subscription
from antiphon.vocabulary.subscribers import Subscriber, Surroundings
from antiphon.vocabulary.values import Request
from tests.small_service import House, house

LONG_S = 60.0
"""Seconds after which a test that waits in vain goes on, and fails."""


def calling(*names: str) -> Json:
    """A script in which the model calls each of these tools, and then answers."""
    # Each with a term of its own: the same call twice counts as one.
    calls = [
        {"name": name, "input": {"term": f"term {number}"}}
        for number, name in enumerate(names)
    ]
    return {"replies": [{"calls": calls}, {"text": "It is good."}], "then": "last"}


async def outcomes(at: House) -> list[tuple[str, str]]:
    """Asks, and returns what came of each call: its tool, and `succeeded` or the kind of failure."""
    outcome = await at.service.ask(Question(query="What is good?"))
    found: list[tuple[str, str]] = []
    for recorded in await at.trace(outcome):
        match recorded.event:
            case ToolSucceeded(name=name):
                found.append((name, "succeeded"))
            case ToolFailed(name=name, failure=failure):
                found.append((name, failure))
    return sorted(found)


def plain(term: str) -> str:
    """Looks a term up."""
    return f"{term} is a share."


async def quick(term: str) -> str:
    """Looks a term up at once."""
    return f"{term} is a share."


async def test_plain_functions_that_hang_time_out_and_take_no_other_tool_its_thread(
    tmp_path: Path,
) -> None:
    over = threading.Event()

    def hangs(term: str) -> str:
        """Never comes back."""
        over.wait(LONG_S)
        return term

    names = ["hangs"] * 6
    tools = (tool(hangs, timeout_s=0.05), tool(plain), tool(quick))
    async with house(tmp_path, calling(*names, "plain", "quick"), *tools) as at:
        found = await outcomes(at)
        over.set()

    assert found == [
        *[("hangs", "timeout")] * len(names),
        ("plain", "succeeded"),
        ("quick", "succeeded"),
    ]


caller: ContextVar[str] = ContextVar("caller", default="nobody")


async def test_a_plain_function_knows_the_context_of_its_caller(tmp_path: Path) -> None:
    def who(term: str) -> str:
        """Says who asks."""
        return f"{caller.get()} asks."

    caller.set("Ada")
    async with house(tmp_path, calling("who"), tool(who)) as at:
        await outcomes(at)
        sent = at.sent()

    assert "Ada asks." in sent


class BlockedLog:
    """Notes what the log says about code that blocks, and lets that code go on."""

    def __init__(self) -> None:
        self.lines: list[EventDict] = []
        self._said = threading.Event()

    def note(self, _logger: object, _method: str, line: EventDict) -> EventDict:
        if line["event"] == "event_loop_blocked":
            self.lines.append(line)
            self._said.set()
        raise structlog.DropEvent

    def block(self) -> None:
        """Blocks the thread that calls it until the log says so."""
        assert self._said.wait(LONG_S), "nobody noticed"


@pytest.fixture
def log() -> Iterator[BlockedLog]:
    noted = BlockedLog()
    structlog.configure(processors=[noted.note])
    yield noted
    structlog.reset_defaults()


def blocking_tool(log: BlockedLog) -> Tool:
    async def blocks(term: str) -> str:
        """Looks a term up, and keeps the loop meanwhile."""
        log.block()
        return term

    return tool(blocks)


def tool_with_a_blocking_task(log: BlockedLog) -> Tool:
    async def blocks_in_a_task() -> None:
        log.block()

    async def blocks(term: str) -> str:
        """Looks a term up, in a task of its own."""
        await asyncio.gather(blocks_in_a_task())
        return term

    return tool(blocks)


@pytest.mark.parametrize(
    ("make", "by", "where"),
    [
        (blocking_tool, "tool blocks", "<locals>.blocks"),
        (tool_with_a_blocking_task, "blocks_in_a_task", "<locals>.blocks_in_a_task"),
    ],
)
async def test_a_tool_that_blocks_the_loop_is_named(
    make: Callable[[BlockedLog], Tool],
    by: str,
    where: str,
    log: BlockedLog,
    tmp_path: Path,
) -> None:
    async with house(tmp_path, calling("blocks", "quick"), make(log), quick) as at:
        found = await outcomes(at)

    assert found == [("blocks", "succeeded"), ("quick", "succeeded")]
    [line] = log.lines
    assert line["by"].endswith(by)
    assert line["at"].endswith(where)
    assert "test_users_code.py:" in line["at"]


class Slow:
    """A subscriber that blocks in its handler, or in the work that it starts."""

    def __init__(self, log: BlockedLog, around: Surroundings, where: str) -> None:
        self._log = log
        self._spawn = around.ports.spawn
        self._where = where

    def on_query_received(self, _: Recorded[Event]) -> None:
        if self._where == "handler":
            self._log.block()
        else:
            self._spawn(self.work())

    async def work(self) -> None:
        self._log.block()


@pytest.mark.parametrize(
    ("where", "by"),
    [("handler", "handler Slow.on_query_received"), ("work", "work Slow.work")],
)
async def test_a_subscriber_that_blocks_the_loop_is_named(
    where: str, by: str, log: BlockedLog, tmp_path: Path
) -> None:
    def act(around: Surroundings) -> Sequence[Subscription]:
        slow = Slow(log, around, where)
        return [on(events.QueryReceived, slow.on_query_received)]

    slow = Subscriber(name="slow", act=act)
    async with house(tmp_path, calling("quick"), quick, subscribers=(slow,)) as at:
        found = await outcomes(at)

    assert found == [("quick", "succeeded")]
    [line] = log.lines
    assert line["by"] == by
    assert f"Slow.{'on_query_received' if where == 'handler' else 'work'}" in line["at"]


class BlockingModel:
    """A model of the user's own, which asks its server without async."""

    name = "theirs"

    def __init__(self, log: BlockedLog) -> None:
        self._log = log

    async def stream(self, request: Request, timeout_s: float) -> AsyncIterator[Json]:
        self._log.block()
        raise ModelError("connection", "nobody answered")
        yield {}


def outside_that_blocks(log: BlockedLog) -> BuildOutside:
    class Outside:
        def __init__(self, resources: Resources, ports: Ports) -> None:
            self._live = live_outside(resources, ports)

        def perform(self, command: Command, /) -> Run | None:
            if isinstance(command.request.event, events.ReasoningRequested):
                log.block()
            return self._live.perform(command)

    return Outside


def outside_with_a_model_that_blocks(log: BlockedLog) -> BuildOutside:
    def build(resources: Resources, ports: Ports, /) -> Outside:
        models = dict(resources.models) | {"primary": BlockingModel(log)}
        return live_outside(dataclasses.replace(resources, models=models), ports)

    return build


@pytest.mark.parametrize(
    ("build", "where"),
    [
        (outside_that_blocks, "Outside.perform"),
        (outside_with_a_model_that_blocks, "BlockingModel.stream"),
    ],
)
async def test_an_outside_that_blocks_the_loop_is_named_by_its_place(
    build: Callable[[BlockedLog], BuildOutside],
    where: str,
    log: BlockedLog,
    tmp_path: Path,
) -> None:
    settings = load_settings(data_dir=tmp_path, embedder="onnx", reasoner="offline")
    async with Antiphon.open(settings, outside=build(log)) as service:
        answer = await service.ask("What is recall?")

    assert answer.text
    assert log.lines[0]["at"].endswith(where)


async def test_what_blocks_the_loop_is_counted(log: BlockedLog) -> None:
    metrics = Metrics()
    watching = asyncio.create_task(Telemetry(metrics).loop_watchdog().run())
    await asyncio.sleep(0)

    log.block()
    watching.cancel()

    assert "antiphon_event_loop_blocked_total{by=" in await metrics.scrape()


async def test_an_error_is_logged_without_what_its_frames_held(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def act(_: Surroundings) -> Sequence[Subscription]:
        kept = "hunter2"

        def fail(_: Recorded[Event]) -> None:
            held = f"{kept} in a frame"
            raise RuntimeError(f"fails with {len(held)} characters")

        return [on(events.QueryReceived, fail)]

    # As in a program that has not set up structlog.
    structlog.reset_defaults()
    bad = Subscriber(name="bad", act=act)
    async with house(tmp_path, calling("quick"), quick, subscribers=(bad,)) as at:
        await outcomes(at)

    printed = capsys.readouterr()
    assert "RuntimeError: fails with 18 characters" in printed.out
    assert "hunter2" not in printed.out + printed.err
