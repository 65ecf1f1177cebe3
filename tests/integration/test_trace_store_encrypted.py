"""An encrypted store does all that a plain one does, shows nobody a word, and says what is wrong with a key."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from antiphon.service import load_settings
from antiphon.traces import SqliteTraceStore
from antiphon.traces.encryption import encrypt_file
from antiphon.traces.sqlite_store import FILE_NAME
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.events import QueryReceived
from antiphon.vocabulary.ports import TraceFilter
from tests.integration.test_trace_store_keeping import DAY_S, filled, whole
from tests.story import NOON, placed

KEY = "0123456789abcdef" * 4
OTHER_KEY = "f" * 64
WORDS = (b"word1", b"answer1", b"unique1", b"The passage 1 says")


def files(folder: Path) -> bytes:
    """All bytes of the store and of what lies beside it."""
    found = [path for path in sorted(folder.iterdir()) if path.is_file()]
    return b"".join(path.read_bytes() for path in found)


async def encrypted(folder: Path, count: int = 3) -> SqliteTraceStore:
    """An encrypted store with traces q0 …"""
    store = SqliteTraceStore.open(folder, key=KEY)
    for number in range(count):
        name = f"q{number}"
        events = placed(name, whole(str(number)), at=NOON + number * DAY_S)
        await store.append(name, 0, events)
    return store


async def test_neither_the_encrypted_file_nor_the_log_beside_it_contains_a_word(
    tmp_path: Path,
) -> None:
    store = await encrypted(tmp_path)
    while_open = files(tmp_path)
    await store.close()

    assert len(while_open) > 10_000
    for word in WORDS:
        assert word not in while_open
        assert word not in files(tmp_path)


async def test_a_plain_store_shows_those_words_so_that_the_test_above_can_fail(
    tmp_path: Path,
) -> None:
    store = await filled(tmp_path, 3)
    while_open = files(tmp_path)
    await store.close()

    assert [word for word in WORDS if word not in while_open] == []


async def test_an_encrypted_store_reads_finds_goes_on_and_deletes_as_a_plain_one_does(
    tmp_path: Path,
) -> None:
    await (await encrypted(tmp_path)).close()
    store = SqliteTraceStore.open(tmp_path, key=KEY)

    trace = await store.read("q1")
    found = await store.list(where=TraceFilter(text="word1"))
    exchanges = await store.exchanges("s1", 5)
    deleted = await store.delete(["q1"])
    left = await store.ids("", 10)
    await store.close()

    assert isinstance(trace[0].event, QueryReceived)
    assert [row.query_id for row in found] == ["q1"]
    assert len(exchanges) == 3
    assert (deleted, left) == (1, ["q0", "q2"])


@pytest.mark.parametrize(
    ("made_with", "opened_with", "says"),
    [
        (KEY, OTHER_KEY, "encrypted with another key"),
        (KEY, None, "If it is encrypted, set ANTIPHON_TRACE_KEY"),
        (None, KEY, "antiphon traces encrypt"),
    ],
)
async def test_a_wrong_or_missing_key_is_a_sentence_and_changes_nothing(
    made_with: str | None, opened_with: str | None, says: str, tmp_path: Path
) -> None:
    store = SqliteTraceStore.open(tmp_path, key=made_with)
    await store.append("q1", 0, placed("q1", whole("1")))
    await store.close()
    before = (tmp_path / FILE_NAME).read_bytes()

    with pytest.raises(ConfigurationError, match=says) as refused:
        SqliteTraceStore.open(tmp_path, key=opened_with)

    assert KEY not in str(refused.value)
    assert (tmp_path / FILE_NAME).read_bytes() == before


@pytest.mark.parametrize("key", ["", "secret", "g" * 64, "0" * 63, "0'; DROP --"])
def test_the_error_for_an_invalid_key_does_not_show_it(
    key: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match="64 hex digits") as refused:
        SqliteTraceStore.open(tmp_path, key=key)

    assert not key or key not in str(refused.value)


def test_without_its_package_a_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sqlcipher3.dbapi2", None)

    with pytest.raises(ConfigurationError, match=r"install antiphon\[encryption\]"):
        SqliteTraceStore.open(tmp_path, key=KEY)


def test_no_setting_shows_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_TRACE_KEY", KEY)

    settings = load_settings()

    assert settings.store_key == KEY
    assert KEY not in repr(settings)
    assert KEY not in settings.model_dump_json()


async def test_a_plain_store_is_encrypted_whole(tmp_path: Path) -> None:
    store = await filled(tmp_path, 3)
    await store.close()
    (tmp_path / "new").mkdir()

    encrypt_file(tmp_path / FILE_NAME, tmp_path / "new" / FILE_NAME, KEY)

    opened = SqliteTraceStore.open(tmp_path / "new", key=KEY)
    found = await opened.list(where=TraceFilter(text="answer2"))
    await opened.append("q9", 0, placed("q9", whole("9")))
    assert await opened.delete(["q0"]) == 1
    await opened.close()
    assert [row.query_id for row in found] == ["q2"]
    for word in WORDS:
        assert word not in files(tmp_path / "new")


async def test_a_store_that_was_encrypted_gets_smaller_when_traces_are_deleted(
    tmp_path: Path,
) -> None:
    long = " ".join(f"unique{number}" for number in range(20_000))
    store = await filled(tmp_path, 3, long)
    await store.close()
    (tmp_path / "new").mkdir()
    encrypted_file = tmp_path / "new" / FILE_NAME
    encrypt_file(tmp_path / FILE_NAME, encrypted_file, KEY)
    before = encrypted_file.stat().st_size

    opened = SqliteTraceStore.open(tmp_path / "new", key=KEY)
    await opened.delete(["q0", "q1", "q2"])
    await opened.close()

    assert encrypted_file.stat().st_size < before / 2
