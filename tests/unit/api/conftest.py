"""Gives back the apps of each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.api.calling import give_back_apps


@pytest.fixture(autouse=True)
def _apps_given_back() -> Iterator[None]:
    yield
    give_back_apps()
