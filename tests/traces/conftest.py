"""A thousand recorded queries of all kinds, made once, as the lines of trace files."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
import structlog

from antiphon.traces import to_json
from tests.fakes import MemoryTraceStore
from tests.once import made_once
from tests.traces.cast import play

QUERIES = 1_000

Lines = dict[str, list[bytes]]


async def _play_all() -> Lines:
    store = MemoryTraceStore()
    for seed in range(QUERIES):
        await play(seed, store)
    return {
        f"q{seed}": [to_json(said) for said in await store.read(f"q{seed}")]
        for seed in range(QUERIES)
    }


def _play_into(folder: Path) -> None:
    with structlog.testing.capture_logs():
        lines = asyncio.run(_play_all())
    (folder / "lines.msgpack").write_bytes(msgspec.msgpack.encode(lines))


@pytest.fixture(scope="session")
def thousand(tmp_path_factory: pytest.TempPathFactory) -> Lines:
    """The traces by id, one line for each event."""
    made = made_once(tmp_path_factory, "thousand", _play_into)
    return msgspec.msgpack.decode((made / "lines.msgpack").read_bytes(), type=Lines)
