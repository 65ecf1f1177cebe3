"""The wheel in an empty environment, used from a folder whose packages are called as our rooms are."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.course_files import write_course
from tests.e2e.conftest import ROOT

PACKAGES = ("api", "bus", "engine", "service", "tests")

# Refuses to be imported by a statement of ours. By name (`importlib.import_module`) we import what the user names.
GUARD = """
import sys

frame = sys._getframe(1)
while "importlib._bootstrap" in frame.f_code.co_filename:
    frame = frame.f_back
if frame.f_globals["__name__"].split(".")[0] == "antiphon":
    raise ImportError(f"{frame.f_globals['__name__']} imports the user's package {__name__}")
MINE = __name__
"""
TOOLS = '''
import api


async def lookup(term: str) -> str:
    """Looks a term up."""
    return f"{term}: a term of {api.MINE}."
'''
SUITE = """
import api, bus, engine, pytest, service, tests


def test_the_names_are_mine():
    assert [each.MINE for each in (api, bus, engine, service, tests)] == ["api", "bus", "engine", "service", "tests"]


@pytest.mark.faults("tool.lookup", "hang", tools="service.tools:lookup")
def test_a_slow_tool_is_survived(faulted):
    assert faulted.broken == []
    assert [fired.point for fired in faulted.run.fired] == ["tool.lookup"]
"""


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution, and the wheel that was built from it: `make dist`."""
    folder = tmp_path_factory.mktemp("dist")
    # The environment that runs the tests is the one that `make setup-dev` would make.
    is_set_up = ["VENV=.venv", "-o", ".venv/.dev", f"BIN={Path(sys.executable).parent}"]
    built = subprocess.run(
        ["make", *is_set_up, "dist", f"DIST={folder}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(distributions: Path) -> Path:
    (found,) = distributions.glob("*.whl")
    return found


def test_the_wheel_holds_every_file_of_the_pages(wheel: Path) -> None:
    pages = ROOT / "api" / "web"
    files = {
        f"antiphon/{path.relative_to(ROOT)}"
        for path in pages.rglob("*")
        if path.is_file()
    }

    assert files <= set(zipfile.ZipFile(wheel).namelist())
    assert "antiphon/api/web/index.html" in files


class Project:
    """A user's folder, and an environment that holds the wheel and its dependencies, and nothing else of ours."""

    def __init__(self, folder: Path, binaries: Path) -> None:
        self.folder = folder
        self._binaries = binaries

    def run(self, command: str, *arguments: str) -> str:
        """Runs a command of the environment in the user's folder, and returns what it printed."""
        inherited = {}
        for name, value in os.environ.items():
            if not name.startswith(("ANTIPHON_", "ANTHROPIC_", "PYTHON", "PYTEST")):
                inherited[name] = value
        settings = {
            "ANTIPHON_EMBEDDER": "onnx",
            "ANTIPHON_DATA_DIR": str(self.folder / "data"),
        }
        run = subprocess.run(
            [str(self._binaries / command), *arguments],
            cwd=self.folder,
            env=inherited | settings,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stdout + run.stderr
        return run.stdout


@pytest.fixture(scope="module")
def project(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment)
    paths = sysconfig.get_paths(
        vars={"base": str(environment), "platbase": str(environment)}, scheme="venv"
    )
    python = Path(paths["scripts"]) / "python"
    install = [
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--disable-pip-version-check",
        str(wheel),
    ]
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), *install], check=True
    )
    # The dependencies of the environment that runs the tests. A path in a .pth file is no site directory: the .pth
    # files in it, by which the checkout itself is installed for editing, are not read.
    (Path(paths["purelib"]) / "dependencies.pth").write_text(
        sysconfig.get_path("purelib")
    )
    folder = tmp_path_factory.mktemp("project")
    for package in PACKAGES:
        (folder / package).mkdir()
        (folder / package / "__init__.py").write_text(GUARD)
    (folder / "service" / "tools.py").write_text(TOOLS)
    (folder / "conftest.py").write_text(
        'pytest_plugins = ["antiphon.faults.pytest_plugin"]'
    )
    (folder / "tests" / "test_mine.py").write_text(SUITE)
    return Project(folder, Path(paths["scripts"]))


def test_the_wheel_holds_one_package_and_all_of_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())

    ours = set()
    for folder, _, names in os.walk(ROOT / "antiphon", followlinks=True):
        for name in names:
            if not name.endswith(".pyc"):
                ours.add((Path(folder) / name).relative_to(ROOT).as_posix())
    assert {name for name in packed if not name.startswith("antiphon-")} == ours
    assert "antiphon/py.typed" in ours
    assert all(".dist-info/" in name for name in packed - ours)


def test_the_source_distribution_holds_the_package_and_its_documents(
    distributions: Path,
) -> None:
    (source,) = distributions.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        members = archive.getmembers()

    tops = {member.name.split("/")[1] for member in members}
    ours = {
        "antiphon",
        "docs",
        "samples",
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "CONVENTIONS.md",
        "SECURITY.md",
    }
    assert tops == ours | {"pyproject.toml", "PKG-INFO", "LICENSE", ".gitignore"}
    assert not any(member.issym() or member.islnk() for member in members)


def test_the_command_prints_its_version_and_lists_its_commands(
    project: Project, wheel: Path
) -> None:
    version = project.run("antiphon", "--version").split()[-1]

    assert wheel.name.startswith(f"antiphon-{version}-")
    for command in ("ask", "index", "serve", "traces"):
        assert f" {command} " in project.run("antiphon", "--help")


def test_a_course_is_indexed_and_a_question_answered(project: Project) -> None:
    write_course(project.folder / "courses", "apple", lessons=2)

    project.run("antiphon", "index", "courses")
    answer = project.run(
        "antiphon",
        "ask",
        "--reasoner",
        "offline",
        "What does lesson 1 tell about apples?",
    )

    assert "apple" in answer.casefold()


def test_a_tool_of_theirs_is_broken_and_survived(project: Project) -> None:
    report = project.run(
        "antiphon",
        "faults",
        "run",
        "--tools",
        "service.tools:lookup",
        "--points",
        "tool.lookup",
        "--kinds",
        "hang,none",
    )

    assert "kept 2" in report


def test_a_test_of_theirs_passes_with_the_plugin(project: Project) -> None:
    report = project.run(
        "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_mine.py"
    )

    assert "2 passed" in report
