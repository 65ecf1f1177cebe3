"""What the offline reasoner answers, its citations checked, for tests."""

from __future__ import annotations

from typing import Any

from antiphon.engine.offline.answering import answer
from antiphon.engine.offline.reading import read_task
from antiphon.vocabulary.ports import Json
from tests.unit.engine.briefings import briefing, source

QUEUES = source(
    "Event-Driven Systems - Lesson 6",
    "A queue holds messages.\n",
    "A bounded queue refuses messages. ",
)

CACHES = source(
    "Tools - Lesson 2", "A cache keeps answers. ", "It saves time.", title="Caching"
)


def answered(question: str, *sources: Json, **more: Any) -> list[Json]:
    request = briefing(question, *sources, **more)
    blocks = answer(read_task(request)).blocks
    check_citations(blocks, list(sources))
    return blocks


def check_citations(blocks: list[Json], sources: list[Json]) -> None:
    for block in blocks:
        for citation in block.get("citations", ()):
            cited = sources[citation["search_result_index"]]
            parts = cited["content"][
                citation["start_block_index"] : citation["end_block_index"]
            ]
            assert parts
            assert citation["cited_text"] == "".join(part["text"] for part in parts)
            assert (citation["source"], citation["title"]) == (
                cited["source"],
                cited["title"],
            )


def text(blocks: list[Json]) -> str:
    return "".join(block["text"] for block in blocks)


def cited(blocks: list[Json]) -> list[str]:
    return [
        citation["source"]
        for block in blocks
        for citation in block.get("citations", ())
    ]
