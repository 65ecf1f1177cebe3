"""`.env` and the names of the environment: nothing is passed over in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.composition.env_file import names_in, unknown_settings
from antiphon.composition.settings import load_settings
from antiphon.vocabulary.errors import ConfigurationError


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('ANTIPHON_PORT=1\nANTHROPIC_API_KEY="sk-hunter2\n', 2),
        ("ANTHROPIC_API_KEY='sk-hunter2\nANTIPHON_PORT=1\n", 1),
        ("# all mine\n\nANTHROPIC_API_KEY sk-hunter2\n", 3),
        ('ANTHROPIC_API_KEY="sk-hunter2" ANTIPHON_PORT=1\n', 1),
    ],
)
def test_a_line_that_would_be_passed_over_is_named_without_what_it_holds(
    text: str, line: int, tmp_path: Path
) -> None:
    file = tmp_path / ".env"
    file.write_text(text)

    with pytest.raises(ConfigurationError, match=f"line {line}, cannot") as refused:
        names_in(file)

    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "data",
    [
        "ANTIPHON_PORT=1\n".encode("utf-16"),
        "ANTIPHON_PORT=1\n".encode("utf-16-le"),
        "ANTIPHON_MODEL=Gér\n".encode("latin-1"),
    ],
)
def test_a_file_in_another_encoding_is_refused(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_bytes(data)

    with pytest.raises(ConfigurationError, match="save it as UTF-8"):
        names_in(file)


def test_what_people_write_into_such_files_is_read(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("# mine\n\nexport A=1\nB=\"two\nlines\"\nC='x' # why\nD=\nE = 5\n")

    assert names_in(file) == ("A", "B", "C", "D", "E")
    assert names_in(tmp_path / "nowhere") == ()


def test_a_mark_that_an_editor_puts_before_the_first_name_hides_no_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_bytes(b"\xef\xbb\xbfANTIPHON_PORT=8123\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ANTIPHON_PORT", raising=False)

    assert load_settings().port == 8123


def test_a_name_that_no_setting_has_is_told_with_the_nearest() -> None:
    names = ["ANTIPHON_MAX_ROUND", "antiphon_port", "ANTIPHON_XYZZY", "PATH"]

    told = unknown_settings(names, ["max_rounds", "port"])

    assert told == (
        "ANTIPHON_MAX_ROUND is no setting, and changes nothing: did you mean ANTIPHON_MAX_ROUNDS?",
        "ANTIPHON_XYZZY is no setting, and changes nothing: docs/settings.md lists the settings",
    )
