"""The public names of a package, each imported when it is first used (PEP 562).

A package's names stand in its `__init__.pyi`, as imports: type checkers read them there, and so does this module. Its
`__init__.py` imports none of them, because whoever wants one would pay for all: reading a trace needs no vector index,
and importing one takes a second.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

Exports = tuple[list[str], Callable[[str], object], Callable[[], list[str]]]


def exports(package: str, file: str) -> Exports:
    """Returns the `__all__`, `__getattr__` and `__dir__` of a package.

    Args:
        file: Its `__init__.py`, beside which the `__init__.pyi` lies.
    """
    homes = _homes(Path(file).with_suffix(".pyi"))

    def import_name(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = _imported(*homes[name])
        # Kept, so that the next use is a plain look-up.
        vars(sys.modules[package])[name] = value
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return sorted(homes), import_name, names


def _homes(stub: Path) -> dict[str, tuple[str, str]]:
    """Reads from a stub the module that each public name comes from, and its name there."""
    homes: dict[str, tuple[str, str]] = {}
    for statement in ast.parse(stub.read_text(encoding="utf-8")).body:
        if not isinstance(statement, ast.ImportFrom) or statement.module is None:
            continue
        for imported in statement.names:
            public = imported.asname or imported.name
            homes[public] = (statement.module, imported.name)
    return homes


def _imported(module_name: str, name: str) -> object:
    """Imports what `from module import name` would: an attribute of the module, or a module within it."""
    module = import_module(module_name)
    if hasattr(module, name):
        found: object = getattr(module, name)
        return found
    return import_module(f"{module_name}.{name}")
