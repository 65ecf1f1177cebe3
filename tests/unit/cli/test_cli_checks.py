"""What the doctor looks at."""

from __future__ import annotations

import socket
from pathlib import Path

from pydantic import SecretStr

from antiphon.cli import doctor as checks
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
