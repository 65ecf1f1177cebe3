"""User tools that return hostile text: many strings, a line each, or one line of a megabyte."""

from __future__ import annotations

from tests.browser.hostile import strings

MEGABYTE = 1_000_000
HOSTILE = "<img src=x onerror=alert(1)> "


def long_line() -> str:
    """One line of a megabyte."""
    return (HOSTILE * (MEGABYTE // len(HOSTILE) + 1))[:MEGABYTE]


async def hostile_lines(first: int) -> list[str]:
    """Brings fifty hostile strings.

    Args:
        first: The number of the first.
    """
    return strings()[first : first + 50]


async def hostile_megabyte() -> str:
    """Brings a line of a megabyte."""
    return long_line()
