"""What the service tells programs of itself: kinds of events with who hears them, and the settings of a query."""

from __future__ import annotations

from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.settings import DECLARED
from tests.unit.api.calling import Browser, app_of
from tests.unit.api.fakes import FakeService


async def test_every_kind_of_event_is_told_with_who_hears_it() -> None:
    kinds = (await Browser(app_of(FakeService())).get("/api/events")).json()["kinds"]

    assert [kind["kind"] for kind in kinds] == list(BUILT_IN.by_kind)
    opened = next(kind for kind in kinds if kind["kind"] == "round_opened")
    assert opened["emitted_by"] == ["coordinator"]
    assert any(name.startswith("ContextSynthesizer") for name in opened["heard_by"])
    assert opened["says"].startswith("A round begins")


async def test_every_setting_is_told_with_how_a_fork_may_change_it() -> None:
    reply = await Browser(app_of(FakeService())).get("/api/settings")

    settings = {each["name"]: each for each in reply.json()["settings"]}
    assert list(settings) == list(DECLARED)
    assert settings["max_rounds"]["fork"] == "lower"
    assert settings["max_rounds"]["value"] == 2
    assert settings["context"]["choices"] == ["briefing", "transcript"]
    assert settings["context"]["fork"] == "any"
    assert settings["model"]["fork"] == "model"
    assert settings["tool_timeout_s"]["fork"] == "none"
