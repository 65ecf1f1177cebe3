"""A pytest plugin for `drawn.py`: notes which test executes which line of the source, and how long the test takes.

It needs `coverage run -m pytest`, with `[tool.coverage.run]` of pyproject.toml. The lines of a process that a test
starts count under that test too, because pytest puts the test's name in the environment.
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
    """Files lines under the test's name, and writes its duration to a file next to the coverage data."""
    current = coverage.Coverage.current()
    if current is not None:
        current.switch_context(item.nodeid)
    begun = time.monotonic()
    result = yield
    line = msgspec.json.encode([item.nodeid, time.monotonic() - begun])
    with open(f"{os.environ['COVERAGE_FILE']}-seconds", "ab") as file:
        file.write(line + b"\n")
    return result
