"""Runs `antiphon` in a process of its own, and interrupts it at a place that the test names, not at a time."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from tests.e2e.conftest import ROOT, STARTING_S, Run, environment
from tests.e2e.forking import ForkedCommand, address

_PROGRAM = """
import os, signal, sys

event, name, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
met = 0

def watch(happened, details):
    global met
    if happened != event or (name and details[0] != name):
        return
    met += 1
    if met == times:
        os.kill(os.getpid(), signal.SIGINT)

sys.addaudithook(watch)
sys.argv[:4] = ["antiphon"]
from antiphon.cli import main
main()
"""


def interrupted_at(
    event: str,
    name: str,
    *arguments: str,
    data_dir: Path,
    folder: Path,
    times: int = 1,
    **settings: str,
) -> subprocess.CompletedProcess[str]:
    """Runs a command that gets SIGINT when Python reports an audit event for the so-manyth time."""
    return subprocess.run(
        [sys.executable, "-c", _PROGRAM, event, name, str(times), *arguments],
        env=environment(data_dir, TMPDIR=str(folder), **settings),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=STARTING_S,
    )


@contextmanager
def started(
    *arguments: str, data_dir: Path, folder: Path, **settings: str
) -> Iterator[subprocess.Popen[str]]:
    """A command under way, whose standard error can be read; waited for at the end, and killed if the test fails."""
    process = subprocess.Popen(
        [sys.executable, "-m", "antiphon.cli", *arguments],
        env=environment(data_dir, **settings),
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
    )
    # `with process` alone would wait for a command that nobody ends any more.
    with process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def run(*arguments: str, data_dir: Path, folder: Path, **settings: str) -> Run:
    """Runs a command to its end, as a fork."""
    env = environment(data_dir, **settings)
    with tempfile.TemporaryFile("w+") as printed:
        to = printed.fileno()
        command = ForkedCommand(address(), arguments, folder, env, to)
        with command.stderr:
            told = command.stderr.read()
        code = command.wait(STARTING_S)
        printed.seek(0)
        return Run(code, printed.read(), told)


def run_anew(
    *arguments: str, data_dir: Path, folder: Path, stdout: int
) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end as a new process of Python, which prints to a file descriptor."""
    return subprocess.run(
        [sys.executable, "-m", "antiphon.cli", *arguments],
        env=environment(data_dir),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=STARTING_S,
    )


@contextmanager
def doubling(
    folder: Path, script: object, forked_at: str | None = None
) -> Generator[str, None, None]:
    """A double in a process of its own that plays a script; yields its address."""
    file = folder / "script.yaml"
    file.write_text(yaml.safe_dump(script))
    command = ["double", "--script", str(file), "--port", "0"]
    process = ForkedCommand(forked_at or address(), command, ROOT, environment(folder))
    try:
        yield process.stderr.readline().split()[4]
    finally:
        # At once: it may be about to say something for as long as anybody waits.
        process.kill()
        process.wait(STARTING_S)
