"""Runs `antiphon` commands one after another in one process, which loads the packages once.

Reads a JSON line for each command (`arguments`, `settings`, `folder`, `stdin`, `test`) and answers with one
(`returncode`, `stdout`, `stderr`). A process of its own, because the command sets up logging for its whole process.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from antiphon.cli import main
from antiphon.service.memory import spare_memory
from tests.e2e.kept_model import keep_changed_model


def run(
    arguments: list[str], settings: dict[str, str], folder: str, stdin: str, test: str
) -> dict[str, object]:
    """One command of a test, as a fresh process would run it."""
    noted = sys.modules.get("coverage")
    if noted is not None and (current := noted.Coverage.current()) is not None:
        current.switch_context(test)
    before = dict(os.environ)
    code: object = 0
    # The process's own brings the commands.
    own, sys.stdin = sys.stdin, StringIO(stdin)
    with (
        redirect_stdout(StringIO()) as out,
        redirect_stderr(StringIO()) as err,
        chdir(folder),
    ):
        os.environ.update(settings)
        try:
            main(arguments)
        except SystemExit as exited:
            code = exited.code
        except Exception:  # noqa: BLE001 - all that a command lets out
            # As a fresh process would end; the next command still has its turn.
            traceback.print_exc()
            code = 1
        finally:
            sys.stdin = own
            os.environ.clear()
            os.environ.update(before)
    return {"returncode": code, "stdout": out.getvalue(), "stderr": err.getvalue()}


if __name__ == "__main__":
    # Each command loads its embedder, and the allocator would keep what every one has let go of.
    spare_memory()
    with tempfile.TemporaryDirectory(prefix="antiphon-") as model:
        keep_changed_model(Path(model))
        for line in sys.stdin:
            print(json.dumps(run(**json.loads(line))), flush=True)  # noqa: T201 - the answer
