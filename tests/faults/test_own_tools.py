"""A user's own tools, tried as a user tries them: by the command in their own project, and in their test suite."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import typer

from antiphon import service
from antiphon.cli.fault_worlds import scratch_folder
from antiphon.cli.faults_random import run_random
from antiphon.cli.process import before_ending
from antiphon.vocabulary.errors import ConfigurationError
from tests.e2e.conftest import ROOT, Antiphon, Shell, environment

pytest_plugins = ["pytester"]

TOOLS = '''
import asyncio

async def good(term: str) -> str:
    """Looks a term up."""
    return f"{term}: it stops calls that fail."

def plain(term: str) -> str:
    """Looks a term up, in a thread."""
    return f"{term}: it stops calls that fail."

async def stubborn(term: str) -> str:
    """Cannot be stopped."""
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            pass

async def hangs(term: str) -> str:
    """Never comes back."""
    await asyncio.sleep(100_000)

async def huge(term: str) -> str:
    """Returns three megabytes."""
    return "x" * 3_000_000

async def no_data(term: str) -> object:
    """Returns what is no data."""
    return object()

async def hostile(term: str) -> str:
    """Raises markup."""
    raise RuntimeError("<script>alert(1)</script>\\x1b[31m")

bad = [stubborn, hangs, huge, no_data, hostile]
number = 7
'''
WRONG = {
    "stubborn": "nothing is left: task ToolRun._work (stubborn at their_package/tools.py:",
    "hangs": "hangs took longer than 10 s",
    "huge": "it returned too much",
    "no_data": "no_data failed: PydanticSerializationError",
    "hostile": "hostile failed: RuntimeError",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's project with a package of tools, and invalid plans."""
    folder = tmp_path_factory.mktemp("project")
    package = folder / "their_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "tools.py").write_text(TOOLS)
    (package / "raising.py").write_text("raise RuntimeError('no\\ndatabase')")
    (package / "exiting.py").write_text("import sys\nsys.exit(0)")
    (folder / "unknown_key.yaml").write_text(
        "faults: [{point: client, kind: cancel, colour: red}]"
    )
    (folder / "nowhere.yaml").write_text("faults: [{point: nowhere, kind: raise}]")
    (folder / "no_yaml.yaml").write_text("{{{")
    return folder


@pytest.fixture(scope="module")
def antiphon(project: Path) -> Iterator[Antiphon]:
    """Runs the command in the user's project, from which their package can be imported."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.shell"],
        env=environment(project, PYTHONPATH=f"{ROOT}:{project}"),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield partial(Shell(process).run, "faults", folder=project, data_dir=project)


def test_the_report_names_each_planted_bug_and_a_command_that_shows_it_alone(
    antiphon: Antiphon, project: Path
) -> None:
    run = antiphon(
        *(
            "run",
            "--tools",
            "their_package.tools:bad",
            "--points",
            "tool.*",
            "--kinds",
            "none",
        ),
        *("--json-file", "r.json", "--html", "r.html"),
    )
    report = json.loads((project / "r.json").read_text())
    failed = {
        cell["cell"]["point"]: " ".join(cell["broken"]) for cell in report["cells"]
    }

    assert run.returncode == 1
    assert [
        name for name, said in WRONG.items() if said not in failed[f"tool.{name}"]
    ] == []
    shown = next(
        line.strip()
        for line in run.stderr.splitlines()
        if "--points tool.hangs " in line
    )
    again = antiphon(*shlex.split(shown)[2:])
    assert (again.returncode, WRONG["hangs"] in again.stderr) == (1, True)
    page = (project / "r.html").read_text()
    assert "&lt;script&gt;" in page
    assert "<script>" not in page
    assert "\x1b" not in run.stderr


def test_the_command_has_points_for_the_events_a_configured_subscriber_receives_and_emits(
    antiphon: Antiphon, project: Path
) -> None:
    (project / "their_verifier.py").write_text(
        (ROOT / "docs" / "examples" / "verifier.py").read_text()
    )
    named = partial(antiphon, ANTIPHON_SUBSCRIBERS="their_verifier:subscriber")
    heard = "deliver.review_requested.Verifier"

    points = named("list").stdout
    run = named("run", "--points", heard, "--kinds", "drop")

    assert {heard, "publish.draft_checked"} <= set(points.split())
    assert heard not in antiphon("list").stdout
    assert run.returncode == 0, run.stderr
    assert heard in run.stdout


@pytest.mark.parametrize("name", ["good", "plain"])
def test_a_good_tool_survives_every_kind_of_fault(
    antiphon: Antiphon, name: str
) -> None:
    run = antiphon(
        "run", "--tools", f"their_package.tools:{name}", "--points", f"tool.{name}"
    )

    assert run.returncode == 0, run.stderr
    assert "cells run 12, fired 12, kept 12" in run.stdout


def test_the_random_mode_writes_the_smallest_plan_and_the_command_that_plays_it(
    antiphon: Antiphon, project: Path
) -> None:
    found = antiphon(
        "random", "--tools", "their_package.tools:stubborn", "--examples", "2"
    )
    shown = next(line.strip() for line in found.stderr.splitlines() if "--plan" in line)
    again = antiphon(*shlex.split(shown)[2:])

    assert found.returncode == 1
    assert "faults: []" in found.stdout
    assert (again.returncode, WRONG["stubborn"] in again.stderr) == (1, True)


def test_without_hypothesis_the_random_mode_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    monkeypatch.delitem(sys.modules, "antiphon.faults.runs.random_runs", raising=False)
    # Otherwise it would silence this process, whose other tests read the log.
    monkeypatch.setattr(service, "silence_logging", lambda: None)

    with pytest.raises(ConfigurationError, match=r"pip install -e '\.\[faults\]'"):
        run_random(plan=tmp_path / "plan.yaml", examples=1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("run --points nowhere", "There is no point 'nowhere'"),
        ("run --kinds melt", "There is no kind of fault 'melt'"),
        ("run --when never", "There is no part 'never'"),
        ("run --points client --kinds hang", "a caller can only stay or go"),
        ("run --fault client:melt", "no fault plan"),
        ("run --fault client", "POINT:KIND"),
        ("run --fault client:cancel --pairs", "runs alone"),
        ("run --tools nope:x", "No module named 'nope'"),
        ("run --tools their_package.tools:number", "is int"),
        ("run --tools their_package.raising:x", "RuntimeError: no database"),
        ("run --tools their_package.exiting:x", "SystemExit"),
        ("run --plan unknown_key.yaml", "unknown field `colour`"),
        ("run --plan nowhere.yaml", "There is no point 'nowhere'"),
        ("run --plan no_yaml.yaml", "cannot be read as a fault plan"),
        ("run --plan none.yaml", "No such file"),
        ("run --points client --html missing/r.html", "cannot be written"),
        ("run --points client --json-file .", "cannot be written"),
        ("random --plan missing/plan.yaml", "cannot be written"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(
    antiphon: Antiphon, arguments: str, said: str
) -> None:
    run = antiphon(*arguments.split())

    sentence = [line for line in run.stderr.splitlines() if said in line]
    assert run.returncode == 1, run.stdout
    assert len(sentence) == 1, run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize("left_by", [typer.Exit(1), KeyboardInterrupt()])
def test_a_run_that_ends_early_leaves_temporary_files_where_they_were(
    left_by: BaseException,
) -> None:
    before, tidying = tempfile.gettempdir(), list(before_ending)

    def end_early() -> None:
        with scratch_folder() as folder:
            assert tempfile.gettempdir() == str(folder)
            raise left_by

    with pytest.raises(type(left_by)):
        end_early()

    assert (tempfile.gettempdir(), before_ending) == (before, tidying)


SUITE = """
import pytest

faults = pytest.mark.faults


@faults("tool.good", "hang", tools="their_package.tools:good")
def test_a_slow_tool_is_survived(faulted):
    assert faulted.broken == []
    assert [fired.point for fired in faulted.run.fired] == ["tool.good"]


@faults(tools="their_package.tools:good")
def test_a_good_tool_by_itself(faulted):
    assert faulted.broken == []


@faults(tools="their_package.tools:hangs")
def test_a_tool_that_hangs(faulted):
    assert faulted.broken == []


@faults("client", "cancel", when="start")
def test_a_fault_that_never_fires(faulted):
    assert faulted.broken == []


@faults("tool.not_there", "raise")
def test_an_unknown_point(faulted):
    assert faulted.broken == []


@faults("client", "melt")
def test_an_unknown_kind(faulted):
    assert faulted.broken == []
"""


def test_the_plugin_breaks_tools_in_their_own_suite(
    pytester: pytest.Pytester, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makeconftest('pytest_plugins = ["antiphon.faults.pytest_plugin"]')
    pytester.makepyfile(SUITE)
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{project}")

    result = pytester.runpytest_subprocess("--strict-markers", "-p", "no:cacheprovider")

    result.assert_outcomes(passed=2, failed=2, errors=2)
    result.stdout.fnmatch_lines(
        [
            "*There is no point 'tool.not_there'*",
            "*Invalid enum value 'melt'*",
            "*hangs took longer than 10 s*",
            "*cancel at client never fired*",
        ]
    )
