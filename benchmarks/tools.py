"""The tools that both sides of the overhead benchmark call; they cost nothing themselves."""

from __future__ import annotations

SYSTEM = "You answer questions about course materials. " * 20
_PASSAGE = "Retrieval finds the chunks of a lesson that are nearest in meaning to the question. " * 18


async def search_course_content(text: str) -> str:
    """Search course materials.

    Args:
        text: What to search for.
    """
    return f"{text}: {_PASSAGE}"


async def get_course_outline(text: str) -> str:
    """Get a course's lessons.

    Args:
        text: The course.
    """
    return f"{text}: {_PASSAGE}"


TOOLS = {"search_course_content": search_course_content, "get_course_outline": get_course_outline}
