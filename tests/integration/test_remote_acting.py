"""Tools and model calls run in processes of their own: the traces stay the same, and no query waits for a dead one."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from antiphon.history import diff
from antiphon.service import Question
from antiphon.vocabulary import events as e
from tests.acting_process import (
    ActingProcess,
    acting,
    calls,
    until_called,
)
from tests.nats_servers import NatsServer, nats_server
from tests.remote_acting import ANSWER, Elsewhere, Trace, ask, asking, of

TWO = ("dispatcher", "dispatcher")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with nats_server(tmp_path_factory.mktemp("nats")) as started:
        yield started


@pytest.fixture
def elsewhere(
    server: NatsServer, tmp_path: Path, request: pytest.FixtureRequest
) -> Elsewhere:
    return Elsewhere(server, tmp_path, request.node.name)


def steps(trace: Trace) -> list[tuple[str, str]]:
    """Each event and what led to it, in no order: calls at once end in any."""
    kinds = {recorded.seq: recorded.event.kind_name() for recorded in trace}
    # The last to come settles a round: a call's end, or the confirmation of its calls.
    return sorted(
        (kinds[recorded.seq], kinds.get(recorded.cause, ""))
        for recorded in trace
        if not isinstance(recorded.event, e.ToolsSettled)
    )


@pytest.mark.parametrize("remote", ["dispatcher", "engine", "dispatcher, engine"])
async def test_the_trace_is_the_same_no_matter_which_process_acts(
    elsewhere: Elsewhere, remote: str
) -> None:
    script = elsewhere.play(
        asking("lookup", "trees"), asking("lookup", "roots"), ANSWER
    )
    async with elsewhere.sessions(script, remote="") as small:
        _, here = await ask(small)
    with acting(*elsewhere.place, *remote.split(", ")) as processes:
        async with elsewhere.sessions(script, remote=remote) as small:
            outcome, there = await ask(small)
            replayed = await small.service.history.replay(outcome.query_id)

    assert diff(here, there).differences == ()
    assert steps(here) == steps(there)
    assert replayed.divergence is None
    if "dispatcher" in remote:
        pids = {pid for _, pid in calls(elsewhere.folder)[2:]}
        assert pids == {processes[0].pid}


async def test_only_the_order_of_calls_at_once_may_differ(
    elsewhere: Elsewhere,
) -> None:
    script = elsewhere.play(asking("lookup", "trees", "leaves", "roots"), ANSWER)
    async with elsewhere.sessions(script, remote="") as small:
        _, here = await ask(small)
    with acting(*elsewhere.place, "dispatcher"):
        async with elsewhere.sessions(script) as small:
            _, there = await ask(small)

    assert {found.because for found in diff(here, there).differences} <= {"order"}
    assert steps(here) == steps(there)


async def test_a_reply_is_shown_as_it_is_written_elsewhere(
    elsewhere: Elsewhere,
) -> None:
    script = elsewhere.play(ANSWER)
    with acting(*elsewhere.place, "engine"):
        async with elsewhere.sessions(script, remote="engine") as small:
            handle = await small.service.start(Question(query="What of trees?"))
            shown = [item async for item in handle.follow()]

    text = "".join(item.text for item in shown if isinstance(item, e.TextDelta))
    assert "All of trees" in text


async def test_another_process_repeats_a_call_whose_process_is_killed(
    elsewhere: Elsewhere,
) -> None:
    script = elsewhere.play(asking("slow", "trees"), ANSWER)
    with acting(*elsewhere.place, *TWO) as processes:
        async with elsewhere.sessions(script) as small:
            asked = asyncio.create_task(ask(small))
            (first,) = await until_called(elsewhere.folder, "slow")
            by_pid(processes, first).kill()
            pids = await until_called(elsewhere.folder, "slow", 2)
            (elsewhere.folder / "go").touch()
            outcome, trace = await asked
            replayed = await small.service.history.replay(outcome.query_id)

    assert outcome.status == "answered"
    assert len(set(pids)) == 2
    assert len(of(trace, e.ToolSucceeded)) == 1
    assert len(of(trace, e.ToolStarted)) == 2
    assert of(trace, e.SessionStalled) == []
    assert replayed.divergence is None


async def test_another_process_replaces_a_frozen_one_and_nobody_hears_it_when_it_wakes(
    elsewhere: Elsewhere,
) -> None:
    script = elsewhere.play(asking("slow", "trees"), asking("lookup", "roots"), ANSWER)
    with acting(*elsewhere.place, *TWO) as processes:
        async with elsewhere.sessions(script) as small:
            asked = asyncio.create_task(ask(small))
            (first,) = await until_called(elsewhere.folder, "slow")
            by_pid(processes, first).signal(signal.SIGSTOP)
            await until_called(elsewhere.folder, "slow", 2)
            by_pid(processes, first).signal(signal.SIGCONT)
            (elsewhere.folder / "go").touch()
            outcome, trace = await asked

    assert outcome.status == "answered"
    assert len(of(trace, e.ToolSucceeded)) == 2
    assert len(of(trace, e.ToolsSettled)) == 2


async def test_without_any_process_the_session_recovers_and_says_why(
    elsewhere: Elsewhere,
) -> None:
    script = elsewhere.play(asking("slow", "trees"), ANSWER)
    with acting(*elsewhere.place, "dispatcher") as processes:
        async with elsewhere.sessions(script) as small:
            asked = asyncio.create_task(ask(small))
            await until_called(elsewhere.folder, "slow")
            processes[0].kill()
            outcome, trace = await asked

    assert outcome.response is not None
    (failed, *_) = of(trace, e.HandlerFailed)
    assert "no process acts as dispatcher" in str(failed)
    assert of(trace, e.SessionStalled)


async def test_a_call_that_ends_its_process_is_tried_in_two_and_no_more(
    elsewhere: Elsewhere,
) -> None:
    script = elsewhere.play(asking("fatal", "trees"), ANSWER)
    with acting(*elsewhere.place, *TWO, "dispatcher") as processes:
        async with elsewhere.sessions(script) as small:
            _, trace = await ask(small)
            alive = [each for each in processes if each.process.is_alive()]

    assert len(alive) == 1
    assert "in the second process too" in str(of(trace, e.HandlerFailed))


async def test_a_call_that_may_have_changed_something_is_not_repeated(
    elsewhere: Elsewhere,
) -> None:
    script = elsewhere.play(asking("paying", "trees"), ANSWER)
    with acting(*elsewhere.place, *TWO) as processes:
        async with elsewhere.sessions(script) as small:
            asked = asyncio.create_task(ask(small))
            (first,) = await until_called(elsewhere.folder, "paying")
            by_pid(processes, first).kill()
            _, trace = await asked

    assert [name for name, _ in calls(elsewhere.folder)] == ["paying"]
    (failed,) = of(trace, e.ToolFailed)
    assert isinstance(failed, e.ToolFailed)
    assert failed.failure == "interrupted"


async def test_a_call_too_large_for_the_servers_fails_and_says_so(
    elsewhere: Elsewhere,
) -> None:
    script = elsewhere.play(asking("lookup", "x" * 1_100_000), ANSWER)
    with acting(*elsewhere.place, "dispatcher"):
        async with elsewhere.sessions(script) as small:
            _, trace = await ask(small)

    assert "max_payload" in str(of(trace, e.HandlerFailed))
    assert calls(elsewhere.folder) == []


async def test_a_process_that_stops_lets_its_calls_end(
    elsewhere: Elsewhere,
) -> None:
    script = elsewhere.play(asking("slow", "trees"), ANSWER)
    with acting(*elsewhere.place, *TWO) as processes:
        async with elsewhere.sessions(script) as small:
            asked = asyncio.create_task(ask(small))
            (first,) = await until_called(elsewhere.folder, "slow")
            by_pid(processes, first).signal(signal.SIGTERM)
            (elsewhere.folder / "go").touch()
            outcome, trace = await asked

    assert outcome.status == "answered"
    assert [name for name, _ in calls(elsewhere.folder)] == ["slow"]
    assert len(of(trace, e.ToolStarted)) == 1


def by_pid(processes: list[ActingProcess], pid: int) -> ActingProcess:
    return next(each for each in processes if each.pid == pid)
