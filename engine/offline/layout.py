"""Lays out sentences of a passage: prose on one line; code, tables and lists with their line breaks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.M)
_LAID_OUT = re.compile(
    r"^[ \t]*(?:```|~~~|\||(?:[-*+]|\d{1,3}[.)])[ \t])|^(?: {4}|\t)\S", re.M
)
_FENCE_LINE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.M)
_NAMED_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*\w", re.M)
"""A fence that names a language begins code, and never ends it."""
_PROSE = re.compile(r"^(?:[-*+] |\d{1,3}[.)] )?[A-Z*_][^\n]{40,}", re.M)
"""A line of some length that begins like a sentence."""
_ROW = re.compile(r"^[ \t]*\|", re.M)
_HEADER_OR_CODE = re.compile(r"^[ \t]*(?:```|~~~|\|[ \t]{0,3}:?---)", re.M)
_COLUMNS = re.compile(r"(?:^|[,:] )([^|,:]+(?: \| [^|,:]+)+)$")
"""The columns of a table in the form of a place's name (knowledge/tables.py)."""
_BULLET = re.compile(r"(?:[-*+]|\d{1,3}[.)])[ \t]+")
_MARK = "**"
"""Around the sentence that most likely answers: bold in Markdown, and still visible if Markdown is not rendered."""


def is_laid_out(text: str) -> bool:
    """Returns True for a text whose line breaks mean something."""
    return "\n" in text.strip() and _LAID_OUT.search(text) is not None


def in_code(blocks: Sequence[str], at: int) -> bool:
    """Returns True for a sentence that is part of code or of a table, and cannot be quoted separately."""
    text = blocks[at]
    if _FENCE.search(text) or _ROW.search(text):
        return True
    return _opens_in_code(blocks, at)


def laid_out(blocks: Sequence[str], first: int, end: int) -> str:
    """Returns sentences `first` to `end` (exclusive) with their line breaks; adds fences to code that is cut off."""
    text = "".join(blocks[first:end]).strip("\n").rstrip()
    is_in_code = _opens_in_code(blocks, first)
    if is_in_code and _FENCE.match(text):
        # Only the end of the code is left.
        text = text.partition("\n")[2].strip("\n")
    elif is_in_code:
        text = f"```\n{text}"
    if len(_FENCE.findall(text)) % 2:
        text = f"{text}\n```"
    return text


def has_bare_rows(text: str) -> bool:
    """Returns True for table rows without a header, which Markdown renders as text."""
    return _ROW.search(text) is not None and _HEADER_OR_CODE.search(text) is None


def without_bars(text: str) -> str:
    """Returns rows without the bars around them."""
    lines = text.split("\n")
    return "\n".join(
        line.strip("| \t") if is_row_of_table(line) else line for line in lines
    )


def shown(
    blocks: Sequence[str], first: int, end: int, *, lines: bool, is_bare: bool
) -> str:
    """Returns sentences `first` to `end` (exclusive) with their line breaks or on one line; bare rows lose bars."""
    text = laid_out(blocks, first, end) if lines else "".join(blocks[first:end])
    if is_bare:
        text = without_bars(text)
    return text if lines else " ".join(text.split())


def rows_of_long_tables(blocks: Sequence[str], most_chars: int) -> frozenset[int]:
    """Returns the rows of the tables in these sentences that are longer than `most_chars`."""
    found: set[int] = set()
    for is_row, run in groupby(
        range(len(blocks)), lambda at: is_row_of_table(blocks[at])
    ):
        rows = list(run)
        if is_row and sum(len(blocks[at]) for at in rows) > most_chars:
            found.update(rows)
    return frozenset(found)


def is_row_of_table(sentence: str) -> bool:
    return _ROW.match(sentence) is not None


def header_in(title: str, row: str) -> str:
    """Returns the header of a row, from the columns in the name of its place; empty if it names none."""
    named = _COLUMNS.search(title)
    if named is None or named[1].count("|") + 2 != row.count("|"):
        return ""
    return f"| {named[1]} |\n|{'---|' * (named[1].count('|') + 1)}\n"


def gap(blocks: Sequence[str], at: int) -> str:
    """Returns the space between a sentence and the one before it: one or two line breaks, or a blank."""
    before = blocks[at - 1]
    space = before[len(before.rstrip()) :]
    return "\n" * min(space.count("\n"), 2) or " "


def marked(sentence: str) -> str:
    """Returns a sentence in bold, after its bullet if it has one."""
    # Stars within the sentence would end the mark early.
    if "*" in sentence.lstrip("* "):
        return sentence
    bullet = _BULLET.match(sentence)
    at = bullet.end() if bullet else 0
    return f"{sentence[:at]}{_MARK}{sentence[at:]}{_MARK}"


def _opens_in_code(blocks: Sequence[str], first: int) -> bool:
    """Returns True if a sentence is in code that began before it."""
    before = len(_FENCE.findall("".join(blocks[:first])))
    return (before + _begins_in_code("".join(blocks))) % 2 == 1


def _begins_in_code(text: str) -> bool:
    """Returns True for a passage that was cut out of the middle of some code.

    A fence with a language reveals it; otherwise, the prose of such a passage is what its fences enclose.
    """
    named = _NAMED_FENCE.search(text)
    if named is not None:
        return len(_FENCE.findall(text[: named.start()])) % 2 == 1
    parts = _FENCE_LINE.split(text)
    outside = sum([len(_PROSE.findall(part)) for part in parts[::2]])
    within = sum([len(_PROSE.findall(part)) for part in parts[1::2]])
    return within > outside
