"""The command's entrance."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from antiphon.cli import main
from antiphon.cli.entry import COMMANDS

ROOT = Path(__file__).parents[3]


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exited:
        main(["--help"])

    printed = capsys.readouterr().out
    assert exited.value.code == 0
    assert all(
        command.name in printed and command.summary in printed for command in COMMANDS
    )


@pytest.mark.parametrize("command", [command.name for command in COMMANDS])
def test_each_command_says_what_it_is_for(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exited:
        main([command, "--help"])

    assert exited.value.code == 0
    assert f"antiphon {command}" in capsys.readouterr().out


def test_help_does_not_load_what_only_the_commands_need() -> None:
    program = (
        "import sys\nfrom cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print({'chromadb', 'anthropic', 'fastapi', 'numpy', 'service'} & set(sys.modules))"
    )

    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )

    assert run.stdout.splitlines()[-1] == "set()"


def every_command() -> list[tuple[str, ...]]:
    """The words of each command there is."""
    found: list[tuple[str, ...]] = []
    for command in COMMANDS:
        found.append((command.name,))
        found += [(command.name, name) for name in command.commands]
    return found


@pytest.mark.parametrize("words", every_command(), ids=" ".join)
def test_a_flag_is_shown_as_a_flag(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exited:
        main([*words, "--help"])

    printed = capsys.readouterr().out
    assert exited.value.code == 0
    assert "bool" not in printed
    for line in printed.splitlines():
        assert not re.search(r"--json\s+<", line)


def test_the_version_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exited:
        main(["--version"])

    assert exited.value.code == 0
    assert capsys.readouterr().out.startswith("antiphon 0")


def test_an_unknown_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exited:
        main(["sing"])

    assert exited.value.code == 2
    assert "sing" in capsys.readouterr().err


def test_one_of_our_errors_is_one_sentence_and_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exited:
        main(["compare", "--questions", str(tmp_path / "nowhere.jsonl")])

    printed = capsys.readouterr()
    assert exited.value.code == 1
    assert printed.err.startswith("antiphon: ")
    assert printed.err.count("\n") == 1
