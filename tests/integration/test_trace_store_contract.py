"""What every trace store must do, run against the one in memory, the one in SQLite and the one on NATS JetStream."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol

import pytest
import pytest_asyncio
from msgspec.structs import replace

from antiphon.vocabulary.errors import NotFoundError, SequenceError
from antiphon.vocabulary.events import QueryClosed, QueryReceived
from antiphon.vocabulary.ports import QueryStore, TraceListing
from antiphon.vocabulary.values import Exchange
from tests.fakes import MemoryTraceStore
from tests.story import (
    NOON,
    answered,
    placed,
    query_received,
    response_assembled,
    tool_succeeded,
)
from tests.trace_stores import KINDS, nats_url, opened

__all__ = ["nats_url"]


class Stored(QueryStore, TraceListing, Protocol):
    """What all stores can do."""


@pytest_asyncio.fixture(params=["memory", *KINDS])
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, nats_url: str
) -> AsyncIterator[Stored]:
    if request.param == "memory":
        yield MemoryTraceStore()
        return
    async with opened(request.param, tmp_path, nats_url) as of_kind:
        yield of_kind


async def test_what_was_appended_is_read_in_order(store: Stored) -> None:
    events = placed(
        "q1",
        [
            query_received(),
            tool_succeeded("long text " * 50, "short"),
            *answered("a", "b")[1:],
        ],
    )

    await store.append("q1", 0, events[:1])
    await store.append("q1", 1, events[1:])

    assert await store.read("q1") == events
    assert await store.read("q1", after=2) == events[2:]
    assert await store.read("q1", after=4) == []


async def test_an_unknown_trace_is_not_found(store: Stored) -> None:
    with pytest.raises(NotFoundError):
        await store.read("nowhere")


@pytest.mark.parametrize("expected_seq", [0, 2])
async def test_an_append_that_expects_another_seq_is_refused_and_changes_nothing(
    store: Stored, expected_seq: int
) -> None:
    first, *rest = placed("q1", answered("a", "b"))
    await store.append("q1", 0, [first])

    with pytest.raises(SequenceError) as refused:
        await store.append("q1", expected_seq, rest)

    assert (
        refused.value.query_id,
        refused.value.expected_seq,
        refused.value.found_seq,
    ) == ("q1", expected_seq, 1)
    assert await store.read("q1") == [first]


async def test_the_listing_has_a_line_a_query_with_how_it_ended(store: Stored) -> None:
    await store.append("q1", 0, placed("q1", answered("What?", "That.")))

    (line,) = await store.list()

    assert (line.query_id, line.session_id, line.query, line.status) == (
        "q1",
        "s1",
        "What?",
        "answered",
    )
    assert (line.started_at, line.duration_ms, line.events) == (NOON + 1, 2000.0, 3)
    assert (line.confidence, line.reasoner) == ("high", "offline")


async def test_a_query_that_has_not_ended_is_listed_as_open(store: Stored) -> None:
    await store.append("q1", 0, placed("q1", [query_received()]))

    (line,) = await store.list()

    assert (line.status, line.duration_ms, line.events, line.confidence) == (
        "open",
        None,
        1,
        None,
    )


async def test_the_listing_is_newest_first_and_can_be_paged(store: Stored) -> None:
    for number in range(5):
        await store.append(
            f"q{number}",
            0,
            placed(f"q{number}", [query_received()], at=NOON + 10 * number),
        )

    first = await store.list(limit=2)
    second = await store.list(limit=2, before=first[-1].started_at)

    assert [line.query_id for line in first] == ["q4", "q3"]
    assert [line.query_id for line in second] == ["q2", "q1"]


async def test_a_fork_is_no_exchange_of_its_parents_conversation(store: Stored) -> None:
    first, *rest = answered("one", "1")
    assert isinstance(first, QueryReceived)
    await store.append("q1", 0, placed("q1", [first, *rest]))
    await store.append(
        "q2",
        0,
        placed("q2", [replace(first, parent="q1"), *answered("one", "what if")[1:]]),
    )

    assert list(await store.exchanges("s1", limit=9)) == [
        Exchange(question="one", answer="1")
    ]


async def test_ids_are_found_by_their_beginning_in_order(store: Stored) -> None:
    for query_id in ("ab2", "ab1", "ab", "a", "b", "ab%", "ab\U0001f600", "aç"):
        await store.append(query_id, 0, placed(query_id, [query_received()]))

    assert await store.ids("ab", 9) == ["ab", "ab%", "ab1", "ab2", "ab\U0001f600"]
    assert await store.ids("ab", 2) == ["ab", "ab%"]
    assert await store.ids("aç", 9) == ["aç"]
    assert await store.ids("x", 9) == []
    assert len(await store.ids("", 99)) == 8


async def test_a_conversation_has_its_last_answered_exchanges_oldest_first(
    store: Stored,
) -> None:
    await store.append("q1", 0, placed("q1", answered("one", "1")))
    await store.append("q2", 0, placed("q2", answered("two", "2", status="partial")))
    await store.append("q3", 0, placed("q3", answered("three", "3", status="failed")))
    await store.append(
        "q4", 0, placed("q4", [query_received("four"), response_assembled("4")])
    )
    await store.append("q5", 0, placed("q5", answered("other", "0", session_id="s2")))
    await store.append("q6", 0, placed("q6", answered("six", "6")))

    exchanges = await store.exchanges("s1", limit=2)

    assert list(exchanges) == [
        Exchange(question="two", answer="2"),
        Exchange(question="six", answer="6"),
    ]


async def test_a_cleared_conversation_starts_over_and_keeps_its_traces(
    store: Stored,
) -> None:
    await store.append("q1", 0, placed("q1", answered("one", "1")))
    await store.append("q2", 0, placed("q2", answered("two", "2")[:2]))

    await store.clear_conversation("s1")
    await store.append("q2", 2, placed("q2", [QueryClosed(status="answered")], after=2))
    await store.append("q3", 0, placed("q3", answered("three", "3")))

    assert list(await store.exchanges("s1", limit=9)) == [
        Exchange(question="three", answer="3")
    ]
    assert len(await store.list()) == 3


async def test_a_conversation_is_known_when_it_was_opened_or_asked_in(
    store: Stored,
) -> None:
    await store.open_conversation("opened")
    await store.open_conversation("opened")
    await store.append("q1", 0, placed("q1", [query_received(session_id="asked")]))

    assert list(await store.exchanges("opened", limit=2)) == []
    assert list(await store.exchanges("asked", limit=2)) == []


async def test_an_unknown_conversation_is_not_found(store: Stored) -> None:
    with pytest.raises(NotFoundError):
        await store.exchanges("nowhere", limit=2)
    with pytest.raises(NotFoundError):
        await store.clear_conversation("nowhere")


async def test_a_question_with_half_a_character_is_stored(store: Stored) -> None:
    await store.append("q1", 0, placed("q1", [query_received("half \ud800")]))

    assert len(await store.read("q1")) == 1


async def test_clearing_one_conversation_leaves_every_other_as_it_is(
    store: Stored,
) -> None:
    await store.append("q1", 0, placed("q1", answered("one", "1")))
    await store.append("q2", 0, placed("q2", answered("two", "2", session_id="s2")))

    await store.clear_conversation("s1")

    assert list(await store.exchanges("s1", limit=9)) == []
    assert list(await store.exchanges("s2", limit=9)) == [
        Exchange(question="two", answer="2")
    ]
