"""What the program shows outside is what was written down of it."""

from __future__ import annotations

import pytest

from tests.house.outside import DATA, SHOWN


@pytest.mark.parametrize("name", SHOWN)
def test_nothing_that_is_shown_outside_has_changed(name: str) -> None:
    stored = (DATA / name).read_text(encoding="utf-8")

    assert SHOWN[name]() == stored, (
        f"tests/data/{name} differs: if that is meant, run `python -m tests.house.outside` and commit the difference"
    )
