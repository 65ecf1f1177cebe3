"""The settings file, the tables, the requests and the options say what is declared of each setting."""

from __future__ import annotations

from pathlib import Path
from typing import get_type_hints

import pytest

from antiphon.api.query_schemas import QueryRequest
from antiphon.service import Settings
from antiphon.vocabulary.settings import DECLARED, WISHES

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / ".env.example"


def _lines() -> dict[str, str]:
    """Each setting that the example shows and its value, without the comment behind it."""
    shown = (
        line.lstrip("#").partition(" #")[0]
        for line in EXAMPLE.read_text().splitlines()
        if "=" in line
    )
    return {
        name: value.strip()
        for name, _, value in (line.partition("=") for line in shown)
    }


@pytest.mark.parametrize("field", Settings.model_fields)
def test_every_setting_is_shown_with_its_default(field: str) -> None:
    default = Settings.model_fields[field].default
    name = (
        field.upper() if field.startswith("anthropic") else f"ANTIPHON_{field.upper()}"
    )

    shown = _lines()[name]

    if isinstance(default, bool | str):
        assert shown == str(default).lower() or shown == default
    elif isinstance(default, int | float):
        assert float(shown) == default
    else:
        assert shown == ("" if default is None else str(default))


def test_nothing_else_is_shown() -> None:
    assert len(_lines()) == len(Settings.model_fields)


def _default(name: str) -> str:
    default = Settings.model_fields[name].default
    if default is None:
        return ""
    return (
        f"{default:g}"
        if isinstance(default, float)
        else str(default).replace("True", "true")
    )


@pytest.mark.parametrize("name", DECLARED)
def test_the_example_says_of_a_querys_setting_what_is_declared(name: str) -> None:
    line = (
        f"#ANTIPHON_{name.upper()}={_default(name)}".ljust(39)
        + f"# {DECLARED[name].description}"
    )

    assert line in EXAMPLE.read_text().splitlines()


@pytest.mark.parametrize("name", DECLARED)
def test_the_table_of_a_querys_settings_says_what_is_declared(name: str) -> None:
    wish = DECLARED[name].wish
    by_caller = "" if wish is None else "only lower" if wish.lower_only else "yes"
    meaning = DECLARED[name].description.replace("|", "\\|")
    row = f"| `ANTIPHON_{name.upper()}` | {_default(name)} | {by_caller} | {meaning} |"

    assert row in (ROOT / "docs" / "settings.md").read_text().splitlines()


@pytest.mark.parametrize("name", DECLARED)
def test_the_service_has_each_setting_of_a_query_with_its_type(name: str) -> None:
    types = get_type_hints(Settings)

    assert types[name] == (
        str | None if name == "compression_model" else DECLARED[name].type
    )


@pytest.mark.parametrize("name", WISHES)
def test_a_request_can_choose_each_setting_that_a_caller_may(name: str) -> None:
    assert get_type_hints(QueryRequest)[name] == DECLARED[name].type | None
    assert QueryRequest.model_fields[name].default is None


def test_a_request_can_choose_no_other_setting() -> None:
    assert set(QueryRequest.model_fields) & set(DECLARED) == set(WISHES)
