"""A backup that is made while the service answers is whole and restores to what was there; others are refused."""

from __future__ import annotations

import asyncio
import io
import json
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from antiphon.access.backup import MANIFEST
from antiphon.access.tenant_libraries import tenant_folder
from antiphon.knowledge import generation_in_use
from antiphon.service import (
    AccessFile,
    Antiphon,
    Keys,
    Question,
    back_up,
    embedder_of,
    index_paths,
    load_settings,
    replay,
    restore,
)
from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary.errors import BadInputError, ConfigurationError
from antiphon.vocabulary.events import QueryClosed
from tests.course_files import write_course
from tests.integration.test_trace_store_keeping import whole
from tests.story import placed

KEY = "0123456789abcdef" * 4
QUESTION = Question(query="What does the apple course say?")


def indexed(folder: Path) -> Path:
    """A data folder with an index, a document and what processes leave behind."""
    data = folder / "data"
    write_course(folder / "courses", "apple", lessons=2)
    settings = load_settings(data_dir=data, embedder="onnx", reasoner="offline")
    index_paths([folder / "courses"], data, embedder_of(settings))
    (data / "documents").mkdir()
    (data / "documents" / "own.txt").write_text("An own document.")
    (data / ".incoming" / "x").mkdir(parents=True)
    (data / ".incoming" / "x" / "half.txt").write_text("half a file")
    (data / "traces-of-cluster.sqlite").write_text("a list of what is on NATS")
    return data


async def opened(data: Path) -> Antiphon:
    settings = load_settings(data_dir=data, embedder="onnx", reasoner="offline")
    return await Antiphon.open(settings)


async def test_a_backup_made_under_load_is_restored_whole(tmp_path: Path) -> None:
    data = indexed(tmp_path)
    service = await opened(data)
    first = await service.ask(QUESTION)
    asked = 0
    stop = asyncio.Event()

    async def keep_asking() -> None:
        nonlocal asked
        while not stop.is_set():
            outcome = await service.ask(QUESTION)
            assert outcome.response.answer
            indicators = {doubt.kind for doubt in outcome.response.indicators}
            assert "trace_incomplete" not in indicators
            asked += 1

    load = [asyncio.create_task(keep_asking()) for _ in range(4)]
    backups = [tmp_path / f"{number}.tar" for number in range(3)]
    for backup in backups:
        await asyncio.to_thread(back_up, data, backup)
        # So that the next backup holds more.
        await service.ask(QUESTION)
    stop.set()
    await asyncio.gather(*load)
    await service.close()

    whole_traces = []
    for backup in backups:
        place = tmp_path / f"restored-{backup.stem}"
        manifest = restore(backup, place)
        assert manifest.generation == 1
        again = await opened(place)
        for query_id in await again.store.ids("", 10_000):
            trace = await again.store.read(query_id)
            if isinstance(trace[-1].event, QueryClosed):
                assert replay(trace).divergence is None
        assert await again.store.read(first.query_id)
        assert await again.store.exchanges(first.session_id, 1)
        outcome = await again.ask(QUESTION)
        assert outcome.response.citations
        whole_traces.append(len(await again.store.ids("", 10_000)))
        await again.close()
        assert (place / "documents" / "own.txt").read_text() == "An own document."
        assert not (place / ".incoming").exists()
        assert not (place / "traces-of-cluster.sqlite").exists()
        assert not [path for path in place.rglob("*") if path.name.endswith("-wal")]
    assert whole_traces == sorted(whole_traces)
    assert whole_traces[0] < whole_traces[-1]


def test_only_its_owner_may_read_a_backup_and_what_is_restored(tmp_path: Path) -> None:
    data = indexed(tmp_path)
    backup = tmp_path / "b.tar"
    back_up(data, backup)
    restore(backup, tmp_path / "new")

    for path in (backup, *(tmp_path / "new").rglob("*")):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path


async def test_an_encrypted_store_stays_so_in_its_backup(tmp_path: Path) -> None:
    data = tmp_path / "data"
    store = SqliteTraceStore.open(data, key=KEY)
    await store.append("q1", 0, placed("q1", whole("1")))
    backup = tmp_path / "b.tar"
    back_up(data, backup, KEY)
    await store.close()
    restore(backup, tmp_path / "new")

    assert b"word1" not in backup.read_bytes()
    with pytest.raises(ConfigurationError):
        SqliteTraceStore.open(tmp_path / "new")
    again = SqliteTraceStore.open(tmp_path / "new", key=KEY)
    assert await again.ids("", 10) == ["q1"]
    await again.close()


def repacked(backup: Path, change: Callable[[str, bytes], bytes | None]) -> None:
    """Rewrites a backup, each file as `change` returns it, without those for which it returns None."""
    kept: list[tuple[str, bytes]] = []
    with tarfile.open(backup) as tar:
        for member in tar:
            file = tar.extractfile(member)
            assert file is not None
            data = change(member.name, file.read())
            if data is not None:
                kept.append((member.name, data))
    with tarfile.open(backup, "w") as tar:
        for name, data in kept:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def without_manifest(name: str, data: bytes) -> bytes | None:
    return None if name == MANIFEST else data


def with_another_byte(name: str, data: bytes) -> bytes | None:
    return data + b"x" if name == "documents/own.txt" else data


def without_a_file(name: str, data: bytes) -> bytes | None:
    return None if name == "documents/own.txt" else data


def of_a_newer_program(name: str, data: bytes) -> bytes | None:
    if name != MANIFEST:
        return data
    return json.dumps({**json.loads(data), "format": 9}).encode()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (without_manifest, "its manifest is missing"),
        (with_another_byte, "is damaged"),
        (without_a_file, "is damaged"),
        (of_a_newer_program, "has format 9"),
    ],
)
def test_a_backup_that_is_not_sound_is_refused_and_leaves_nothing_behind(
    change: Callable[[str, bytes], bytes | None], says: str, tmp_path: Path
) -> None:
    backup = tmp_path / "b.tar"
    back_up(indexed(tmp_path), backup)
    repacked(backup, change)

    with pytest.raises(BadInputError, match=says):
        restore(backup, tmp_path / "new")

    assert not (tmp_path / "new").exists()
    assert not list(tmp_path.glob(".restoring-*"))


def test_a_file_that_the_manifest_does_not_name_is_not_restored(
    tmp_path: Path,
) -> None:
    backup = tmp_path / "b.tar"
    back_up(indexed(tmp_path), backup)
    with tarfile.open(backup, "a") as tar:
        tar.addfile(tarfile.TarInfo("documents/slipped-in.txt"), io.BytesIO())

    with pytest.raises(BadInputError, match="is damaged"):
        restore(backup, tmp_path / "new")

    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", ["../outside.txt", "/tmp/outside.txt", "a/../../b"])
def test_a_crafted_backup_writes_nothing_outside_its_folder(
    name: str, tmp_path: Path
) -> None:
    backup = tmp_path / "b.tar"
    with tarfile.open(backup, "w") as tar:
        tar.addfile(tarfile.TarInfo(name), io.BytesIO())

    with pytest.raises(BadInputError, match="no plain file"):
        restore(backup, tmp_path / "deep" / "new")

    assert {path.name for path in tmp_path.iterdir()} == {"b.tar", "deep"}


def test_a_link_in_a_backup_is_refused(tmp_path: Path) -> None:
    backup = tmp_path / "b.tar"
    with tarfile.open(backup, "w") as tar:
        link = tarfile.TarInfo("documents")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc"
        tar.addfile(link)

    with pytest.raises(BadInputError, match="no plain file"):
        restore(backup, tmp_path / "new")


def test_a_backup_overwrites_no_file_and_is_restored_into_no_folder_that_is_not_empty(
    tmp_path: Path,
) -> None:
    data = indexed(tmp_path)
    backup = tmp_path / "b.tar"
    back_up(data, backup)

    with pytest.raises(BadInputError, match="there already"):
        back_up(data, backup)
    with pytest.raises(BadInputError, match="is not empty"):
        restore(backup, data)
    with pytest.raises(BadInputError, match="cannot be restored"):
        restore(data / "documents" / "own.txt", tmp_path / "new")


def test_a_backup_holds_keys_and_the_documents_of_tenants_and_not_their_old_indexes(
    tmp_path: Path,
) -> None:
    data = indexed(tmp_path)
    file = AccessFile(data, 5_000)
    key, _ = Keys(file).add("test", "acme", ("ask",))
    own = tenant_folder(data, "acme")
    settings = load_settings(data_dir=data, embedder="onnx", reasoner="offline")
    for name in ("pear", "plum"):
        write_course(tmp_path / name, name, lessons=1)
        index_paths([tmp_path / name], own, embedder_of(settings))
    old = own / "knowledge" / "generations" / "0"
    old.mkdir()
    (old / "chunks").write_text("of an index that is not in use")

    # The file of keys is open, with its last writes beside it.
    back_up(data, tmp_path / "backup.tar")
    file.close()
    restored = tmp_path / "restored"
    restore(tmp_path / "backup.tar", restored)

    assert Keys(AccessFile(restored)).principal(key).tenant == "acme"
    there = tenant_folder(restored, "acme")
    assert generation_in_use(there) == generation_in_use(own)
    assert not (there / "knowledge" / "generations" / "0").exists()
