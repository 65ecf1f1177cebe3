"""A thousand recorded queries of all kinds, made once a session, as the lines that a trace file holds."""

from __future__ import annotations

import asyncio

import pytest
import structlog

from antiphon.traces import to_json
from tests.fakes import MemoryTraceStore
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


@pytest.fixture(scope="session")
def thousand() -> Lines:
    """The traces by id, each event a line."""
    with structlog.testing.capture_logs():
        return asyncio.run(_play_all())
