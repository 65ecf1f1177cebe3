"""A plugin of pytest: notes which test executes which line of the source, and how long the test takes (`drawn.py`).

It needs `coverage run -m pytest`, with `[tool.coverage.run]` of pyproject.toml. What a test starts as a process of its
own is noted under its name too, for pytest tells it in the environment.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import coverage
import msgspec
import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Notes lines under the test's name, and its seconds in a file beside the lines."""
    current = coverage.Coverage.current()
    if current is not None:
        current.switch_context(item.nodeid)
    begun = time.monotonic()
    result = yield
    line = msgspec.json.encode([item.nodeid, time.monotonic() - begun])
    with open(f"{os.environ['COVERAGE_FILE']}-seconds", "ab") as file:
        file.write(line + b"\n")
    return result
