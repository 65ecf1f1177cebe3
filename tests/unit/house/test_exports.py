"""The rooms hand out their names when they are first used, and each name is what its stub says."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
STUBS = sorted(
    path.relative_to(ROOT)
    for path in (*ROOT.glob("*/__init__.pyi"), *ROOT.glob("*/*/__init__.pyi"))
    if path.parts[len(ROOT.parts)] != "antiphon" or path.parent.name == "antiphon"
)


def package_of(stub: Path) -> str:
    name = ".".join(stub.parent.parts)
    if name == "antiphon":
        return name
    return f"antiphon.{name}"


def imported_by(stub: Path) -> dict[str, str]:
    """The names that a stub imports, and where each is at home."""
    homes = {}
    for statement in ast.parse((ROOT / stub).read_text()).body:
        if isinstance(statement, ast.ImportFrom):
            for name in statement.names:
                homes[name.asname or name.name] = str(statement.module)
    return homes


def listed_by(stub: Path) -> list[str]:
    for statement in ast.parse((ROOT / stub).read_text()).body:
        if isinstance(statement, ast.Assign):
            names: list[str] = ast.literal_eval(statement.value)
            return names
    return []


@pytest.mark.parametrize("stub", STUBS, ids=str)
def test_every_name_of_a_stub_is_handed_out(stub: Path) -> None:
    package = import_module(package_of(stub))

    names = imported_by(stub)

    assert sorted(listed_by(stub)) == sorted(names) == package.__all__
    for name in names:
        assert getattr(package, name) is not None
        assert name in dir(package)


@pytest.mark.parametrize("stub", STUBS, ids=str)
def test_no_name_is_that_of_a_module_in_the_folder(stub: Path) -> None:
    # Importing the module would put it in the place of the name.
    folder = ROOT / stub.parent
    modules = {path.stem for path in folder.glob("*.py")}
    modules |= {path.parent.name for path in folder.glob("*/__init__.py")}

    for name, home in imported_by(stub).items():
        assert name not in modules or home == package_of(stub) + f".{name}", name
        assert name not in modules or stub.parent.name == "antiphon", name


def test_importing_the_rooms_imports_nothing_of_them() -> None:
    rooms = [package_of(stub) for stub in STUBS]
    code = f"import sys, {', '.join(rooms)}; print(*sorted(sys.modules))"

    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    ours = {name for name in run.stdout.split() if name.startswith("antiphon")}
    assert ours == {"antiphon", "antiphon.exports", *rooms}
