"""Shows sentences of a passage: prose in a line, and what is no prose, such as code, tables and lists, in its lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.M)
_LAID_OUT = re.compile(
    r"^[ \t]*(?:```|~~~|\||(?:[-*+]|\d{1,3}[.)])[ \t])|^(?: {4}|\t)\S", re.M
)
_ROW = re.compile(r"^[ \t]*\|", re.M)
_BULLET = re.compile(r"(?:[-*+]|\d{1,3}[.)])[ \t]+")
_MARK = "**"
"""Around the sentence that most likely answers: bold in Markdown, and plain to see where Markdown is not rendered."""


def is_laid_out(text: str) -> bool:
    """Returns True for a text that says something by its lines."""
    return "\n" in text.strip() and _LAID_OUT.search(text) is not None


def in_code(blocks: Sequence[str], at: int) -> bool:
    """Returns True for a sentence that is a part of code or of a table, from which it cannot be taken out."""
    text = blocks[at]
    if _FENCE.search(text) or _ROW.search(text):
        return True
    return _opens_in_code(blocks, at)


def laid_out(blocks: Sequence[str], first: int, end: int) -> str:
    """Returns sentences `first` to `end` (exclusive) in their lines; code that is cut off gets its fences."""
    text = "".join(blocks[first:end]).strip("\n").rstrip()
    if _opens_in_code(blocks, first):
        text = f"```\n{text}"
    if len(_FENCE.findall(text)) % 2:
        text = f"{text}\n```"
    return text


def shown(blocks: Sequence[str], first: int, end: int, *, lines: bool) -> str:
    """Returns sentences `first` to `end` (exclusive) in their lines, or in one."""
    if lines:
        return laid_out(blocks, first, end)
    return " ".join("".join(blocks[first:end]).split())


def gap(blocks: Sequence[str], at: int) -> str:
    """Returns what stands between a sentence and the one before it: a line's end, two, or a blank."""
    before = blocks[at - 1]
    space = before[len(before.rstrip()) :]
    return "\n" * min(space.count("\n"), 2) or " "


def marked(sentence: str) -> str:
    """Returns a sentence in bold, behind the bullet where it begins with one."""
    # Stars of its own would end the mark early.
    if "*" in sentence.lstrip("* "):
        return sentence
    bullet = _BULLET.match(sentence)
    at = bullet.end() if bullet else 0
    return f"{sentence[:at]}{_MARK}{sentence[at:]}{_MARK}"


def _opens_in_code(blocks: Sequence[str], first: int) -> bool:
    return len(_FENCE.findall("".join(blocks[:first]))) % 2 == 1
