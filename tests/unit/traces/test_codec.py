"""Every event goes to JSON and back unchanged, in both forms; what is foreign is refused with what was found."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from antiphon.traces.codec import event_of, from_json, plain, to_json
from antiphon.traces.event_rows import KEPT_FROM_BYTES, Packer
from antiphon.traces.unpacking import Unpacker
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.errors import DecodeError
from antiphon.vocabulary.events import (
    Event,
    QueryClosed,
    Recorded,
    TextDelta,
    ToolSucceeded,
)
from antiphon.vocabulary.unknown import UnknownEvent
from antiphon.vocabulary.values import Passage, StoredText, UntrustedText
from tests.strategies import EVENT_KINDS, recorded

CLOSED = Recorded(
    query_id="q1", seq=3, cause=2, at=5.0, event=QueryClosed(status="answered")
)


def tool_succeeded(output: str) -> Recorded[Event]:
    """An event with one `StoredText`."""
    event = ToolSucceeded(
        tool_call_id="t1",
        name="search",
        output=StoredText(output),
        passages=(),
        duration_ms=1.0,
    )
    return Recorded(query_id="q1", seq=3, cause=2, at=5.0, event=event)


class NoteTaken(Event, frozen=True, kw_only=True, tag="note_taken"):
    """An event that a subscriber from outside brings along."""

    emitted_by = ("tester",)

    text: UntrustedText
    weight: float
    weights: tuple[float, ...] = ()
    limit: float | None = None


EXTENDED = BUILT_IN.extended([NoteTaken])


def recorded_as(event: Event) -> Recorded[Event]:
    return Recorded(query_id="q1", seq=3, cause=2, at=5.0, event=event)


def repacked(
    packer: Packer, original: Recorded[Event], catalog: Catalog = BUILT_IN
) -> Recorded[Event]:
    """`original` packed, and unpacked with the texts that were gathered."""
    body = packer.pack(original.event)
    return Unpacker(packer.take_texts().get, catalog).unpack(
        original.query_id,
        original.seq,
        original.cause,
        original.at,
        original.version,
        body,
    )


@pytest.mark.parametrize("kind", EVENT_KINDS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_every_event_survives_the_way_to_json_and_back_in_both_forms(
    kind: Any, data: st.DataObject
) -> None:
    original = data.draw(recorded(kind))

    assert from_json(to_json(original)) == original
    assert repacked(Packer(), original) == original


def test_the_plain_form_holds_a_text_as_a_plain_string() -> None:
    told = msgspec.json.decode(to_json(tool_succeeded("long " * 100)))

    assert told["event"]["output"] == "long " * 100


def test_the_plain_form_tells_deltas_too() -> None:
    assert msgspec.json.decode(to_json(TextDelta(call_id="c1", text="Hi"))) == {
        "kind": "text_delta",
        "call_id": "c1",
        "text": "Hi",
    }


def test_a_long_text_is_packed_as_its_key_and_gathered_once() -> None:
    packer = Packer()
    long = StoredText("é" * (KEPT_FROM_BYTES // 2))

    bodies = [packer.pack(tool_succeeded(long.text).event) for _ in range(2)]

    assert all(
        msgspec.json.decode(body)["output"] == {"kept": long.key} for body in bodies
    )
    assert packer.take_texts() == {long.key: long.text}
    assert packer.take_texts() == {}


def test_a_short_text_is_packed_in_place() -> None:
    packer = Packer()

    body = packer.pack(tool_succeeded("x" * (KEPT_FROM_BYTES - 1)).event)

    assert msgspec.json.decode(body)["output"] == "x" * (KEPT_FROM_BYTES - 1)
    assert packer.take_texts() == {}


def test_an_unpacked_text_is_fetched_once_and_shared() -> None:
    packer, asked = Packer(), []
    body = packer.pack(tool_succeeded("long " * 100).event)
    texts = packer.take_texts()

    def fetch(key: str) -> str:
        asked.append(key)
        return texts[key]

    unpacker = Unpacker(fetch)
    first, second = (
        unpacker.unpack("q1", seq, 0, 1.0, 1, body).event for seq in (1, 2)
    )

    assert isinstance(first, ToolSucceeded)
    assert isinstance(second, ToolSucceeded)
    assert first.output is second.output
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (b'"status"', b'"state"', "state"),
        (b'"seq"', b'"place"', "place"),
        (b'"answered"', b'"perhaps"', "perhaps"),
        (b'"version":1', b'"version":2', "version 2"),
        (b'"seq":3', b'"seq":"three"', "int"),
        (b"1}", b"1", "truncated"),
    ],
)
def test_a_foreign_event_is_refused_with_what_was_found_and_what_is_read(
    old: bytes, new: bytes, found: str
) -> None:
    with pytest.raises(DecodeError) as refused:
        from_json(to_json(CLOSED).replace(old, new))

    assert found in str(refused.value)
    assert "reads vocabulary version 1" in str(refused.value)


def test_a_refusal_names_the_trace_and_the_event() -> None:
    with pytest.raises(DecodeError, match=r"trace q1, seq 3: .*perhaps"):
        from_json(to_json(CLOSED).replace(b"answered", b"perhaps"))


def test_an_event_of_a_later_version_is_refused_for_its_version_whatever_else_it_holds() -> (
    None
):
    later = (
        to_json(CLOSED)
        .replace(b'"version":1', b'"version":2')
        .replace(b'"status"', b'"state"')
    )

    with pytest.raises(DecodeError, match="vocabulary version 2"):
        from_json(later)


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"null", b"\xff\xfe", b'{"event":' + b"[" * 100_000]
)
def test_what_is_no_event_at_all_is_refused(data: bytes) -> None:
    with pytest.raises(DecodeError):
        from_json(data)


@pytest.mark.parametrize("output", [b"3", b'{"kept":"0"}', b"[" * 5000 + b"]" * 5000])
def test_a_text_that_is_none_is_refused_in_the_plain_form(output: bytes) -> None:
    with pytest.raises(DecodeError):
        from_json(to_json(tool_succeeded("short")).replace(b'"short"', output))


@pytest.mark.parametrize(
    "output",
    [b"3", b'{"kept":"unknown"}', b'{"kept":3}', b'{"kept":"a","more":1}', b"{}"],
)
def test_a_text_that_is_none_is_refused_in_the_store_s_form(output: bytes) -> None:
    body = Packer().pack(tool_succeeded("short").event).replace(b'"short"', output)

    with pytest.raises(DecodeError, match="trace q1, seq 3"):
        Unpacker(lambda _: None).unpack("q1", 3, 0, 1.0, 1, body)


def test_an_event_of_a_subscriber_is_read_with_its_catalog_in_both_forms() -> None:
    original = recorded_as(NoteTaken(text=StoredText("long " * 100), weight=0.5))
    packer = Packer()
    body = packer.pack(original.event)

    assert from_json(to_json(original), EXTENDED) == original
    assert event_of(plain(original.event), EXTENDED) == original.event
    assert (
        Unpacker(packer.take_texts().get, EXTENDED).unpack("q1", 3, 2, 5.0, 1, body)
        == original
    )


@pytest.mark.parametrize("text", ["short", "long " * 100])
def test_an_event_that_no_named_subscriber_defines_keeps_its_kind_and_its_fields(
    text: str,
) -> None:
    original = recorded_as(NoteTaken(text=StoredText(text), weight=0.5))

    for read in (from_json(to_json(original)), repacked(Packer(), original)):
        assert isinstance(read.event, UnknownEvent)
        assert read.event.kind_name() == "note_taken"
        assert read.event.fields()["text"] == text
        assert to_json(read) == to_json(original)
        assert from_json(to_json(read), EXTENDED) == original


@pytest.mark.parametrize(
    "fields",
    [
        b'"about":"x","emitted_by":1,"subject":[],"class":{"kept":"no key"}',
        b'"":{"a":[{"b":null}]},"not an identifier":true',
        b'"field_1":1,"field_0":2',
        b"",
    ],
)
def test_the_fields_of_an_unknown_event_may_have_any_names_and_values(
    fields: bytes,
) -> None:
    line = to_json(CLOSED).replace(
        b'"kind":"query_closed","status":"answered"',
        (b'"kind":"k\\u001b[31m",' + fields).rstrip(b","),
    )

    read = from_json(line)

    assert msgspec.json.decode(to_json(read)) == msgspec.json.decode(line)
    assert read.event.subject() == ""


@pytest.mark.parametrize(
    "fields", ['"n":' + "9" * 5_000, '"a\\nb":1', '"x":' + "[" * 900 + "]" * 900]
)
def test_an_unknown_event_that_could_be_shown_to_nobody_is_refused(fields: str) -> None:
    line = to_json(CLOSED).replace(
        b'"kind":"query_closed","status":"answered"',
        f'"kind":"vanished",{fields}'.encode(),
    )

    with pytest.raises(DecodeError, match="q1"):
        from_json(line)


def test_a_trace_whose_first_event_is_of_an_unknown_kind_is_refused() -> None:
    first = to_json(CLOSED).replace(b'"seq":3,"cause":2', b'"seq":1,"cause":0')

    with pytest.raises(DecodeError, match=r"trace q1, seq 1: .*ANTIPHON_SUBSCRIBERS"):
        from_json(first.replace(b"query_closed", b"query_vanished"))


def test_numbers_that_json_cannot_say_are_read_from_the_store_as_nothing() -> None:
    passage = Passage(id="p", source="s", text=StoredText("t"), score=float("nan"))
    found = ToolSucceeded(
        tool_call_id="t1",
        name="n",
        output=StoredText("o"),
        passages=(passage,),
        duration_ms=float("inf"),
    )
    note = NoteTaken(
        text=StoredText("short"),
        weight=float("nan"),
        weights=(1.0, float("nan")),
        limit=float("inf"),
    )

    assert repacked(Packer(), recorded_as(found)).event == replace(
        found, duration_ms=0.0, passages=(replace(passage, score=0.0),)
    )
    assert repacked(Packer(), recorded_as(note), EXTENDED).event == replace(
        note, weight=0.0, weights=(1.0, 0.0), limit=None
    )


def test_half_a_character_is_replaced_and_the_rest_is_kept() -> None:
    hostile = tool_succeeded("before \ud800 after \ud83d\ude00")
    mended = tool_succeeded("before \ufffd after \U0001f600")

    assert from_json(to_json(hostile)) == mended
    assert repacked(Packer(), hostile) == mended
    assert b"\xef\xbf\xbd" in to_json(TextDelta(call_id="c1", text="\udfff"))
