"""The public names of a package, each imported when it is first used (PEP 562).

A package's names stand in its `__init__.pyi`, as imports: type checkers read them there, and so does this module. Its
`__init__.py` imports none of them, because whoever wants one would pay for all: reading a trace needs no vector index,
and importing one takes a second.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module

ModuleFunctions = tuple[Callable[[str], object], Callable[[], list[str]]]
Homes = dict[str, tuple[str, str]]


def exports(package: str, file: str) -> ModuleFunctions:
    """Returns the `__getattr__` and the `__dir__` of a package; the former gives its `__all__` too.

    Args:
        file: Its `__init__.py`, beside which the `__init__.pyi` lies.
    """
    homes: Homes = {}

    def read_homes() -> Homes:
        # When a name is first wanted: the package of everything is imported before Ctrl-C is handled.
        if not homes:
            homes.update(_homes(os.path.splitext(file)[0] + ".pyi"))
        return homes

    def import_name(name: str) -> object:
        if name == "__all__":
            return sorted(read_homes())
        # A name of Python's own, such as `__path__`, is never one of ours.
        if name.startswith("__") or name not in read_homes():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = _imported(*homes[name])
        # Kept, so that the next use is a plain look-up.
        vars(sys.modules[package])[name] = value
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *read_homes()})

    return import_name, names


def _homes(stub: str) -> Homes:
    """Reads from a stub the module that each public name comes from, and its name there."""
    ast = import_module("ast")
    homes: Homes = {}
    with open(stub, encoding="utf-8") as file:
        statements = ast.parse(file.read()).body
    for statement in statements:
        if not isinstance(statement, ast.ImportFrom):
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
