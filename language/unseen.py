"""Removes characters that are invisible to people but not to a model, because they may hide text; pure.

Tag characters can spell out whole orders, variation selectors can hold bytes, and direction marks can display a text in
a different order than a model reads it (Unicode Technical Report 36, https://www.unicode.org/reports/tr36/).
"""

from __future__ import annotations

import re

_UNSEEN = re.compile(
    # C0 and C1 controls except white space, and the soft hyphen.
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u00ad"
    # The grapheme joiner, zero-width spaces, invisible operators, word joiners, byte order marks, and fillers.
    "\u034f\u180e\u200b\u2060-\u2065\ufeff\u3164\uffa0\ufff0-\ufffb"
    # Marks that change the direction of writing, and the deprecated ones for shaping letters.
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"
    # Musical formatting, and the whole plane of tags except variation selectors.
    "\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
)
_SELECTOR = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
# The scripts that use joiners, from Hebrew to Mongolian and their later blocks, and the parts of emoji.
_JOINED = (
    "\u0590-\u109f\u1780-\u18af\u1a20-\u1aaf\u1b00-\u1bff\ua800-\uabff\ufb1d-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff"
    "\U0001e900-\U0001e95f\u00a9\u00ae\u203c-\u3299\ufe0f\U0001f000-\U0001faff"
)
# Searched for first, because a pattern with a lookbehind is slow at every character.
_MAY_BE_STRAY = re.compile(f"[\u200c\u200d{_SELECTOR}]")
_STRAY = re.compile(
    # A joiner after a letter that is never joined, or after another joiner.
    f"(?<![{_JOINED}])[\u200c\u200d]+|(?<=[\u200c\u200d])[\u200c\u200d]+"
    # A selector after a letter without variants, or after another selector; digits with a frame have one.
    f"|(?<![{_SELECTOR}\u0100-\U000dffff\u00a9\u00ae#*0-9])[{_SELECTOR}]+|(?<=[{_SELECTOR}])[{_SELECTOR}]+"
    f"|(?<=[#*0-9])[{_SELECTOR}]+(?!\u20e3)"
)
# Translating is faster than a pattern, and every tool result passes here.
_ASCII_CONTROLS = dict.fromkeys([*range(0x09), 0x0B, *range(0x0E, 0x20), 0x7F])


def without_unseen(text: str) -> str:
    """Returns the text without invisible characters; keeps joiners and variants that a script needs."""
    if text.isascii():
        shown = text.translate(_ASCII_CONTROLS)
        # Usually nothing is removed. The same object then lets the tool's words and its passage share one string.
        return text if len(shown) == len(text) else shown
    shown = _UNSEEN.sub("", text)
    return _STRAY.sub("", shown) if _MAY_BE_STRAY.search(shown) else shown
