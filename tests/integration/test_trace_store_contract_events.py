"""What every store does with the events of subscribers, with what nobody can store, and with what nobody may."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec

from antiphon.traces import Redaction, read_trace_file, trace_file
from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.events import Event, QueryClosed
from antiphon.vocabulary.ports import WholeTraceStore
from antiphon.vocabulary.unknown import UnknownEvent
from antiphon.vocabulary.values import StoredText, UntrustedText
from tests.story import answered, placed, query_received
from tests.trace_stores import kind, nats_url, opened, store

__all__ = ["kind", "nats_url", "store"]


class NoteTaken(Event, frozen=True, kw_only=True, tag="note_taken"):
    """An event that a subscriber from outside brings along."""

    emitted_by = ("tester",)

    text: UntrustedText


async def test_an_event_of_a_subscriber_stays_whole_in_a_store_that_does_not_know_the_subscriber(
    kind: str, tmp_path: Path, nats_url: str
) -> None:
    catalog = BUILT_IN.extended([NoteTaken])
    trace = placed(
        "q1",
        [
            query_received(),
            NoteTaken(text=StoredText("noted " * 100)),
            QueryClosed(status="answered"),
        ],
    )
    here, there = tmp_path / "here", tmp_path / "there"
    async with opened(
        kind, here, nats_url, catalog=catalog, prefix="subscribed"
    ) as store:
        await store.append("q1", 0, trace)
        assert await store.read("q1") == trace
        file = trace_file(await store.read("q1"))
    async with opened(kind, there, nats_url, catalog=catalog) as other:
        await other.add(read_trace_file(file, catalog))
        assert await other.read("q1") == trace
    async with opened(kind, here, nats_url, prefix="subscribed") as without:
        for read in (await without.read("q1"), read_trace_file(file)):
            unknown = read[1].event
            assert isinstance(unknown, UnknownEvent)
            assert unknown.kind_name() == "note_taken"
            assert unknown.fields() == {"text": "noted " * 100}
            assert trace_file(read) == file
        kinds = [form["kind"] for form in await without.forms("q1")]
        assert kinds == ["query_received", "note_taken", "query_closed"]
        lines = [msgspec.json.decode(line) for line in await without.lines("q1")]
        assert lines[1]["event"]["text"] == "noted " * 100


class OddNoted(Event, frozen=True, kw_only=True, tag="odd_noted"):
    """An event of a subscriber that holds what no store can hold."""

    emitted_by = ("tester",)

    odd: object


async def test_an_event_that_cannot_be_encoded_fails_its_own_append_alone(
    store: WholeTraceStore,
) -> None:
    odd = [query_received(), OddNoted(odd=object())]
    appends = [
        store.append(f"q{number}", 0, placed(f"q{number}", [query_received()]))
        for number in range(40)
    ]

    *stored, refused = await asyncio.gather(
        *appends, store.append("odd", 0, placed("odd", odd)), return_exceptions=True
    )

    assert stored == [None] * 40
    assert isinstance(refused, NotImplementedError)
    assert len(await store.ids("", 100)) == 40


async def test_what_is_to_be_redacted_is_not_stored(
    kind: str, tmp_path: Path, nats_url: str
) -> None:
    redaction = Redaction({"a number": r"\d{4}-\d{4}"}, ["secret-word"])
    events = placed("q1", answered("my number is 1234-5678", "it is a secret-word"))
    async with opened(kind, tmp_path, nats_url, redaction) as store:
        await store.append("q1", 0, events)

        text = b"".join(await store.lines("q1")).decode()
        assert "1234-5678" not in text
        assert "secret-word" not in text
        (line,) = await store.list()
        assert "1234-5678" not in line.query
