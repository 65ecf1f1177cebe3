"""What every store that outlives a process must do: deleting, and keeping tenants and archives apart."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from antiphon.vocabulary.errors import NotFoundError, SequenceError
from antiphon.vocabulary.events import QueryClosed
from antiphon.vocabulary.ports import WholeTraceStore
from antiphon.vocabulary.values import Exchange
from tests.integration.test_trace_store_keeping import DAY_S, left, long_text, whole
from tests.story import NOON, answered, placed, query_received, tool_succeeded
from tests.trace_stores import kind, nats_url, opened, store

__all__ = ["kind", "nats_url", "store"]


async def fill(store: WholeTraceStore, count: int, *more: str) -> None:
    """Stores traces q0 … of one day each, the oldest first."""
    for number in range(count):
        events = placed(
            f"q{number}", whole(str(number), *more), at=NOON + number * DAY_S
        )
        await store.append(f"q{number}", 0, events)


async def test_deleted_traces_are_gone_and_the_others_stay_whole(
    store: WholeTraceStore,
) -> None:
    await fill(store, 3, "shared passage " * 30)

    assert await store.delete(["q1", "q1", "nowhere"]) == 1

    with pytest.raises(NotFoundError):
        await store.read("q1")
    assert await left(store) == ["q0", "q2"]
    assert (await store.read("q2"))[1].event == tool_succeeded(
        long_text("2"), "shared passage " * 30
    )


async def test_an_id_can_be_used_again_after_its_trace_was_deleted(
    store: WholeTraceStore,
) -> None:
    await fill(store, 1)
    await store.delete(["q0"])

    await store.append("q0", 0, placed("q0", whole("0")))

    assert len(await store.read("q0")) == 4


async def test_a_deleted_conversation_is_not_known_any_more(
    store: WholeTraceStore,
) -> None:
    await store.open_conversation("s1")
    for number, session_id in enumerate(("s1", "s2", "s1")):
        events = whole(str(number), session_id=session_id)
        await store.append(f"q{number}", 0, placed(f"q{number}", events))

    assert await store.delete_conversation("s1") == 2

    assert await left(store) == ["q1"]
    with pytest.raises(NotFoundError):
        await store.exchanges("s1", 2)
    with pytest.raises(NotFoundError):
        await store.delete_conversation("s1")
    assert await store.exchanges("s2", 2) == [
        Exchange(question="word1", answer="answer1")
    ]


async def test_pruning_by_age_spares_what_is_younger_and_what_still_runs(
    store: WholeTraceStore,
) -> None:
    await fill(store, 6)
    await store.append(
        "open", 0, placed("open", [query_received()], at=NOON - 9 * DAY_S)
    )

    assert await store.prune(older_than=NOON + 3 * DAY_S) == 3

    assert await left(store) == ["open", "q3", "q4", "q5"]
    await store.append(
        "open", 1, placed("open", [QueryClosed(status="answered")], after=1, at=NOON)
    )


async def test_pruning_what_is_small_and_young_changes_nothing(
    store: WholeTraceStore,
) -> None:
    await fill(store, 2)

    assert await store.prune(older_than=NOON - DAY_S, most_bytes=10**9) == 0

    assert await left(store) == ["q0", "q1"]


async def test_pruning_by_size_takes_the_oldest(store: WholeTraceStore) -> None:
    await fill(store, 60)

    deleted = await store.prune(most_bytes=60_000)

    assert 0 < deleted <= 60
    assert await left(store) == sorted(f"q{number}" for number in range(deleted, 60))


async def test_a_fork_outlives_the_trace_that_it_came_from(
    store: WholeTraceStore,
) -> None:
    await fill(store, 1)
    fork = placed("fork", whole("0"))
    await store.append("fork", 0, fork)

    await store.delete(["q0"])

    assert await store.read("fork") == fork


async def test_deleting_traces_while_others_are_written_loses_none_of_their_texts(
    store: WholeTraceStore,
) -> None:
    shared = [f"shared {number} " * 60 for number in range(20)]
    await fill(store, 30, *shared)

    async def write() -> None:
        for number in range(30):
            events = placed(f"new{number}", whole(f"n{number}", *shared))
            await store.append(f"new{number}", 0, events)

    deleted, _ = await asyncio.gather(
        store.prune(older_than=NOON + 100 * DAY_S), write()
    )

    assert deleted >= 30
    for query_id in await left(store):
        assert len(await store.read(query_id)) == 4


async def test_a_process_writes_a_text_again_that_another_has_deleted(
    kind: str, tmp_path: Path, nats_url: str
) -> None:
    async with (
        opened(kind, tmp_path, nats_url, prefix="anew") as store,
        opened(kind, tmp_path, nats_url, prefix="anew") as other,
    ):
        await fill(store, 1)
        await other.delete(["q0"])
        await store.append("q1", 0, placed("q1", whole("0")))

        assert (await store.read("q1"))[1].event == tool_succeeded(long_text("0"))
        assert await left(store) == await left(other) == ["q1"]


async def test_a_store_that_is_opened_again_holds_what_was_stored(
    kind: str, tmp_path: Path, nats_url: str
) -> None:
    events = placed("q1", answered("a", "b"))
    async with opened(kind, tmp_path, nats_url, prefix="again") as store:
        await store.append("q1", 0, events)
        await store.clear_conversation("s1")
    async with opened(kind, tmp_path, nats_url, prefix="again") as store:
        assert await store.read("q1") == events
        assert await left(store) == ["q1"]
        assert list(await store.exchanges("s1", 9)) == []


async def test_tenants_see_their_own_and_the_store_itself_sees_all(
    store: WholeTraceStore,
) -> None:
    red, blue = store.seen_by("red"), store.seen_by("blüe")
    await red.append("r", 0, placed("r", answered("red?", "yes", "red-talk")))
    await blue.append("b", 0, placed("b", answered("blue?", "yes", "blue-talk")))
    await blue.open_conversation("opened")

    assert (await store.label_of("r"), await store.label_of("b")) == ("red", "blüe")
    assert await store.label_of("nobody's") is None
    assert await left(red) == ["r"]
    assert await left(store) == ["b", "r"]
    for wrong in (
        red.read("b"),
        red.lines("b"),
        red.forms("b"),
        red.is_imported("b"),
        red.exchanges("blue-talk", 1),
        red.exchanges("opened", 1),
        red.clear_conversation("blue-talk"),
        red.delete_conversation("blue-talk"),
    ):
        with pytest.raises(NotFoundError):
            await wrong
    assert await red.delete(["b"]) == 0
    assert len(await blue.exchanges("blue-talk", 1)) == 1
    assert await blue.delete(["b"]) == 1


async def test_nobody_continues_an_imported_trace_unasked_and_it_is_in_no_conversation(
    store: WholeTraceStore,
) -> None:
    await store.add(placed("q1", answered("a", "b")[:2]))

    assert await store.is_imported("q1")
    assert await store.unfinished() == []
    with pytest.raises(NotFoundError):
        await store.exchanges("s1", 1)
    with pytest.raises(SequenceError):
        await store.add(placed("q1", answered("a", "b")))

    await store.take_over("q1")
    await store.append("q1", 2, placed("q1", [QueryClosed(status="answered")], after=2))

    assert not await store.is_imported("q1")
