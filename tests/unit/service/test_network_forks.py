"""A fork over the network stays within the service's own limits, whatever it asks for and wherever it comes from."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.service import MOST_CHANGES, MOST_VALUE_CHARS, Change, Settings
from antiphon.service.network_forks import limited_changes
from antiphon.vocabulary.errors import BadInputError, ForbiddenError
from antiphon.vocabulary.events import (
    Event,
    QueryReceived,
    Recorded,
    ToolRequested,
)
from antiphon.vocabulary.settings import QuerySettings
from antiphon.vocabulary.values import ToolCall
from tests.story import placed


def _settings(**chosen: Any) -> Settings:
    return Settings(_env_file=None, **chosen)  # type: ignore[call-arg]  # pydantic-settings takes it


def _trace(**settings: Any) -> list[Recorded[Any]]:
    events: list[Event] = [
        QueryReceived(query="x", session_id="s", settings=QuerySettings(**settings)),
        ToolRequested(
            round=1,
            call=ToolCall(id="t1", name="search", arguments="{}"),
            timeout_s=1.0,
        ),
    ]
    return placed("q-1", events)


def _setting(name: str, value: str) -> Change:
    return Change(kind="setting", name=name, value=value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_cost_usd", "null"),
        ("max_cost_usd", "0.6"),
        ("max_total_tokens", "null"),
        ("max_total_tokens", "1e9"),
        ("max_rounds", "3"),
        ("deadline_s", "61"),
        ("max_tokens", "1000000000"),
        ("max_tool_calls", "9"),
        ("briefing_tokens", "6001"),
        ("model", "claude-opus-5-5"),
        ("other_model", "claude-opus-5-5"),
        ("compression_model", "claude-opus-5-5"),
        ("effort", "max"),
        ("thinking", "999999"),
        ("tool_timeout_s", "1e-6"),
        ("final_reserve_s", "0"),
    ],
)
def test_no_setting_goes_above_the_services_own_and_no_other_can_be_changed(
    name: str, value: str
) -> None:
    own = _settings(max_cost_usd=0.5, max_total_tokens=10_000)

    with pytest.raises((ForbiddenError, BadInputError)):
        limited_changes(_trace(), 1, [_setting(name, value)], own)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_cost_usd", "0.4"),
        ("max_total_tokens", "10"),
        ("max_rounds", "1"),
        ("deadline_s", "5"),
        ("max_tokens", "100"),
        ("early_dispatch", "false"),
        ("on_tool_failure", "stop"),
        ("context", "transcript"),
        ("model", "claude-haiku-5-5"),
    ],
)
def test_a_setting_may_be_lowered_and_a_model_be_any_that_the_service_asks(
    name: str, value: str
) -> None:
    own = _settings(
        max_cost_usd=0.5, max_total_tokens=10_000, final_model="claude-haiku-5-5"
    )
    change = _setting(name, value)

    found = limited_changes(_trace(), 1, [change], own)

    assert found[0] == change
    assert name not in [each.name for each in found[1:]]


def test_changes_are_few_and_small() -> None:
    many = [_setting("max_rounds", "1")] * (MOST_CHANGES + 1)
    large = Change(kind="reply", value="x" * (MOST_VALUE_CHARS + 1))
    long_question = Change(kind="set", name="query", value="x" * 8_001)

    for changes in (many, [large], [long_question]):
        with pytest.raises(BadInputError, match="the most is"):
            limited_changes(_trace(), 1, changes, _settings())
