"""Runs a tool in a separate process: if it takes too long over a file or dies, it goes on with the next one."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple, cast

PROGRAM = Path(__file__).with_name("tools.py")
OURS = Path(__file__).parents[2]
MOST_SECONDS = 120.0


class Outcome(NamedTuple):
    """A tool's result for a file: the text or the reason why there is none, and the processor time."""

    text: str = ""
    refused: str | None = None
    seconds: float = 0.0


class Program(NamedTuple):
    """A tool, the interpreter that has it, and the checkout of our code that it uses."""

    tool: str
    python: str = sys.executable
    checkout: Path = OURS

    def read(self, paths: Sequence[Path]) -> Iterator[Outcome]:
        """Yields its result for each file, in order; nothing if it does not start."""
        process: subprocess.Popen[str] | None = None
        for path in paths:
            try:
                if process is None:
                    process = self._started()
                    # Reads the first file once more, so that loading does not count as a file's time.
                    _asked(process, path)
                yield _asked(process, path)
            except (OSError, TimeoutError, EOFError) as error:
                status = _ended(process)
                process = None
                reason = (
                    "it takes too long"
                    if isinstance(error, TimeoutError)
                    else f"the process ended ({status})"
                )
                yield Outcome(
                    refused=reason,
                    seconds=MOST_SECONDS if isinstance(error, TimeoutError) else 0.0,
                )
        _ended(process)

    def is_there(self) -> bool:
        """Returns True if the tool can be started."""
        ended = subprocess.run(
            [self.python, str(PROGRAM), self.tool],
            env=self._environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip
        return ended.returncode == 0

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.checkout)}

    def _started(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.python, str(PROGRAM), self.tool],
            env=self._environment(), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip


def _ended(process: subprocess.Popen[str] | None) -> int:
    if process is None:
        return 0
    process.kill()
    return process.wait()


def _asked(process: subprocess.Popen[str], path: Path) -> Outcome:
    requests = cast(IO[str], process.stdin)
    replies = cast(IO[str], process.stdout)
    requests.write(json.dumps(str(path)) + "\n")
    requests.flush()
    ready, _, _ = select.select([replies], [], [], MOST_SECONDS)
    if not ready:
        raise TimeoutError
    line = replies.readline()
    if not line:
        raise EOFError
    return Outcome(**json.loads(line))
