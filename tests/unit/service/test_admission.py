"""Who is let in, who waits, and who is told when to come again."""

from __future__ import annotations

import asyncio

import pytest

from antiphon.service.admission import LATE_S, LEAST_AT_ONCE, Admission
from antiphon.vocabulary.errors import BusyError


class Place:
    """A service with so many places, whose queries begin and end by hand, in a time of its own."""

    def __init__(self, most: int, most_wait_s: float = 2.0) -> None:
        self.now = 100.0
        self.running: set[str] = set()
        self.admission = Admission(
            most, most_wait_s, lambda: len(self.running), lambda: self.now
        )

    async def begin(self, query_id: str) -> None:
        async with self.admission.place(query_id):
            self.running.add(query_id)

    def end(self, query_id: str) -> None:
        self.running.discard(query_id)
        self.admission.ended(query_id)

    async def have_taken(self, seconds: float) -> None:
        """Queries that took so long, so that it is known how long they do."""
        await self.begin("before")
        self.now += seconds
        self.end("before")


async def test_a_query_waits_for_its_place_where_the_wait_is_short() -> None:
    service = Place(most=1)
    await service.have_taken(0.5)
    await service.begin("first")
    second = asyncio.create_task(service.begin("second"))
    await asyncio.sleep(0)

    assert service.running == {"first"}
    assert service.admission.waiting == 1

    service.end("first")
    await second

    assert service.running == {"second"}
    assert service.admission.waiting == 0


async def test_a_query_that_would_wait_too_long_is_refused_at_once_and_told_when_to_come() -> (
    None
):
    service = Place(most=2, most_wait_s=2.0)
    await service.have_taken(10.0)
    await service.begin("first")
    await service.begin("second")

    with pytest.raises(BusyError) as refused:
        await service.begin("third")

    # One of two places is free every five seconds: in three of them it is two seconds away.
    assert service.admission.expected_wait_s() == 5.0
    assert refused.value.retry_after_s == 3
    assert "about 5.0 s away" in str(refused.value)
    assert "ask again in 3 s" in str(refused.value)
    assert service.running == {"first", "second"}


async def test_queries_that_have_run_for_long_already_lengthen_the_wait() -> None:
    service = Place(most=1, most_wait_s=2.0)
    await service.have_taken(1.0)
    await service.begin("stuck")
    service.now += 60.0

    with pytest.raises(BusyError) as refused:
        await service.begin("next")

    assert refused.value.retry_after_s == 58


async def test_whoever_has_waited_as_long_as_is_waited_is_refused() -> None:
    service = Place(most=1, most_wait_s=0.01)
    await service.have_taken(0.005)
    await service.begin("first")

    with pytest.raises(BusyError):
        await service.begin("second")

    service.end("first")
    await service.begin("third")
    assert service.running == {"third"}


async def test_a_caller_that_goes_away_in_the_line_leaves_its_place_to_the_next() -> (
    None
):
    service = Place(most=1)
    await service.have_taken(0.1)
    await service.begin("first")
    gone = asyncio.create_task(service.begin("gone"))
    next_one = asyncio.create_task(service.begin("next"))
    await asyncio.sleep(0)

    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    service.end("first")
    await next_one

    assert service.running == {"next"}


async def test_a_place_given_in_the_moment_of_going_away_is_not_lost() -> None:
    service = Place(most=1)
    await service.have_taken(0.1)
    await service.begin("first")
    gone = asyncio.create_task(service.begin("gone"))
    await asyncio.sleep(0)

    service.end("first")
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    await service.begin("next")

    assert "next" in service.running
    assert len(service.running) == 1


async def test_a_query_that_fails_to_begin_gives_its_place_back() -> None:
    service = Place(most=1)

    with pytest.raises(ZeroDivisionError):
        async with service.admission.place("broken"):
            raise ZeroDivisionError
    await service.begin("next")

    assert service.running == {"next"}


async def test_whoever_waits_while_the_service_closes_is_refused() -> None:
    service = Place(most=1)
    await service.have_taken(0.1)
    await service.begin("first")
    waiting = asyncio.create_task(service.begin("second"))
    await asyncio.sleep(0)

    service.admission.close()

    with pytest.raises(BusyError, match="closing"):
        await waiting
    with pytest.raises(BusyError, match="closing"):
        await service.begin("third")


async def test_fewer_run_at_once_where_the_loop_is_late_and_more_again_where_it_is_not() -> (
    None
):
    service = Place(most=100)
    for number in range(50):
        await service.begin(f"q-{number}")

    service.admission.adapt(2 * LATE_S)
    assert service.admission.at_once == 40
    for _ in range(30):
        service.admission.adapt(2 * LATE_S)
    # Another program may hold the processor.
    assert service.admission.at_once >= LEAST_AT_ONCE
    for _ in range(40):
        service.admission.adapt(0.0)

    assert service.admission.at_once == 100


async def test_a_late_loop_does_not_let_more_run_than_are_set() -> None:
    service = Place(most=2)

    service.admission.adapt(2 * LATE_S)

    assert service.admission.at_once == 2
