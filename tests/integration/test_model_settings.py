"""What the settings say about the model's server reaches the client that speaks to it."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from antiphon.engine import build_request
from antiphon.service import Settings, load_settings, speaker_of
from antiphon.vocabulary.errors import ConfigurationError, ModelError
from tests import misbehaving as servers
from tests.fakes_messages_api import TOOLS, asked
from tests.loopback_time import LoopClock, run
from tests.misbehaving import Exchange

READING_S = 107.0


async def reads_slowly(exchange: Exchange) -> None:
    """A server of one's own that says nothing while it reads the prompt."""
    await LoopClock().sleep(READING_S)
    await servers.well(exchange)


async def call(silence_s: float) -> int:
    """The number of events of one call."""
    async with servers.server(reads_slowly) as serving:
        model = speaker_of(
            Settings.model_construct(
                anthropic_base_url=serving.url, silence_s=silence_s
            )
        )
        count = 0
        try:
            async for _ in model.stream(build_request(asked(), TOOLS), 300.0):
                count += 1
        finally:
            await model.aclose()
    return count


def test_if_the_settings_say_so_the_client_waits_for_a_server_that_reads_a_prompt_for_minutes() -> (
    None
):
    assert run(call(silence_s=120.0)) > 0
    with pytest.raises(ModelError, match="did not begin to answer in time"):
        run(call(silence_s=30.0))


def test_the_limit_of_silence_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().silence_s == 30.0

    monkeypatch.setenv("ANTIPHON_SILENCE_S", "300")
    assert load_settings().silence_s == 300.0

    monkeypatch.setenv("ANTIPHON_SILENCE_S", "0")
    with pytest.raises(ConfigurationError, match="ANTIPHON_SILENCE_S"):
        load_settings()


async def test_if_both_are_set_the_client_sends_the_token_in_the_place_of_the_key() -> (
    None
):
    model = speaker_of(
        Settings.model_construct(
            anthropic_api_key=SecretStr("a-key"),
            anthropic_auth_token=SecretStr("a-token"),
        )
    )

    assert (model._client.api_key, model._client.auth_token) == (None, "a-token")
    await model.aclose()


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000",
        "ftp://a",
        "http://",
        "http://me:hunter2@a:99999",
        "http://[::1",
    ],
)
def test_the_error_for_an_invalid_address_hides_its_password(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)

    with pytest.raises(ConfigurationError, match="ANTHROPIC_BASE_URL") as refused:
        load_settings()

    assert "hunter2" not in str(refused.value)
