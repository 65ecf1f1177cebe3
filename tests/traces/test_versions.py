"""Traces outlive the program that recorded them: a newer one reads them or refuses in a sentence, and exports all."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from antiphon.composition import load_settings
from antiphon.service import trace_test
from antiphon.service.archive import Archive
from antiphon.traces import (
    SqliteTraceStore,
    file_of_lines,
    from_json,
    read_trace_file,
    trace_file,
    trace_lines,
)
from antiphon.traces.reading import UPGRADERS, Form, upgraded
from antiphon.traces.sqlite_store import FILE_NAME
from antiphon.vocabulary.errors import BadInputError, DecodeError, NotFoundError
from antiphon.vocabulary.events import VERSION, QueryReceived
from tests.stored_rows import part_rows
from tests.story import answered, placed, tool_succeeded

STORED = Path(__file__).parent / "versions"


def stored_file(version: int) -> bytes:
    """A trace recorded by a program with this version of the vocabulary."""
    return (STORED / f"{version}.jsonl").read_bytes()


def in_version(version: int, rename: dict[str, str]) -> bytes:
    """Today's trace in the form of another version, whose fields have other names."""
    lines: list[bytes] = []
    for line in trace_lines(stored_file(VERSION))[1]:
        recorded = msgspec.json.decode(line) | {"version": version}
        for now, then in rename.items():
            if now in recorded["event"]:
                recorded["event"][then] = recorded["event"].pop(now)
        lines.append(msgspec.json.encode(recorded))
    return file_of_lines(recorded["query_id"], lines)


async def store_with(folder: Path, file: bytes) -> SqliteTraceStore:
    """A store that holds a file's events as the program that recorded them stored them."""
    store = SqliteTraceStore.open(folder)
    await store.add(read_trace_file(stored_file(VERSION)))
    with closing(sqlite3.connect(folder / FILE_NAME)) as other, other:
        part_rows(other)
        for line in trace_lines(file)[1]:
            recorded = msgspec.json.decode(line)
            other.execute(
                "UPDATE events SET body = ?, version = ? WHERE seq = ?",
                (
                    msgspec.json.encode(recorded["event"]),
                    recorded["version"],
                    recorded["seq"],
                ),
            )
    return store


@pytest.mark.parametrize("version", range(1, VERSION + 1))
def test_a_trace_of_every_version_since_the_first_is_read_today(version: int) -> None:
    events = read_trace_file(stored_file(version))

    assert isinstance(events[0].event, QueryReceived)
    assert {recorded.version for recorded in events} == {VERSION}
    assert dict(events[0].event.versions)["antiphon"]


def test_every_version_before_this_one_has_its_reader() -> None:
    assert set(UPGRADERS) == set(range(1, VERSION))


def test_an_event_goes_through_every_version_between_its_own_and_this_one() -> None:
    def rename(event: Form) -> Form:
        return {**event, "query": event["question"]}

    def drop(event: Form) -> Form:
        return {name: value for name, value in event.items() if name != "question"}

    readers = {1: rename, 2: drop}

    assert upgraded({"question": "a"}, 1, readers, 3) == {"query": "a"}
    assert upgraded({"question": "a", "query": "a"}, 2, readers, 3) == {"query": "a"}
    assert upgraded({"query": "a"}, 3, readers, 3) == {"query": "a"}
    with pytest.raises(msgspec.DecodeError, match="version 1"):
        upgraded({"no": "question"}, 1, readers, 3)


async def test_a_trace_of_an_older_form_is_read_from_a_file_and_from_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = VERSION - 1
    file = in_version(older, {"query": "question", "answer": "reply"})
    back = {"question": "query", "reply": "answer"}

    def renamed(event: Form) -> Form:
        return {back.get(name, name): value for name, value in event.items()}

    monkeypatch.setitem(UPGRADERS, older, renamed)
    store = await store_with(tmp_path, file)
    query_id = read_trace_file(file)[0].query_id

    assert read_trace_file(file) == read_trace_file(stored_file(VERSION))
    assert await store.read(query_id) == read_trace_file(file)
    assert [form["kind"] for form in await store.forms(query_id)] == [
        recorded.event.kind_name() for recorded in await store.read(query_id)
    ]
    assert file_of_lines(query_id, await store.lines(query_id)) == file
    await store.close()


async def test_a_trace_that_is_older_than_a_field_becomes_a_test_in_todays_form(
    tmp_path: Path,
) -> None:
    _, lines = trace_lines(stored_file(VERSION))
    older: list[bytes] = []
    for line in lines:
        recorded = msgspec.json.decode(line)
        # A field that rules fill, with a default for traces that are older than the field.
        recorded["event"].pop("kept_s", None)
        older.append(msgspec.json.encode(recorded))
    query_id = recorded["query_id"]
    store = await store_with(tmp_path, file_of_lines(query_id, older))
    archive = Archive(store, load_settings(data_dir=tmp_path), (), ())
    with pytest.raises(BadInputError, match="kept_s"):
        trace_test(await store.read(query_id), "mine")

    made = await archive.regression_test(query_id)

    assert read_trace_file(made.trace.encode()) == read_trace_file(stored_file(VERSION))
    assert made.trace_name in made.test
    await store.close()


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (VERSION + 1, "a newer Antiphon, with vocabulary version"),
        (VERSION + 10**6, "a newer Antiphon"),
        (VERSION - 1, "for which there is no reader here"),
        (-1, "for which there is no reader here"),
    ],
)
async def test_a_version_without_a_reader_is_refused_in_a_sentence_and_exported(
    tmp_path: Path, version: int, said: str
) -> None:
    file = in_version(version, {"query": "no_such_field"})
    store = await store_with(tmp_path, file)
    query_id = "stored-version-1"

    with pytest.raises(DecodeError, match=said):
        read_trace_file(file)
    with pytest.raises(DecodeError, match=said):
        from_json(trace_lines(file)[1][0])
    with pytest.raises(DecodeError, match=said) as unread:
        await store.read(query_id)

    assert "this program reads vocabulary version" in str(unread.value)
    assert "antiphon traces export" in str(unread.value)
    assert "recorded by Antiphon 0." in str(unread.value)
    assert [line.query_id for line in await store.list()] == [query_id]
    assert file_of_lines(query_id, await store.lines(query_id)) == file
    await store.close()


@pytest.mark.parametrize(
    "spoil",
    [
        {"no_such_field": 1},
        {"kind": "no_such_event"},
        {"query": None},
        {"settings": {"no_such_setting": [{"kept": "0" * 64}]}},
        {"courses": {"kept": "0" * 64}},
    ],
    ids=str,
)
async def test_a_trace_whose_fields_are_unknown_here_is_exported_as_it_is(
    tmp_path: Path, spoil: dict[str, Any]
) -> None:
    lines = [msgspec.json.decode(line) for line in trace_lines(stored_file(VERSION))[1]]
    lines[0]["event"] |= spoil
    file = file_of_lines(
        "stored-version-1", [msgspec.json.encode(line) for line in lines]
    )
    store = await store_with(tmp_path, file)

    with pytest.raises(DecodeError):
        await store.read("stored-version-1")
    assert file_of_lines("x", await store.lines("stored-version-1")) == file_of_lines(
        "x", trace_lines(file)[1]
    )
    with pytest.raises(NotFoundError):
        await store.lines("no-such-trace")
    await store.close()


async def test_an_event_that_is_no_json_is_exported_for_somebody_to_mend(
    tmp_path: Path,
) -> None:
    store = await store_with(tmp_path, stored_file(VERSION))
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as other, other:
        other.execute("UPDATE events SET body = x'00ff' WHERE seq = 1")

    lines = await store.lines("stored-version-1")

    assert msgspec.json.decode(lines[0])["event"] == {"unreadable": "00ff"}
    await store.close()


async def test_an_export_of_stored_lines_equals_the_recording(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    events = placed("q1", [*answered("a", "b")[:1], tool_succeeded("long " * 100)])
    await store.append("q1", 0, events)

    assert file_of_lines("q1", await store.lines("q1")) == trace_file(events)
    await store.close()
