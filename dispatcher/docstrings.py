"""Google style docstrings, as far as a tool needs them: what it is for, and what each argument means."""

from __future__ import annotations

import re

_SECTION = re.compile(r"^(Args|Arguments|Returns|Raises|Yields|Examples?|Notes?):[ \t]*$", re.MULTILINE)
_ARGUMENT = re.compile(r"^\*{0,2}(\w+)(?:\s*\([^)]*\))?:\s*(.*)$")


def description(docstring: str) -> str:
    """What stands before the first section."""
    return _SECTION.split(docstring, maxsplit=1)[0].strip()


def argument_descriptions(docstring: str) -> dict[str, str]:
    """What the `Args` section says of each argument, on one line each."""
    described: dict[str, str] = {}
    name = ""
    lines = _arguments_section(docstring)
    margin = min((_indent(line) for line in lines), default=0)
    for line in lines:
        begins = _ARGUMENT.match(line.strip()) if _indent(line) == margin else None
        if begins:
            name, described[begins[1]] = begins[1], begins[2]
        elif name:
            described[name] += f" {line.strip()}"
    return described


def _arguments_section(docstring: str) -> list[str]:
    parts = _SECTION.split(docstring)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    body = sections.get("Args") or sections.get("Arguments") or ""
    return [line for line in body.splitlines() if line.strip()]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
