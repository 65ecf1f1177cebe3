"""Trace files from elsewhere: an intact one survives a round trip; ten thousand spoilt ones are refused precisely."""

from __future__ import annotations

import hashlib
import random
import re
from pathlib import Path

import msgspec
import pytest

from antiphon.traces import SqliteTraceStore, read_trace_file, trace_file
from antiphon.vocabulary.errors import DecodeError, SequenceError
from tests.traces.conftest import Lines

FILES = 10_000


def whole_file(lines: list[bytes], sealed_as: list[bytes] | None = None) -> bytes:
    """A file of these lines, with the hash of these or of other lines."""
    body = b"".join(line + b"\n" for line in lines)
    sealed = (
        b"".join(line + b"\n" for line in sealed_as) if sealed_as is not None else body
    )
    # The id comes from any line that still has one: the first may be spoilt.
    head = {
        "antiphon_trace": 1,
        "query_id": next(
            found[1]
            for line in reversed(lines)
            if (found := re.search(rb'"query_id":"(q\d+)"', line))
        ).decode(),
        "events": len(lines),
        "sha256": hashlib.sha256(sealed).hexdigest(),
    }
    return msgspec.json.encode(head) + b"\n" + body


def _flip(lines: list[bytes], dice: random.Random) -> bytes:
    data = bytearray(whole_file(lines))
    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return bytes(data)


def _cut(lines: list[bytes], dice: random.Random) -> bytes:
    data = whole_file(lines)
    return data[: dice.randrange(len(data))]


def _swap(lines: list[bytes], dice: random.Random) -> bytes:
    one, other = dice.sample(range(len(lines)), 2)
    lines[one], lines[other] = lines[other], lines[one]
    return whole_file(lines)


def _lose(lines: list[bytes], dice: random.Random) -> bytes:
    # Never the last one: a trace without it is valid, as that of a query that is not over.
    del lines[dice.randrange(len(lines) - 1)]
    return whole_file(lines)


def _repeat(lines: list[bytes], dice: random.Random) -> bytes:
    at = dice.randrange(len(lines))
    return whole_file([*lines[: at + 1], *lines[at:]])


def _mislead(lines: list[bytes], dice: random.Random) -> bytes:
    """Changes a number, version or kind, and recomputes the file's hash."""
    at = dice.randrange(len(lines))
    event = msgspec.json.decode(lines[at])
    places: list[tuple[str, list[object]]] = [
        ("seq", [0, -1, 10**9, 2**63, "1", None, 1.5]),
        ("cause", [-1, 10**9, at + 1, "0", None]),
        ("at", [-1.0, "now", None, -1e308]),
        ("version", [0, 2, 99, -1, "1"]),
        ("query_id", ["", "another", "../../etc/passwd", None, 7]),
        ("event", [None, [], {}, "x", {"kind": "round_opened"}]),
        ("more", [1]),
    ]
    name, values = dice.choice(places)
    event[name] = dice.choice(values)
    lines[at] = msgspec.json.encode(event)
    return whole_file(lines)


def _distort(lines: list[bytes], dice: random.Random) -> bytes:
    """Gives an event a field of the wrong type, adds an unknown one or drops one, and recomputes the file's hash."""
    at = dice.randrange(len(lines))
    recorded = msgspec.json.decode(lines[at])
    event = recorded["event"]
    name = dice.choice([name for name in event if name != "kind"] or ["kind"])
    event[dice.choice([name, f"{name}_"])] = dice.choice(
        [{"deep": [[[1]]]}, [{"x": {}}], {"kept": "00"}]
    )
    lines[at] = msgspec.json.encode(recorded)
    return whole_file(lines)


def _nest(lines: list[bytes], dice: random.Random) -> bytes:
    deep = dice.choice([500, 100_000])
    lines[dice.randrange(len(lines))] = (
        b'{"query_id":' + b"[" * deep + b"]" * deep + b"}"
    )
    return whole_file(lines)


def _noise(lines: list[bytes], dice: random.Random) -> bytes:
    return dice.choice(
        [
            dice.randbytes(dice.randrange(2_000)),
            b"",
            b"\n" * 50,
            b"null\n",
            b"[]\n{}\n",
            b"\xff\xfe\n",
        ]
    )


def _other_head(lines: list[bytes], dice: random.Random) -> bytes:
    head, _, body = whole_file(lines).partition(b"\n")
    changed = msgspec.json.decode(head)
    changed[dice.choice(list(changed))] = dice.choice(
        [None, -1, 10**12, "x", [], {}, "\u0000" * 300]
    )
    return msgspec.json.encode(changed) + b"\n" + body


SPOIL = (
    _flip,
    _cut,
    _swap,
    _lose,
    _repeat,
    _mislead,
    _distort,
    _nest,
    _noise,
    _other_head,
)


async def test_the_refusal_of_each_of_ten_thousand_spoilt_files_names_the_fault_and_its_place(
    thousand: Lines, tmp_path: Path
) -> None:
    dice = random.Random(6)
    traces = [lines for lines in thousand.values() if 8 < len(lines) < 40]
    said: set[str] = set()

    for number in range(FILES):
        lines = list(dice.choice(traces))
        with pytest.raises(DecodeError) as refused:
            read_trace_file(SPOIL[number % len(SPOIL)](lines, dice))
        assert re.match(r"line \d+: .{10,}", str(refused.value))
        said.add(re.sub(r"\d+|'[^']*'|`[^`]*`", "", str(refused.value))[:60])

    assert len(said) > 15


async def test_a_trace_goes_into_a_file_and_into_another_store_as_it_was(
    thousand: Lines, tmp_path: Path
) -> None:
    events = read_trace_file(whole_file(list(thousand["q3"])))
    store = SqliteTraceStore.open(tmp_path)

    await store.add(events)

    assert await store.read("q3") == events
    assert trace_file(await store.read("q3")) == whole_file(list(thousand["q3"]))
    with pytest.raises(SequenceError):
        await store.add(events)
    await store.close()


async def test_the_service_does_not_resume_an_imported_query_that_is_not_over(
    thousand: Lines, tmp_path: Path
) -> None:
    store = SqliteTraceStore.open(tmp_path)

    await store.add(read_trace_file(whole_file(list(thousand["q3"])[:-1])))

    assert [line.status for line in await store.list()] == ["open"]
    assert await store.unfinished() == []
    await store.close()
