"""What the settings want blotted out, and that log lines are looked through too."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.composition import redacting_lines
from antiphon.service import load_settings, redaction_of
from antiphon.vocabulary.errors import ConfigurationError


def test_patterns_come_from_the_setting_and_from_the_file(tmp_path: Path) -> None:
    (tmp_path / "patterns").write_text("# cards\n\n\\d{4} \\d{4}\n")

    redaction = redaction_of(
        load_settings(redact="one\ntwo+", redact_file=tmp_path / "patterns")
    )

    assert (
        redaction.text("one twooo 1234 5678 # cards") == "███ █████ █████████ # cards"
    )


def test_without_patterns_and_secrets_keys_of_callers_alone_are_blotted() -> None:
    redaction = redaction_of(load_settings(redact="", anthropic_api_key="short"))
    key = f"ant_0123456789ab_{'xY3-' * 10}xyz"

    assert redaction.text(f"short {key}") == f"short {'█' * len(key)}"


def test_the_keys_of_the_service_are_always_blotted() -> None:
    redaction = redaction_of(
        load_settings(
            anthropic_api_key="sk-ant-0123456789", anthropic_auth_token="token-0123"
        )
    )

    assert (
        redaction.text("sk-ant-0123456789 token-0123") == "█████████████████ ██████████"
    )


def test_a_pattern_that_cannot_be_used_is_named_by_file_and_line(
    tmp_path: Path,
) -> None:
    (tmp_path / "patterns").write_text("fine\n(secret\n")

    with pytest.raises(
        ConfigurationError, match=r"patterns, line 2, is no regular expression"
    ) as refused:
        redaction_of(load_settings(redact_file=tmp_path / "patterns"))

    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_a_file_that_cannot_be_read_is_refused(
    tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "patterns").write_bytes(content)

    with pytest.raises(
        ConfigurationError, match=r"ANTIPHON_REDACT_FILE .* cannot be read"
    ):
        redaction_of(load_settings(redact_file=tmp_path / "patterns"))


def test_a_log_line_is_blotted_whatever_its_values_are() -> None:
    redact = redacting_lines(redaction_of(load_settings(redact=r"pw:\w+")))

    line = redact(
        None,
        "warning",
        {
            "event": "asked pw:one",
            "ms": 1.5,
            "error": ValueError("pw:two"),
            "ids": ["pw:three"],
        },
    )

    assert line == {
        "event": "asked ██████",
        "ms": 1.5,
        "error": "██████",
        "ids": "['████████']",
    }
