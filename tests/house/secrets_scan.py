"""`detect-secrets` with a quick check first, which saves more than half of its time.

It applies its filters, the slowest part, to every line before its detectors. This version tries the detectors on a
file's lines first, and skips the file if none finds anything: then there is nothing to filter either.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import Any

from detect_secrets.core import scan
from detect_secrets.main import main
from detect_secrets.plugins.base import BasePlugin
from detect_secrets.settings import get_plugins

Lines = list[tuple[int, str]]

_find_in_lines = scan._process_line_based_plugins


def find_in_lines_with_a_find(
    lines: Lines, filename: str
) -> Generator[Any, None, None]:
    """Yields the findings in these lines of a file."""
    plugins = get_plugins()
    for _, line in lines:
        if any(_finds(plugin, filename, line.rstrip()) for plugin in plugins):
            yield from _find_in_lines(lines, filename)
            return


def _finds(plugin: Any, filename: str, line: str) -> bool:
    if type(plugin).analyze_line is BasePlugin.analyze_line:
        # Only the string analysis: the rest of `analyze_line` may ask an online service to verify a finding.
        return any(True for _ in plugin.analyze_string(line))
    return bool(plugin.analyze_line(filename=filename, line=line))


if __name__ == "__main__":
    scan._process_line_based_plugins = find_in_lines_with_a_find
    sys.exit(main())
