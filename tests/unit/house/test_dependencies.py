"""What pyproject.toml declares is what the program imports, and the optional part of it is kept apart."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house.complexity import product_files
from tests.house.requirements import EXTRAS, ROOT, needed_by, requirements

MOST_DIRECT = 20
"""What `pip install antiphon` may ask for by itself."""
OURS = {"antiphon", "benchmarks"}
BY_NAME = ("import_module", "find_spec")
LOADS_US = {"pytest"}
"""It imports the plugin, and so is there whenever the plugin is."""
NOT_IMPORTED = {"python-multipart"}
"""FastAPI reads forms with it."""
CONTRACT = "What comes with an extra is imported only by the modules that adapt it"
DISTRIBUTIONS = {
    module: set(map(canonicalize_name, names))
    for module, names in packages_distributions().items()
}


def test_no_more_is_asked_for_without_extras() -> None:
    assert len(requirements()) <= MOST_DIRECT


def test_everything_that_is_imported_is_declared() -> None:
    declared = set(_declared())

    undeclared = {
        (module, str(path))
        for path, module in _imports()
        if not DISTRIBUTIONS.get(module, set()) & declared and module not in LOADS_US
    }

    assert undeclared == set()


def test_everything_that_is_declared_is_imported() -> None:
    imported: set[str] = set()
    for _, module in _imports():
        imported |= DISTRIBUTIONS.get(module, set())
    wanted = {
        canonicalize_name(Requirement(each).name) for each in requirements(*EXTRAS)
    }

    assert wanted - imported == NOT_IMPORTED


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_contract_of_imports_knows_every_package_of_an_extra(extra: str) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (contract,) = [
        each
        for each in settings["tool"]["importlinter"]["contracts"]
        if each["name"] == CONTRACT
    ]
    packages = {canonicalize_name(Requirement(each).name) for each in EXTRAS[extra]}

    known: set[str] = set()
    for module in contract["forbidden_modules"]:
        known |= DISTRIBUTIONS.get(module, set())

    assert packages <= known


def _declared() -> Iterator[str]:
    """Yields the packages that we ask for: by name, by an extra of another, and what that pins to one version."""
    for requirement in map(Requirement, requirements(*EXTRAS)):
        yield canonicalize_name(requirement.name)
        for each in needed_by(requirement):
            of_extra = each.marker is not None and "extra" in str(each.marker)
            is_pinned = str(each.specifier).startswith("==")
            if of_extra or is_pinned:
                yield canonicalize_name(each.name)


def _imports() -> Iterator[tuple[Path, str]]:
    """Yields each package that a file of the program imports, by a statement or by its name, with the file."""
    for path in product_files():
        if "benchmarks" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            for name in _names(node):
                module = name.partition(".")[0]
                if module not in sys.stdlib_module_names and module not in OURS:
                    yield path.relative_to(ROOT), module


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(BY_NAME):
        (named,) = node.args
        if isinstance(named, ast.Constant):
            return [str(named.value)]
    return []
