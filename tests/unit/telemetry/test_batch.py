"""What is heard of queries is handled later: in order, soon, and all of it."""

from __future__ import annotations

import asyncio

from antiphon.telemetry.batch import MOST, Batch


class Seen:
    """What was handled, and a wait for it."""

    def __init__(self) -> None:
        self.items: list[object] = []
        self._news = asyncio.Event()

    def take(self, item: object) -> None:
        self.items.append(item)
        self._news.set()

    async def comes_to(self, count: int) -> None:
        async with asyncio.timeout(20):
            while len(self.items) < count:
                self._news.clear()
                await self._news.wait()


def fail(_: object) -> None:
    raise ZeroDivisionError


async def test_little_is_handled_a_moment_later_in_the_order_in_which_it_came() -> None:
    batch, seen = Batch(), Seen()

    for number in range(3):
        batch.add(seen.take, number)
    at_once = list(seen.items)
    await seen.comes_to(3)

    assert (at_once, seen.items) == ([], [0, 1, 2])


async def test_much_is_handled_in_the_next_turn_of_the_loop() -> None:
    batch, seen = Batch(), Seen()

    for number in range(MOST):
        batch.add(seen.take, number)
    before = len(seen.items)
    await asyncio.sleep(0)

    assert (before, len(seen.items)) == (0, MOST)


async def test_what_is_heard_while_it_is_handled_is_handled_too() -> None:
    batch, seen = Batch(), Seen()

    def hear_more(number: int) -> None:
        seen.take(number)
        if number < 3:
            batch.add(hear_more, number + 1)

    batch.add(hear_more, 1)
    batch.flush()

    assert seen.items == [1, 2, 3]


async def test_an_error_is_told_and_what_came_behind_it_is_handled_with_the_next() -> (
    None
):
    batch, seen, told = Batch(), Seen(), Seen()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: told.take(context["exception"]))

    batch.add(fail, None)
    batch.add(seen.take, 1)
    await told.comes_to(1)
    batch.add(seen.take, 2)
    await seen.comes_to(2)

    assert [type(error) for error in told.items] == [ZeroDivisionError]
    assert seen.items == [1, 2]
