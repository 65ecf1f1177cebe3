"""A replay blames the settings for a difference only if a setting that the trace lacks explains it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from antiphon.history.missing_settings import other_values
from antiphon.service import Divergence, replay_lines
from antiphon.vocabulary.settings import DECLARED, QuerySettings
from tests.traces.conftest import Lines
from tests.traces.plants import DECIDING, Plant

DEFAULTS = QuerySettings()
EXPLAINING = (
    ("early_dispatch", False),
    ("on_tool_failure", "stop"),
    ("max_rounds", 1),
    ("max_rounds", 3),
    ("compression", "model"),
)
"""Settings of the cast's queries for which a program without the setting may have behaved differently."""


def settings_of(lines: Sequence[bytes]) -> dict[str, Any]:
    settings: dict[str, Any] = msgspec.json.decode(lines[0])["event"]["settings"]
    return settings


def without(lines: Sequence[bytes], *names: str) -> list[bytes]:
    """The trace as a program without these settings would have written it."""
    first = msgspec.json.decode(lines[0])
    for name in names:
        del first["event"]["settings"][name]
    return [msgspec.json.encode(first), *lines[1:]]


def divergence_of(lines: Sequence[bytes]) -> Divergence | None:
    return replay_lines(lines).divergence


@pytest.mark.parametrize(("name", "value"), EXPLAINING)
def test_a_replay_blames_the_settings_for_a_difference_that_a_missing_one_explains(
    name: str, value: object, thousand: Lines
) -> None:
    found: list[Divergence] = []
    for lines in list(thousand.values())[:200]:
        if settings_of(lines)[name] == value:
            divergence = divergence_of(without(lines, name))
            found += [divergence] if divergence is not None else []

    assert found
    assert {each.difference for each in found} == {"settings"}
    assert all(
        f"no setting `{name}`, and with {name}={value!r} it replays" in each.detail
        for each in found
    )


@pytest.mark.parametrize("plant", DECIDING, ids=lambda plant: plant.__name__)
def test_a_changed_rule_stays_a_difference_of_code_even_if_settings_are_missing(
    plant: Plant, thousand: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The defect: a single new setting in the program made every planted change pass for a difference of settings."""
    plant(monkeypatch)
    found: set[str] = set()
    for lines in list(thousand.values())[:60]:
        # Settings at their defaults: the trace can lack them without consequences.
        settings = settings_of(lines)
        missing = [
            name for name in settings if settings[name] == getattr(DEFAULTS, name)
        ]
        divergence = divergence_of(without(lines, *missing))
        found |= {divergence.difference} if divergence is not None else set()

    assert found <= {"code", "order"}
    assert "code" in found


def test_a_missing_setting_with_the_default_value_makes_no_difference(
    thousand: Lines,
) -> None:
    for lines in list(thousand.values())[:60]:
        settings = settings_of(lines)
        missing = [
            name for name in settings if settings[name] == getattr(DEFAULTS, name)
        ]

        assert divergence_of(without(lines, *missing)) is None


def test_the_other_values_of_a_setting_are_its_choices_or_the_ends_of_its_range() -> (
    None
):
    values = {name: list(other_values(DECLARED[name])) for name in DECLARED}

    assert values["max_rounds"] == [0, 1, 3, 4, 5]
    assert values["early_dispatch"] == [False]
    assert values["context"] == ["transcript"]
    assert values["effort"] == ["low", "medium", "high", "xhigh", "max"]
    assert values["deadline_s"] == [1.0, 600.0]
    assert values["model"] == []
