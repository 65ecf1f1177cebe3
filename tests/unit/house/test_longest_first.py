"""The list of the longest files of tests names files that there are."""

from __future__ import annotations

import pytest

from tests.conftest import LONGEST_FIRST, TESTS


@pytest.mark.parametrize("name", LONGEST_FIRST)
def test_a_file_that_is_begun_first_exists(name: str) -> None:
    assert (TESTS / name).is_file()
