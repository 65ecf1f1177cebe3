"""The log as it comes out: nothing in it steers a terminal, forges a line, or shows what a frame held."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LOGGING = """
import logging, sys
import structlog
from antiphon.composition import configure_logging, load_settings

configure_logging(load_settings(log_format=sys.argv[1], redact=r"pw:\\w+", reasoner="offline"))
log = structlog.get_logger("test")

def fail(secret_of_the_frame, digits):
    local = "held in a frame " * 50
    int("x\\x1b[2Jhttp://me:hunter2@host/")

def failed():
    try:
        fail("never shown", 10**3000)
    except ValueError as error:
        return error

log.warning("request", path="/\\x1b]0;owned\\x07\\x9b31m\\nforged=line", url="http://me:hunter2@host/")
log.error("handler_failed", exc_info=failed())
logging.getLogger("uvicorn.error").error("in \\x1b[31m%s", "pw:hidden01", exc_info=failed())
logging.getLogger("opentelemetry.exporter.otlp.proto.http.trace_exporter").error("at each attempt")
"""


def logged(form: str, folder: Path, extra: Sequence[str] = ()) -> str:
    """What a process of its own logs; logging is set up for a whole process."""
    run = subprocess.run(
        [sys.executable, "-c", LOGGING, form, *extra],
        cwd=ROOT,
        env={"PATH": "", "HOME": str(folder), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
    )
    return run.stderr.decode()


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_line_steers_no_terminal_and_shows_neither_frames_nor_passwords(
    form: str, tmp_path: Path
) -> None:
    lines = logged(form, tmp_path)

    assert "at each attempt" not in lines
    # The console's own colours are the only escape sequences.
    assert "\x1b]" not in lines
    assert "\x1b[31mx" not in lines
    assert "\x1b[2J" not in lines
    assert not set(lines) & set("\x07\x9b")
    assert "held in a frame" not in lines
    assert "never shown" not in lines
    assert "hunter2" not in lines
    assert "hidden01" not in lines
    assert "http://[masked]@host/" in lines
    assert lines.count("ValueError") == 2
    assert not any(line.startswith("forged") for line in lines.splitlines())


def test_what_a_library_logs_comes_out_like_our_own(tmp_path: Path) -> None:
    lines = logged("json", tmp_path).splitlines()

    assert len(lines) == 3
    assert '"logger": "uvicorn.error"' in lines[2]
