"""What a process may have performed in others is checked before anything is connected."""

from __future__ import annotations

import pytest

from antiphon.service import Settings
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.workers.remote_parts import performed_elsewhere

URL = "nats://127.0.0.1:4222"


def settings(remote: str, nats_url: str | None = URL) -> Settings:
    return Settings(_env_file=None, remote=remote, nats_url=nats_url)  # type: ignore[call-arg]


def test_what_cannot_act_elsewhere_is_refused_with_what_can() -> None:
    with pytest.raises(ConfigurationError, match=r"'assembler' cannot act.*dispatcher"):
        performed_elsewhere(settings("engine,assembler"))


def test_without_servers_it_is_said_which_setting_names_them() -> None:
    with pytest.raises(ConfigurationError, match="set ANTIPHON_NATS_URL"):
        performed_elsewhere(settings("engine", None))
