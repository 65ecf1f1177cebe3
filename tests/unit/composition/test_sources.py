"""A secret is sent only to an address that comes from the same place as the secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.composition import load_settings, speaker_of
from antiphon.vocabulary.errors import ConfigurationError

KEY = "ANTHROPIC_API_KEY"
TOKEN = "ANTHROPIC_AUTH_TOKEN"
HEADERS = "ANTHROPIC_CUSTOM_HEADERS"
URL = "ANTHROPIC_BASE_URL"
ADDRESS = "http://models.example"


@pytest.fixture(autouse=True)
def _clean_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (KEY, TOKEN, HEADERS, URL):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("secret", [KEY, TOKEN, HEADERS])
def test_a_secret_of_the_environment_is_not_sent_to_an_address_of_the_folder(
    secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(".env").write_text(f"{URL}={ADDRESS}\n")
    monkeypatch.setenv(secret, "x-secret: of-the-environment")

    with pytest.raises(ConfigurationError) as refused:
        speaker_of(load_settings())

    assert f"{URL} comes from .env and {secret} from the environment" in str(
        refused.value
    )
    assert "of-the-environment" not in str(refused.value)


@pytest.mark.parametrize("secret", [KEY, TOKEN])
def test_a_secret_of_the_folder_is_not_sent_to_an_address_of_the_environment(
    secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(".env").write_text(f"{secret}=of-the-folder\n")
    monkeypatch.setenv(URL, ADDRESS)

    with pytest.raises(ConfigurationError, match="from the environment and"):
        speaker_of(load_settings())


def test_a_key_of_the_folder_does_not_bring_the_environments_token_along(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path(".env").write_text(f"{URL}={ADDRESS}\n{KEY}=of-the-folder\n")
    monkeypatch.setenv(TOKEN, "of-the-environment")

    with pytest.raises(ConfigurationError, match=TOKEN):
        speaker_of(load_settings())


@pytest.mark.parametrize(
    "file", [f"{URL}={ADDRESS}\n{KEY}=of-the-folder\n", f"{URL}={ADDRESS}\n", ""]
)
def test_what_comes_from_one_place_is_used(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(".env").write_text(file)
    if not file:
        monkeypatch.setenv(URL, ADDRESS)
        monkeypatch.setenv(KEY, "of-the-environment")

    settings = load_settings()

    assert settings.anthropic_base_url == ADDRESS
    assert speaker_of(settings) is not None


def test_a_place_that_sets_both_wins_over_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path(".env").write_text(f"{URL}=http://elsewhere.example\n{KEY}=of-the-folder\n")
    monkeypatch.setenv(URL, ADDRESS)
    monkeypatch.setenv(KEY, "of-the-environment")

    settings = load_settings()

    assert (settings.anthropic_base_url, settings.mixed_sources) == (ADDRESS, "")


def test_a_folder_that_mixes_them_keeps_nobody_from_working_without_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path(".env").write_text(f"{URL}={ADDRESS}\n")
    monkeypatch.setenv(KEY, "of-the-environment")

    assert speaker_of(load_settings(reasoner="offline")) is not None


def test_a_program_that_names_the_address_itself_means_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path(".env").write_text(f"{URL}=http://elsewhere.example\n")
    monkeypatch.setenv(KEY, "of-the-environment")

    assert load_settings(anthropic_base_url=ADDRESS).mixed_sources == ""


@pytest.mark.parametrize("name", [URL, "ANTIPHON_CHROMA_URL"])
def test_an_address_that_cannot_be_used_is_refused_without_its_password(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "me:hunter2-hunter2@host:8000")

    with pytest.raises(ConfigurationError) as refused:
        load_settings()

    assert name in str(refused.value)
    assert "hunter2" not in str(refused.value)
