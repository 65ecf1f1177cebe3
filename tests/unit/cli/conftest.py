"""Commands run inside the test's process here, which has its own logging: theirs would outlive them."""

from __future__ import annotations

import pytest

from antiphon import service


@pytest.fixture(autouse=True)
def _logging_as_the_tests_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps a command from binding every later line of log to a stream that ends with its test."""
    monkeypatch.setattr(service, "configure_logging", lambda _: None)
