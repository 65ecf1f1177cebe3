"""The Makefile: its help, and a folder that was moved or copied together with its environment."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import ROOT, environment, without_traces

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


def made(
    folder: Path, *goals: str, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs make in a folder."""
    return subprocess.run(
        ["make", "--no-print-directory", *goals],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with an environment whose `antiphon` is this program."""
    folder = tmp_path / "clone"
    folder.mkdir()
    shutil.copy(ROOT / "Makefile", folder)
    venv = [sys.executable, "-m", "venv", str(folder / ".venv")]
    subprocess.run([*venv, "--without-pip"], check=True)
    # As the Makefile makes it, whose command has no option behind the path.
    cfg = folder / ".venv" / "pyvenv.cfg"
    lines = [
        line for line in cfg.read_text().splitlines() if not line.startswith("command")
    ]
    command = f"command = {sys.executable} -m venv {folder / '.venv'}"
    cfg.write_text("\n".join([*lines, command, ""]))
    assert made(folder, "launcher").returncode == 0
    return folder


def installed(clone: Path) -> None:
    """Makes the clone one in which `make setup` has nothing to install, and whose command is this program."""
    for name in ("pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, clone)
    for name in (".python", ".minilm"):
        (clone / ".venv" / name).touch()
    command = clone / ".venv" / "bin" / "antiphon"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m antiphon.cli "$@"\n')


def test_ctrl_c_ends_make_run_without_a_word_of_an_error(
    clone: Path, data_dir: Path
) -> None:
    installed(clone)
    data = without_traces(data_dir, clone)
    with subprocess.Popen(
        ["make", "run"],
        cwd=clone,
        env=environment(data, ANTIPHON_PORT="0"),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        assert running.stderr is not None
        next(line for line in running.stderr if "Antiphon serves " in line)
        # As a terminal does: to make and to all that it runs.
        os.killpg(running.pid, signal.SIGINT)
        said = running.stderr.read()

    assert "Stopping" in said
    assert "***" not in said, said


def test_a_service_that_cannot_start_is_an_error_of_make_run(
    clone: Path, data_dir: Path
) -> None:
    installed(clone)

    run = made(clone, "run", env=environment(data_dir, ANTIPHON_PORT="high"))

    assert run.returncode == 2
    assert "ANTIPHON_PORT" in run.stderr
    assert "Error 1" in run.stderr


def test_setup_says_what_is_installed_and_how_long_it_takes(clone: Path) -> None:
    installed(clone)
    (clone / ".venv" / ".minilm").unlink()

    # The environment of this clone has no pip: the notice comes before make calls it.
    full, lean = made(clone, "setup"), made(clone, "setup", "LEAN=1")

    assert "1.8 GB in all, which takes some minutes" in full.stdout
    assert "0.6 GB in all, which takes some minutes" in lean.stdout
    assert " -q" not in full.stdout


def test_help_lists_every_target_with_a_line(tmp_path: Path) -> None:
    text = (ROOT / "Makefile").read_text()
    phony = text.split(".PHONY: ")[1].splitlines()[0].split()

    run = made(ROOT, "help")

    assert run.returncode == 0, run.stderr
    listed = {line.split()[0] for line in run.stdout.splitlines()[:-2] if line}
    assert listed == set(phony)
    assert all(len(line.split()) > 1 for line in run.stdout.splitlines() if line)


def test_the_command_of_an_environment_is_run_by_its_python(clone: Path) -> None:
    command = clone / ".venv" / "bin" / "antiphon"

    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run = subprocess.run(
        [command, "--version"], env=bare, capture_output=True, text=True, check=False
    )

    # The environment is empty: what counts is whose python was asked.
    assert "was moved" not in run.stderr
    assert str(clone / ".venv" / "bin" / "python") in run.stderr


@pytest.mark.parametrize("copied", [False, True], ids=["moved", "copied"])
def test_a_folder_that_was_moved_says_what_to_do(clone: Path, copied: bool) -> None:
    other = clone.parent / "elsewhere"
    if copied:
        shutil.copytree(clone, other, symlinks=True)
    else:
        clone.rename(other)

    run = subprocess.run(
        [other / ".venv" / "bin" / "antiphon", "courses"],
        capture_output=True,
        text=True,
        check=False,
    )
    setup = made(other, "setup")
    cleaned = made(other, "clean")

    assert run.returncode == 1
    assert "make clean && make setup" in run.stderr
    assert setup.returncode == 2
    assert "make clean && make setup" in setup.stderr
    assert str(clone / ".venv") in setup.stderr
    assert cleaned.returncode == 0
    assert not (other / ".venv").exists()
