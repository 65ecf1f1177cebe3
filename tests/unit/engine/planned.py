"""The calls that the offline reasoner plans, for tests."""

from __future__ import annotations

from typing import Any

from antiphon.engine.offline.asked import understand
from antiphon.engine.offline.names import Catalogue
from antiphon.engine.offline.planning import plan
from antiphon.engine.offline.reading import read_task
from antiphon.vocabulary.ports import Json
from tests.unit.engine.briefings import CATALOGUE, briefing

Calls = list[tuple[str, dict[str, object]]]


def planned(
    question: str, *sources: Json, catalogue: Catalogue = CATALOGUE, **more: Any
) -> Calls:
    task = read_task(briefing(question, *sources, **more))
    inquiry = understand(task.question, task.earlier, catalogue)
    calls = plan(inquiry, task._replace(catalogue=catalogue))
    assert all(call.arguments["why"] for call in calls)
    return [
        (call.tool, {k: v for k, v in call.arguments.items() if k != "why"})
        for call in calls
    ]


def search(query: str, **filters: object) -> tuple[str, dict[str, object]]:
    return "search_course_content", {"query": query, **filters}


def outlined(course: str) -> tuple[str, dict[str, object]]:
    return "get_course_outline", {"course_name": course}
