"""What is packed for the store holds nothing that is to be redacted, however it is spelled."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from antiphon.traces import Redaction
from antiphon.traces.event_rows import Packer
from antiphon.traces.ownership import Origin
from antiphon.traces.packing import Batch, BatchPacker, Packed
from antiphon.vocabulary.events import Event, ToolRequested
from antiphon.vocabulary.values import ToolCall
from tests.story import placed, query_received, tool_succeeded
from tests.unit.traces.test_redacting import API_KEY, completed

BY_NUMBER = "".join(f"\\u{ord(letter):04x}" for letter in API_KEY)
LONG = "It says something of some length. " * 20
QUOTED = 'secret "in quotes"'


def calling(arguments: str) -> ToolRequested:
    call = ToolCall(id="t1", name="search", arguments=arguments)
    return ToolRequested(round=1, call=call, timeout_s=1.0)


def packed(events: list[Event], redaction: Redaction) -> Packed:
    batch = Batch("q1", 0, placed("q1", events), Origin("owner", "label"))
    return BatchPacker(redaction).pack(batch, known=set())


HOLDING: list[Event] = [
    query_received(f"Is {API_KEY} a key?"),
    tool_succeeded(f"{LONG}{API_KEY}{LONG}"),
    tool_succeeded(f"line\n{API_KEY}\ttab"),
    calling(msgspec.json.encode({"query": API_KEY}).decode()),
    calling(f'{{"query": "{BY_NUMBER}"}}'),
    calling(f'{{"query": "{LONG}", "{BY_NUMBER}": 1}}'),
    calling(f'{{"cut off": "{API_KEY}'),
    completed(
        {"type": "text", "text": API_KEY[:20]}, {"type": "text", "text": API_KEY[20:]}
    ),
    completed({"type": "thinking", "thinking": API_KEY, "signature": "s"}),
]


@pytest.mark.parametrize("event", HOLDING)
def test_a_key_is_redacted_on_its_way_into_the_store_wherever_it_stands(
    event: Event,
) -> None:
    redaction = Redaction(secrets=(API_KEY,))
    redacted = redaction.event(event)
    assert redacted != event

    found = packed([event], redaction)

    packer = Packer()
    assert found.rows == packer.rows("q1", placed("q1", [redacted]))
    assert found.texts == packer.take_texts()
    assert API_KEY not in str(found)
    assert BY_NUMBER not in str(found).replace("\\\\", "\\")


@pytest.mark.parametrize("event", [*HOLDING, tool_succeeded("half a \ud83d", API_KEY)])
def test_a_secret_is_redacted_as_a_pattern_is_that_says_the_same(event: Event) -> None:
    # With a pattern every field is looked through; for a secret alone the event's JSON is looked at first.
    by_pattern = Redaction({"the key": API_KEY})

    assert Redaction(secrets=(API_KEY,)).event(event) == by_pattern.event(event)


@pytest.mark.parametrize(
    ("secret", "event"),
    [
        (QUOTED, tool_succeeded(f"It is {QUOTED}.")),
        ("19870415", calling('{"query": 19870415}')),
        ("10000000", calling('{"query": 1e7}')),
        ("schlüssel", tool_succeeded("Der schlüssel.")),
        ("pass/word", calling('{"query": "pass\\/word"}')),
    ],
)
def test_a_secret_that_json_may_spell_in_another_way_is_redacted_too(
    secret: str, event: Event
) -> None:
    redaction = Redaction(secrets=(secret, API_KEY))
    redacted = redaction.event(event)
    assert redacted != event

    assert packed([event], redaction).rows == Packer().rows(
        "q1", placed("q1", [redacted])
    )


def test_events_without_a_secret_are_packed_as_they_are() -> None:
    events: list[Event] = [
        query_received("What is sk-learn?"),
        tool_succeeded(LONG, "caf\u00e9 \u2588 \x01"),
        calling('{"query": "caf\\u00e9"}'),
    ]

    found = packed(events, Redaction(secrets=(API_KEY,)))

    assert found.rows == Packer().rows("q1", placed("q1", events))
    assert [said.event for said in found.batch.events] == events


def test_a_pattern_is_looked_for_in_every_field() -> None:
    event = tool_succeeded(f"{LONG}KEY-4711")

    found = packed([event], Redaction({"the pattern": r"KEY-\d{4}"}))

    assert "KEY-4711" not in str(found)


def test_a_text_that_went_through_before_is_not_looked_through_again() -> None:
    redaction = Redaction(secrets=(API_KEY,))
    packer = BatchPacker(redaction)
    batch = Batch(
        "q1", 0, placed("q1", [tool_succeeded(f"{LONG} \\u0041")]), Origin("", "")
    )
    first = packer.pack(batch, known=set())

    again = packer.pack(replace_id(batch, "q2"), known=set(first.texts))

    assert again.texts == first.texts
    assert [row.body for row in again.rows] == [row.body for row in first.rows]


def replace_id(batch: Batch, query_id: str) -> Batch:
    events = [replace(said, query_id=query_id) for said in batch.events]
    return batch._replace(query_id=query_id, events=events)
