"""Tools as a user would write them, for load_tools."""

from __future__ import annotations

from antiphon.dispatcher import tool_from_function


async def echo(text: str) -> str:
    """Gives the text back."""
    return text


SHOUT = tool_from_function(echo, name="shout", retry_safe=True)
ALL = [echo, SHOUT]
NUMBER = 3
