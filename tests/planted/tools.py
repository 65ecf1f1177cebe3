"""Two tools of one's own that go wrong: one brings old data, the other never comes back."""

from __future__ import annotations

import asyncio
import json

from antiphon.dispatcher import tool_from_function

CALENDAR = {
    "course": "Event-Driven Systems",
    "exam": "14 June 2023 in hall 3",
    "last_updated": "2023-05-02",
}


async def exam_calendar(course: str) -> str:
    """Says when the exam of a course is.

    Args:
        course: The course's title.
    """
    return json.dumps(CALENDAR)


async def _room_plan(course: str) -> str:
    """Says in which room a course is taught.

    Args:
        course: The course's title.
    """
    await asyncio.sleep(60)
    return "room 4.12"


room_plan = tool_from_function(_room_plan, name="room_plan", timeout_s=0.3)
