"""The lists of the longest tests, and of the thorough ones, name tests that there are."""

from __future__ import annotations

import pytest

from tests.conftest import LONGEST_FIRST, TESTS
from tests.thorough import SMOKE, THOROUGH


@pytest.mark.parametrize("name", [*LONGEST_FIRST, *THOROUGH, *SMOKE])
def test_what_is_listed_exists(name: str) -> None:
    file, _, test = name.partition("::")

    assert (TESTS / file).exists()
    if test:
        assert f"def {test.partition('[')[0]}" in (TESTS / file).read_text()
