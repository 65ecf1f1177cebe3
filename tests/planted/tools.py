"""Faulty user tools: some return old data, others never return."""

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


async def free_seats(course: str) -> str:
    """Says how many seats of a course are free.

    Args:
        course: The course's title.
    """
    return f"{course}: 5 seats are free. This list was last refreshed on 2024-01-15."


async def places_left(course: str) -> str:
    """Says how many places of a course are left.

    Args:
        course: The course's title.
    """
    return f"Error 500: {course} cannot be looked up"


async def enrolled(course: str) -> list[str]:
    """Lists who is enrolled in a course.

    Args:
        course: The course's title.
    """
    return []


async def _opening_hours(course: str) -> str:
    """Says when the office of a course is open.

    Args:
        course: The course's title.
    """
    await asyncio.sleep(60)
    return "from nine to five"


opening_hours = tool_from_function(_opening_hours, name="opening_hours", timeout_s=0.3)
room_plan = tool_from_function(_room_plan, name="room_plan", timeout_s=0.3)
