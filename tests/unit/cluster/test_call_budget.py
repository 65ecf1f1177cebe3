"""The rate that all processes share: a call that finds none of it left waits for its turn, whoever used it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

from antiphon.cluster import SharedCallBudget, SharedValue
from antiphon.vocabulary.errors import RemoteError
from antiphon.vocabulary.pacing import Bucket, Pace
from tests.virtual_time import VirtualClock, run

PACE = Pace(requests=60)


class OneValue:
    """What all processes share, held here."""

    def __init__(self) -> None:
        self.bucket: Bucket | None = None
        self.is_away = False

    async def change(self, rule: Callable[[Bucket | None], Bucket]) -> Bucket:
        if self.is_away:
            raise RemoteError("the servers do not answer")
        self.bucket = rule(self.bucket)
        return self.bucket


class Alone:
    """A process's own budget, which counts who asks it."""

    def __init__(self) -> None:
        self.asked = 0

    async def take(self, tokens: int, within_s: float) -> None:
        self.asked += 1

    def settle(self, tokens: int) -> None:
        raise AssertionError("what was drawn is settled by the shared one")


def budget_on(value: OneValue, alone: Alone) -> SharedCallBudget:
    return SharedCallBudget(
        cast("SharedValue[Bucket]", value), PACE, alone, lambda *_: None, VirtualClock().now
    )  # fmt: skip


def test_of_two_processes_the_second_waits_for_what_the_first_has_used() -> None:
    async def waited() -> tuple[float, int]:
        value, alone, clock = OneValue(), Alone(), VirtualClock()
        for _ in range(60):
            await budget_on(value, alone).take(0, 100.0)
        began = clock.now()
        await budget_on(value, alone).take(0, 100.0)
        return clock.now() - began, alone.asked

    waited_s, asked = run(waited())

    assert waited_s > 0.5
    assert asked == 0


def test_where_the_servers_do_not_answer_a_process_keeps_to_its_own_rate() -> None:
    async def asked() -> int:
        value, alone = OneValue(), Alone()
        value.is_away = True
        await asyncio.gather(*[budget_on(value, alone).take(0, 1.0) for _ in range(3)])
        return alone.asked

    assert run(asked()) == 3
