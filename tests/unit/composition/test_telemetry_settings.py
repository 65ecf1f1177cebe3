"""Telemetry as settings ask for it: refused in sentences, and no secret goes to an address from elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from antiphon.composition import load_settings
from antiphon.composition.telemetry import headers_of, telemetry_of
from antiphon.traces import Redaction
from antiphon.vocabulary.errors import ConfigurationError

ENDPOINT = "ANTIPHON_OTLP_ENDPOINT"
HEADERS = "ANTIPHON_OTLP_HEADERS"


@pytest.fixture(autouse=True)
def _clean_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (ENDPOINT, HEADERS):
        monkeypatch.delenv(name, raising=False)


def test_headers_are_read_as_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HEADERS, "Authorization=Bearer abc=, X-Team = courses")

    assert headers_of(load_settings()) == {
        "authorization": "Bearer abc=",
        "x-team": "courses",
    }


def test_headers_of_another_form_are_refused_without_being_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(HEADERS, "a=b,s3cret")

    with pytest.raises(ConfigurationError, match="entry 2") as refused:
        headers_of(load_settings())

    assert "s3cret" not in str(refused.value)


def test_headers_of_the_environment_are_not_sent_to_an_address_of_the_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path(".env").write_text(f"{ENDPOINT}=http://collector.example\n")
    monkeypatch.setenv(HEADERS, "authorization=s3cret")

    with pytest.raises(ConfigurationError, match=f"{ENDPOINT} comes from .env"):
        headers_of(load_settings())

    assert headers_of(load_settings(otlp_endpoint="http://127.0.0.1:4318"))


@pytest.mark.parametrize(
    ("package", "settings"),
    [
        ("prometheus_client", {"metrics": "prometheus"}),
        ("opentelemetry.exporter", {"otlp_endpoint": "http://127.0.0.1:4318"}),
    ],
)
def test_where_it_is_not_installed_a_sentence_says_what_to_install(
    package: str, settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(sys.modules):
        if name.startswith(("antiphon.telemetry.", package)):
            monkeypatch.delitem(sys.modules, name)
    for name in ("Metrics", "SpanExport", "observer"):
        monkeypatch.delitem(vars(sys.modules["antiphon.telemetry"]), name, False)
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(ConfigurationError, match=r"install antiphon\[telemetry\]"):
        telemetry_of(load_settings(**settings), (), Redaction())
