"""Finding a trace by the beginning of its id."""

from __future__ import annotations

import pytest

from antiphon.service import whole_id
from antiphon.vocabulary.errors import BadInputError, NotFoundError
from tests.fakes import MemoryTraceStore
from tests.story import NOON, answered, placed


async def _store(*query_ids: str) -> MemoryTraceStore:
    store = MemoryTraceStore()
    for number, query_id in enumerate(query_ids):
        await store.append(
            query_id, 0, placed(query_id, answered("Q?", "A."), at=NOON + number)
        )
    return store


async def test_a_beginning_that_only_one_trace_has_is_enough() -> None:
    assert await whole_id(await _store("abc1", "abd2"), "abd") == "abd2"


async def test_a_whole_id_is_found_even_where_another_begins_with_it() -> None:
    assert await whole_id(await _store("abc", "abcd"), "abc") == "abc"


async def test_of_many_that_begin_so_a_few_are_shown() -> None:
    with pytest.raises(
        BadInputError,
        match="More than 5 traces begin with 'a' \\(a0, a1, a2, a3, a4\\)",
    ):
        await whole_id(await _store(*(f"a{number}" for number in range(9))), "a")


async def test_a_beginning_that_none_has_is_not_found() -> None:
    with pytest.raises(NotFoundError, match="traces list"):
        await whole_id(await _store("abc1"), "x\x1b[31m")
