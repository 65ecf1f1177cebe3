"""Rules for text from outside: what may be printed, what counts as a link, and what to mask in an address.

All code that prints, logs or links such text applies these rules, so each is written down once.
"""

from __future__ import annotations

import re

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor, screen
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)"  # OSC, DCS, SOS, PM, APC with their text: titles, clipboard, links
    r"|\x1b[ -/]*[0-~]",  # the two-character ones
    re.DOTALL,
)
STEERING = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but for tab and line feed, DEL, C1
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that change the direction of writing
    r"\U000e0000-\U000e007f"  # tags: letters that are invisible to people, but not to a model
)
"""Characters that steer a terminal or deceive its reader, as part of a regular expression's class."""

_CONTROLS = re.compile(f"[{STEERING}\ud800-\udfff]")

_MOST_LINK_CHARS = 2_000
"""Browsers and proxies take little more."""
_WEB_ADDRESS = re.compile(rf"(?i:https?)://[^\s\"'<>`{STEERING}\ud800-\udfff]+")

_USERINFO = re.compile(r"://[^/?#\s]*@")


def clean(text: str) -> str:
    """Returns `text` without escape sequences and characters that steer a terminal; lines and tabs stay."""
    # Escape sequences first: without its ESC the rest of one would stay as text.
    return without_controls(_ESCAPES.sub("", text.replace("\r\n", "\n")))


def without_controls(text: str) -> str:
    """Returns `text` without these characters only, for text that may end within an escape sequence."""
    return _CONTROLS.sub("", text)


def escaped(text: str) -> str:
    r"""Returns JSON with each such character written as `\uXXXX`, which means the same to a program."""
    return _CONTROLS.sub(_as_json_escape, text)


def visible(text: str) -> str:
    """Returns `text` with each such character escaped as in source code, so that a log shows an attack."""
    return _CONTROLS.sub(
        lambda found: found.group().encode("unicode_escape").decode(), text
    )


def one_line(text: str, width: int = 100) -> str:
    """Returns `text` clean, on one line, cut to `width` characters."""
    # Four times the width leaves room for the characters that cleaning removes, without cleaning a megabyte.
    line = " ".join(clean(text[: 4 * width]).split())
    if len(line) <= width:
        return line
    return line[: width - 1] + "…"


def web_link(link: str | None) -> str | None:
    """Returns a link that is a web address; None for any other, such as `javascript:`, which a page would run."""
    if link is None or len(link) > _MOST_LINK_CHARS:
        return None
    if _WEB_ADDRESS.fullmatch(link) is None:
        return None
    return link


def without_userinfo(text: str) -> str:
    """Returns `text` with user name and password masked in every URL: addresses appear in errors, logs and traces."""
    # Most texts hold no address, and need no search.
    if "@" not in text:
        return text
    return _USERINFO.sub("://[masked]@", text)


def _as_json_escape(found: re.Match[str]) -> str:
    units = found.group().encode("utf-16-be", "surrogatepass").hex()
    # Above U+FFFF JSON writes a pair of surrogates.
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
