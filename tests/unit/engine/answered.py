"""What the offline reasoner answers, its citations checked, for tests."""

from __future__ import annotations

from typing import Any

from antiphon.engine.offline.answering import answer
from antiphon.engine.offline.asked import understand
from antiphon.engine.offline.names import Catalogue
from antiphon.engine.offline.reading import read_task
from antiphon.engine.offline.wire import Draft
from antiphon.language.evidence import WORDS_ALONE, Measures
from antiphon.vocabulary.ports import Json
from tests.unit.engine.briefings import CATALOGUE, briefing


def drafted(
    question: str,
    *sources: Json,
    catalogue: Catalogue = CATALOGUE,
    measures: Measures = WORDS_ALONE,
    **more: Any,
) -> Draft:
    """The whole reply to a briefing, its citations checked."""
    task = read_task(briefing(question, *sources, **more))
    task = task._replace(catalogue=catalogue)
    inquiry = understand(task.question, task.earlier, catalogue)
    draft = answer(inquiry, task, measures)
    check_citations(draft.blocks, list(sources))
    return draft


def answered(question: str, *sources: Json, **more: Any) -> list[Json]:
    """The blocks of the reply."""
    return drafted(question, *sources, **more).blocks


def check_citations(blocks: list[Json], sources: list[Json]) -> None:
    """Every citation names blocks that there are, and holds what they hold."""
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
    """All that is said."""
    return "".join(block["text"] for block in blocks)


def cited(blocks: list[Json]) -> list[str]:
    """The source of each citation, in order."""
    return [
        citation["source"]
        for block in blocks
        for citation in block.get("citations", ())
    ]
