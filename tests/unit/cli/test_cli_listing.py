"""The traces and conversations that a command means, over as many pages as the listing has."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.cli import session
from antiphon.cli.conversations import whole_conversation
from antiphon.cli.session import every_trace, open_store
from antiphon.composition import load_settings
from antiphon.service import Settings
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import QueryClosed, QueryReceived
from antiphon.vocabulary.ports import TraceFilter, TraceStore
from antiphon.vocabulary.values import QuerySettings
from tests.story import NOON, placed


@pytest.fixture(autouse=True)
def pages_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "PAGE", 2)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(data_dir=tmp_path / "data")


async def _store_queries(store: TraceStore, *session_ids: str) -> None:
    """Stores a query of each conversation: q1, q2 and so on, each later than the one before it."""
    for number, session_id in enumerate(session_ids, 1):
        said = [
            QueryReceived(query="Q?", session_id=session_id, settings=QuerySettings()),
            QueryClosed(status="answered"),
        ]
        await store.append(
            f"q{number}", 0, placed(f"q{number}", said, at=NOON + number)
        )


async def test_every_trace_comes_once_over_all_pages_and_only_those_that_are_wanted(
    settings: Settings,
) -> None:
    async with open_store(settings, make=True) as store:
        await _store_queries(store, "s1", "s2", "s1", "s1", "s2")

        everything = [row.query_id async for row in every_trace(store)]
        where = TraceFilter(session_id="s1")
        some = [row.query_id async for row in every_trace(store, where)]

    assert everything == ["q5", "q4", "q3", "q2", "q1"]
    assert some == ["q4", "q3", "q1"]


async def test_a_conversation_is_found_by_a_beginning_that_only_it_has(
    settings: Settings,
) -> None:
    async with open_store(settings, make=True) as store:
        await _store_queries(store, "abc", "b", "b", "b", "abcd")

    assert await whole_conversation(settings, "abcd") == "abcd"
    assert await whole_conversation(settings, "abc") == "abc"
    assert await whole_conversation(settings, "c") == "c"
    with pytest.raises(BadInputError, match="2 conversations begin with ab"):
        await whole_conversation(settings, "ab")


async def test_a_conversation_that_was_only_opened_is_not_taken_for_a_longer_one(
    settings: Settings,
) -> None:
    async with open_store(settings, make=True) as store:
        await store.open_conversation("abc")
        await _store_queries(store, "abcd")

    assert await whole_conversation(settings, "abc") == "abc"
