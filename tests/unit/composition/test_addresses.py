"""Addresses of servers in settings name a server, or are refused without the password that they may hold."""

from __future__ import annotations

import pytest

from antiphon.service import load_settings
from antiphon.vocabulary.errors import ConfigurationError

WORD = "swordfish"
SETTINGS = ("chroma_url", "anthropic_base_url", "otlp_endpoint")


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize(
    "address",
    [
        "host:8000",
        "ftp://host",
        "http://",
        "http://:8000",
        f"http://u:{WORD}@:8000",
        "http://host:0",
        "http://host:port",
    ],
)
def test_what_names_no_server_is_refused(setting: str, address: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load_settings(**{setting: address})

    assert setting.upper() in str(refused.value)
    assert WORD not in str(refused.value)


@pytest.mark.parametrize("setting", SETTINGS)
def test_an_address_with_and_without_a_port_is_taken(setting: str) -> None:
    for address in ("http://host", f"https://u:{WORD}@host:8000/x"):
        assert getattr(load_settings(**{setting: address}), setting) == address
