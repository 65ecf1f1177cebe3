"""The example of a settings file names every setting with its default."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.service import Settings

EXAMPLE = Path(__file__).parents[3] / ".env.example"


def _lines() -> dict[str, str]:
    """Each setting that the example shows and its value, without the comment behind it."""
    shown = (line.lstrip("#").partition(" #")[0] for line in EXAMPLE.read_text().splitlines() if "=" in line)
    return {name: value.strip() for name, _, value in (line.partition("=") for line in shown)}


@pytest.mark.parametrize("field", Settings.model_fields)
def test_every_setting_is_shown_with_its_default(field: str) -> None:
    default = Settings.model_fields[field].default
    name = field.upper() if field.startswith("anthropic") else f"ANTIPHON_{field.upper()}"

    shown = _lines()[name]

    if isinstance(default, bool | str):
        assert shown == str(default).lower() or shown == default
    elif isinstance(default, int | float):
        assert float(shown) == default
    else:
        assert shown == ("" if default is None else str(default))


def test_nothing_else_is_shown() -> None:
    assert len(_lines()) == len(Settings.model_fields)
