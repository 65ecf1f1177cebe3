"""Gives back the apps of each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.api.calling import APPS


@pytest.fixture(autouse=True)
def _apps_given_back() -> Iterator[None]:
    yield
    APPS.give_back()
