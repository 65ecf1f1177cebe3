"""One query with a given amount of work, repeated with our own components and without HTTP."""

from __future__ import annotations

import asyncio
from pathlib import Path

from antiphon.vocabulary.values import QuerySettings
from benchmarks.bench.our_side import OurSide
from benchmarks.bench.working_model import Tools, Work, WorkingModel

QUESTION = "How does BM25 rank documents?"


class Query:
    """Repeats one query with a given amount of work."""

    def __init__(self, folder: Path, work: Work) -> None:
        tools = Tools(work.passages)
        self._work = work
        self._asked = 0
        self.side = OurSide(WorkingModel(work), [tools.search_course_content], folder)
        # Above any work here, so that no limit cuts a query short.
        self._settings = QuerySettings(
            max_rounds=work.rounds, max_tool_calls=64, deadline_s=600.0
        )

    async def ask(self) -> str:
        """Asks once; returns the query's id."""
        self._asked += 1
        query_id = f"query-{self._asked}"
        outcome = await self.side.ask(query_id, QUESTION, self._settings)
        response = outcome.response
        if response.rounds != self._work.rounds:
            raise SystemExit(f"a query ended early: {response}")
        return query_id


async def together(query: Query, count: int) -> None:
    """Asks `count` questions at the same time."""
    await asyncio.gather(*[query.ask() for _ in range(count)])
