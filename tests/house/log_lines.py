"""Reads from the source the lines that the service logs, with their levels and fields."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.house.complexity import product_files

ROOT = Path(__file__).parents[2]
LOGGERS = {"log", "_log"}
LEVELS = {"debug", "info", "warning", "error"}


class LogLine(NamedTuple):
    """One kind of line.

    Attributes:
        fields: The line's own fields; docs/telemetry.md lists those that every line has.
    """

    event: str
    level: str
    room: str
    fields: tuple[str, ...]


def log_lines() -> list[LogLine]:
    """Returns every kind of line, by name."""
    found: set[LogLine] = set()
    for path in product_files():
        if path.suffix == ".py":
            found.update(_lines_in(path))
    return sorted(found)


def _lines_in(path: Path) -> Iterator[LogLine]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not _is_log_call(node):
            continue
        assert isinstance(node.func, ast.Attribute)
        [event, *_] = node.args
        assert isinstance(event, ast.Constant), f"{path}: a line's name is no literal"
        fields = [str(keyword.arg) for keyword in node.keywords]
        assert "exc_info" not in fields, f"{path}: log `traceback_of` the error"
        room = f"{path.relative_to(ROOT).parts[0]}/"
        yield LogLine(str(event.value), node.func.attr, room, tuple(fields))


def _is_log_call(node: ast.Call) -> bool:
    called = node.func
    if not isinstance(called, ast.Attribute) or called.attr not in LEVELS:
        return False
    return isinstance(called.value, ast.Name) and called.value.id in LOGGERS
