"""Printing what others wrote: text from documents and models must not steer the terminal."""

from __future__ import annotations

import re

from rich.console import Console

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor, screen
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)"  # OSC, DCS, SOS, PM, APC with their text: titles, clipboard, links
    r"|\x1b[ -/]*[0-~]",  # the two-character ones
    re.DOTALL,
)
_CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""C0 save tab and line feed, DEL, C1, what turns the direction of writing, and half surrogates."""

out = Console(highlight=False, markup=False, emoji=False)
"""Results. Markup is off: square brackets in a document mean nothing."""

err = Console(stderr=True, highlight=False, markup=False, emoji=False)
"""Progress, and what went wrong."""


def clean(text: str) -> str:
    """Returns `text` without escape sequences and control characters; lines and tabs stay."""
    # Escape sequences first: without its ESC the rest of one would stay as text.
    return _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n")))


def one_line(text: str, width: int = 100) -> str:
    """Returns `text` clean, on one line, cut to `width` characters."""
    # Four times the width leaves room for what is cleaned away, and a megabyte is not cleaned for one line.
    line = " ".join(clean(text[: 4 * width]).split())
    if len(line) <= width:
        return line
    return line[: width - 1] + "…"


def print_json(document: str) -> None:
    """Prints JSON; what could steer a terminal stands escaped in it, which means the same to a program."""
    escaped = _CONTROLS.sub(lambda found: f"\\u{ord(found.group()):04x}", document)
    # Not through rich, which would break long lines.
    out.file.write(escaped + "\n")
