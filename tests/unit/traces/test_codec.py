"""Every event goes to JSON and back unchanged, in both forms; what is foreign is refused with what was found."""

from __future__ import annotations

import msgspec
import pytest

from antiphon.traces.codec import from_json, to_json
from antiphon.traces.event_rows import Packer
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
from antiphon.vocabulary.values import StoredText

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


def test_the_plain_form_holds_a_text_as_a_plain_string() -> None:
    told = msgspec.json.decode(to_json(tool_succeeded("long " * 100)))

    assert told["event"]["output"] == "long " * 100


def test_the_plain_form_tells_deltas_too() -> None:
    assert msgspec.json.decode(to_json(TextDelta(call_id="c1", text="Hi"))) == {
        "kind": "text_delta",
        "call_id": "c1",
        "text": "Hi",
    }


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
    "data", [b"", b"[]", b"null", b"\xff\xfe", b'{"event":' + b"[" * 100_000]
)
def test_what_is_no_event_at_all_is_refused(data: bytes) -> None:
    with pytest.raises(DecodeError):
        from_json(data)


@pytest.mark.parametrize(
    "output",
    [b"3", b'{"kept":"unknown"}', b'{"kept":3}', b'{"kept":"a","more":1}', b"{}"],
)
def test_a_text_that_is_none_is_refused_in_the_store_s_form(output: bytes) -> None:
    body = Packer().pack(tool_succeeded("short").event).replace(b'"short"', output)

    with pytest.raises(DecodeError, match="trace q1, seq 3"):
        Unpacker(lambda _: None).unpack("q1", 3, 0, 1.0, 1, body)


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


def test_half_a_character_is_replaced_and_the_rest_is_kept() -> None:
    hostile = tool_succeeded("before \ud800 after \ud83d\ude00")
    mended = tool_succeeded("before \ufffd after \U0001f600")

    assert from_json(to_json(hostile)) == mended
    assert repacked(Packer(), hostile) == mended
    assert b"\xef\xbf\xbd" in to_json(TextDelta(call_id="c1", text="\udfff"))
