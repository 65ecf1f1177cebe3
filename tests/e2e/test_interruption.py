"""Ctrl-C at any moment, and an output that cannot be written: one line each, and the exit code that shells expect."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import httpx2
import pytest

from tests.e2e.conftest import (
    STARTING_S,
    Antiphon,
    heeding_ctrl_c,
    without_traces,
)
from tests.e2e.processes import interrupted_at, run_anew, started

LINE = "interrupted\n"


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("typer", ("--help",)),
        ("pydantic_settings", ("traces", "list")),
        ("structlog", ("courses",)),
        ("anthropic", ("ask", "What is applemailbox7?")),
        ("onnxruntime", ("ask", "What is applemailbox7?")),
        ("fastapi", ("serve", "--port", "0")),
        ("uvicorn", ("serve", "--port", "0")),
        ("numpy", ("index", "--rebuild", ".")),
        ("anthropic", ("double", "--script", "script.yaml")),
        ("yaml", ("faults", "list")),
    ],
)
def test_ctrl_c_while_something_is_imported_is_one_line(
    module: str, arguments: tuple[str, ...], data_dir: Path, tmp_path: Path
) -> None:
    (tmp_path / "script.yaml").write_text("replies: [{text: Hello.}]")

    # Of its own: a service of another test may be using the shared one, which `serve` says.
    own = without_traces(data_dir, tmp_path)

    ended = interrupted_at("import", module, *arguments, data_dir=own, folder=tmp_path)

    assert (ended.returncode, ended.stderr) == (130, LINE)


@pytest.mark.parametrize("module", ["anthropic", "onnxruntime"])
def test_ctrl_c_while_something_is_loaded_behind_the_service_ends_it_in_order(
    module: str, data_dir: Path, tmp_path: Path
) -> None:
    ended = interrupted_at(
        "import", module, "serve", "--port", "0", data_dir=data_dir, folder=tmp_path
    )

    assert ended.returncode == 0
    assert ended.stderr.splitlines()[-1].startswith("Stopping: ")


def test_a_command_in_the_background_ignores_ctrl_c_and_one_of_these_tests_does_not(
    tmp_path: Path,
) -> None:
    def ended() -> tuple[int, str]:
        run = interrupted_at(
            "import", "typer", "--version", data_dir=tmp_path, folder=tmp_path
        )
        return run.returncode, run.stderr

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        in_background = ended()
        with heeding_ctrl_c():
            in_tests = ended()
    finally:
        signal.signal(signal.SIGINT, before)

    assert (in_background, in_tests) == ((0, ""), (130, LINE))


def test_ctrl_c_ends_a_run_of_faults_and_leaves_nothing_behind(
    data_dir: Path, tmp_path: Path
) -> None:
    ended = interrupted_at(
        "sqlite3.connect",
        "",
        "faults",
        "run",
        data_dir=data_dir,
        folder=tmp_path,
        times=5,
    )

    assert (ended.returncode, ended.stderr, ended.stdout) == (130, LINE, "")
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_ends_indexing_and_the_old_index_stays(
    data_dir: Path, tmp_path: Path, antiphon: Antiphon
) -> None:
    before = antiphon("courses").stdout
    (tmp_path / "a.txt").write_text("Course Title: Plum\n\nPlums are blue.")

    ended = interrupted_at(
        "shutil.rmtree", "", "index", ".", data_dir=data_dir, folder=tmp_path
    )

    assert (ended.returncode, ended.stdout) == (130, "")
    assert ended.stderr.endswith(LINE)
    assert "Traceback" not in ended.stderr
    assert antiphon("courses").stdout == before


def test_a_second_ctrl_c_ends_a_service_at_once_though_a_query_is_under_way(
    data_dir: Path, tmp_path: Path, silent_model: str
) -> None:
    with started(
        *("serve", "--port", "0"),
        # Its query stays open, and the next service over the same folder would go on with it.
        data_dir=without_traces(data_dir, tmp_path),
        folder=tmp_path,
        ANTHROPIC_BASE_URL=silent_model,
    ) as serving:
        assert serving.stderr is not None
        line = next(line for line in serving.stderr if "Antiphon serves " in line)
        with httpx2.Client(base_url=line.split()[2], timeout=STARTING_S) as client:
            asked = {"query": "Is anybody there?"}
            stream = {"Accept": "text/event-stream"}
            with client.stream(
                "POST", "/api/query", json=asked, headers=stream
            ) as told:
                next(told.iter_lines())
                serving.send_signal(signal.SIGINT)
                next(line for line in serving.stderr if "Stopping" in line)
                serving.send_signal(signal.SIGINT)
                rest = serving.stderr.read()

    # The log may tell of the request meanwhile.
    assert (serving.returncode, rest.endswith(LINE)) == (130, True)
    assert "Traceback" not in rest


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("traces", "list"), ("courses",), ("traces", "list", "--help")],
)
def test_a_full_device_is_one_line(
    arguments: tuple[str, ...],
    buffered: bool,
    data_dir: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What is buffered is written once more at the end of the process.
    monkeypatch.setenv("PYTHONUNBUFFERED", "" if buffered else "1")
    full = os.open("/dev/full", os.O_WRONLY)

    ended = run_anew(*arguments, data_dir=data_dir, folder=tmp_path, stdout=full)

    os.close(full)
    assert ended.returncode == 1
    assert ended.stderr == (
        "antiphon: the output cannot be written: No space left on device\n"
    )


def test_the_command_prints_no_error_if_its_reader_is_gone(
    data_dir: Path, tmp_path: Path, antiphon: Antiphon
) -> None:
    asked = antiphon("ask", "What is applemailbox7 in the Apple course?", "--json")
    query_id = json.loads(asked.stdout)["query_id"]
    reading, writing = os.pipe()
    os.close(reading)

    ended = run_anew(
        "traces", "show", query_id, data_dir=data_dir, folder=tmp_path, stdout=writing
    )

    os.close(writing)
    assert (ended.returncode, ended.stderr) == (1, "")
