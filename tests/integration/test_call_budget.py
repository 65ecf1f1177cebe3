"""The model is called no faster than settings allow, by all processes together, and a call waits within its time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from antiphon.cluster import LateConnection, SharedCallBudget, SharedValue
from antiphon.engine import LimitedModel, LocalCallBudget, check_wait
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.pacing import Bucket, Pace, debt_s, full, refilled, taken
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Message, Request, StoredText
from tests.nats_servers import NatsServer, free_port, give_up_soon, nats_server
from tests.virtual_time import VirtualClock, run

PACE = Pace(requests=60, tokens=60_000)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with nats_server(tmp_path_factory.mktemp("nats")) as started:
        yield started


def test_a_bucket_fills_to_a_minutes_worth_and_no_further() -> None:
    bucket = taken(full(PACE, 0.0), 60, 0)

    assert refilled(bucket, PACE, 1.0).requests == pytest.approx(1.0)
    assert refilled(bucket, PACE, 600.0).requests == 60
    assert refilled(bucket, PACE, -5.0) == bucket
    assert debt_s(taken(bucket, 3, 0), PACE) == pytest.approx(3.0)
    assert debt_s(taken(bucket, 0, 90_000), PACE) == pytest.approx(30.0)


def test_calls_of_one_process_are_served_in_turn_at_the_pace() -> None:
    async def calls() -> list[float]:
        clock = VirtualClock()
        began = clock.now()
        budget = LocalCallBudget(PACE, clock)
        turns: list[float] = []

        async def call() -> None:
            await budget.take(0, 100.0)
            turns.append(clock.now() - began)

        await asyncio.gather(*[call() for _ in range(70)])
        return turns

    turns = run(calls())
    assert turns[:60] == [0.0] * 60
    assert turns[60:] == pytest.approx([float(n) for n in range(1, 11)])


def test_a_call_whose_turn_comes_too_late_fails_like_one_refused() -> None:
    async def last() -> None:
        budget = LocalCallBudget(Pace(requests=1), VirtualClock())
        await budget.take(10, 1.0)
        await budget.take(10, 30.0)

    with pytest.raises(ModelError) as caught:
        run(last())
    assert caught.value.kind == "rate_limit"
    assert caught.value.retry_after_s == pytest.approx(60.0)


class _Counting:
    """A model that reports its usage."""

    name = "counting"

    async def stream(self, request: Request, timeout_s: float) -> AsyncIterator[Json]:
        yield {"type": "message_start", "message": {"usage": {"input_tokens": 100}}}
        yield {"type": "message_delta", "usage": {"output_tokens": 50}}


def _request(max_tokens: int) -> Request:
    """A request of a hundred tokens."""
    message = Message(role="user", content=(StoredText("x" * 400),))
    return Request(
        model="m", max_tokens=max_tokens, system=StoredText(""), messages=(message,)
    )


def test_what_a_call_did_not_use_is_given_back() -> None:
    class Noting(LocalCallBudget):
        settled = 0

        def settle(self, tokens: int) -> None:
            self.settled += tokens

    async def call() -> int:
        clock = VirtualClock()
        budget = Noting(PACE, clock)
        model = LimitedModel(_Counting(), budget, clock)
        async for _ in model.stream(_request(max_tokens=1_000), 10.0):
            pass
        return budget.settled

    assert run(call()) == 100 + 1_000 - 150


def test_a_model_is_called_in_the_time_that_waiting_for_its_turn_has_left() -> None:
    async def called_with(request: Request) -> tuple[Request, float]:
        clock = VirtualClock()
        budget = LocalCallBudget(PACE, clock)
        # What a minute allows; the call needs 2,000 more, of which there are 1,000 a second.
        await budget.take(60_000, 1.0)
        asked: list[tuple[Request, float]] = []

        class Noting(_Counting):
            def stream(self, request: Request, timeout_s: float) -> AsyncIterator[Json]:
                asked.append((request, timeout_s))
                return super().stream(request, timeout_s)

        async for _ in LimitedModel(Noting(), budget, clock).stream(request, 10.0):
            pass
        [call] = asked
        return call

    request = _request(max_tokens=1_900)

    given, left_s = run(called_with(request))

    assert given is request
    assert left_s == pytest.approx(8.0)


class _Hour:
    """A clock that all processes of a test share."""

    def __init__(self) -> None:
        self.at = 1_000.0

    def now(self) -> float:
        return self.at


def shared(
    connection: LateConnection, pace: Pace, hour: _Hour, key: str
) -> SharedCallBudget:
    return SharedCallBudget(
        SharedValue(connection, key, Bucket),
        pace,
        LocalCallBudget(pace, VirtualClock()),
        check_wait,
        hour.now,
    )


async def taken_by(budget: SharedCallBudget) -> int:
    """Takes until nothing is left without waiting."""
    count = 0
    while True:
        try:
            await budget.take(0, 0.001)
        except ModelError:
            return count
        count += 1


async def test_two_processes_together_take_no_more_than_there_is(
    server: NatsServer, tmp_path: Path
) -> None:
    hour, key = _Hour(), "two"
    pace = Pace(requests=600)
    connections = [LateConnection(server.url, name=name) for name in ("a", "b")]
    budgets = [shared(each, pace, hour, key) for each in connections]
    # Both are there before one begins: the first to come could take it all.
    await asyncio.gather(*[each.get() for each in connections])

    both = await asyncio.gather(*[taken_by(budget) for budget in budgets])
    hour.at += 1.0
    after = await asyncio.gather(*[taken_by(budget) for budget in budgets])
    for each in connections:
        await each.close()

    assert sum(both) == 600
    assert min(both) > 0
    assert sum(after) == 10
    # Half of it went in batches.
    assert sum(budget.draws for budget in budgets) < 400


async def test_a_process_without_servers_goes_on_by_its_own_pace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    give_up_soon(monkeypatch)
    connection = LateConnection(f"nats://127.0.0.1:{free_port()}", name="away")
    budget = shared(connection, Pace(requests=2), _Hour(), "away")

    await budget.take(0, 0.001)
    await budget.take(0, 0.001)
    with pytest.raises(ModelError):
        await budget.take(0, 0.001)
