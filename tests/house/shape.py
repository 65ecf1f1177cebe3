"""Prints the shape of the product's code, package by package: `python -m tests.house.shape`.

It refuses nothing. No column says much alone: folded code has few lines, unrolled code has little in each. "Product"
means all root packages except the tests, as for the gate on complexity. The columns:

- lines: all lines of the files, empty ones and comments included.
- code: lines that hold code, by radon: no empty lines, no comments, no docstrings.
- complexity: radon's cyclomatic complexity of all functions and methods, for each 100 lines of code.

and for each 1,000 lines:

- defaults: pairs of statements that unroll one conditional expression. The first assigns a name something simple, made
  of constants, names, attributes and literal collections of these; the next is an `if` without `else` or `elif` whose
  body is one assignment to that name.
- appends: loops that unroll one comprehension. A statement assigns `[]` to a name, and the next is a `for` whose body
  is one `.append(…)` to that name or one `+=` on it. A loop with an `if` in between does not count.
- comprehensions: those of lists, sets and dicts, and generator expressions; nested ones count separately.
- conditionals: `a if b else c`.

The table is followed by the modules that contain a word of the options for several machines and tenants as part of a
name (`tenant_of`, `RemoteQuery`) or of a string other than a docstring. Plurals count; comments do not, and neither do
the packages of these options (`OPTIONS`).
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from tests.house.complexity import ROOT, Figures, product_files

WORDS = ("remote", "sharing", "tenant")
OPTIONS = ("cluster", "workers", "access")
HEAD = ("", "lines", "code", "complexity", "defaults", "appends", "comprehensions", "conditionals")  # fmt: skip

_SIMPLE = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.UnaryOp, ast.unaryop),
    *(ast.Tuple, ast.List, ast.Dict, ast.Set, ast.expr_context),
)
_PART_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class Shape(Figures):
    """The sums over the files of a package, or over all."""

    def __init__(self) -> None:
        super().__init__()
        self.defaults = 0
        self.appends = 0
        self.conditionals = 0

    def add(self, place: str, source: str) -> None:
        super().add(place, source)
        tree = ast.parse(source)
        self.conditionals += sum(isinstance(each, ast.IfExp) for each in ast.walk(tree))
        for first, second in _neighbours(tree):
            assigned = _assignment(first)
            if assigned is not None:
                self.defaults += _is_default(assigned, second)
                self.appends += _is_append_loop(assigned, second)

    def row(self, name: str) -> str:
        complexity = sum(function.complexity for function in self.functions)
        counts = (self.defaults, self.appends, self.comprehensions, self.conditionals)
        return _row(
            name,
            f"{self.lines:,}",
            f"{self.source_lines:,}",
            f"{100 * complexity / max(1, self.source_lines):.1f}",
            *[f"{1000 * count / max(1, self.lines):.2f}" for count in counts],
        )


class Assignment(NamedTuple):
    """An assignment to one name."""

    name: str
    value: ast.expr


def _neighbours(tree: ast.AST) -> Iterator[tuple[ast.stmt, ast.stmt]]:
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            # In a lambda or a conditional expression this field is an expression, not a list of statements.
            if isinstance(block, list):
                yield from pairwise(block)


def _assignment(statement: ast.stmt) -> Assignment | None:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return Assignment(name, value)
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            return Assignment(name, value)
    return None


def _is_default(assigned: Assignment, following: ast.stmt) -> bool:
    match following:
        case ast.If(body=[only], orelse=[]):
            again = _assignment(only)
            simple = all(isinstance(node, _SIMPLE) for node in ast.walk(assigned.value))
            return simple and again is not None and again.name == assigned.name
    return False


def _is_append_loop(assigned: Assignment, following: ast.stmt) -> bool:
    match assigned.value, following:
        case ast.List(elts=[]), ast.For(body=[only], orelse=[]):
            return _grows(only) == assigned.name
    return False


def _grows(statement: ast.stmt) -> str:
    """Returns the name of the list that a statement extends; empty if it does something else."""
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(id=name), attr="append"))):
            return name
        case ast.AugAssign(ast.Name(id=name), ast.Add()):
            return name
    return ""


def words_of(source: str) -> set[str]:
    """Returns the words of a module's code in lower case, plurals as they are."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            docstrings.update(range(node.lineno, (node.end_lineno or 0) + 1))
    return {
        word.lower()
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type != tokenize.COMMENT and token.start[0] not in docstrings
        for word in _PART_OF_NAME.findall(token.string)
    }


def _row(name: str, *cells: str) -> str:
    return f"{name:<12}" + "".join(
        f"{cell:>{max(9, len(head) + 2)}}"
        for cell, head in zip(cells, HEAD[1:], strict=True)
    )


def main() -> None:
    packages: dict[str, Shape] = {}
    whole = Shape()
    mentions: dict[str, list[str]] = {word: [] for word in WORDS}
    for path in product_files():
        place = path.relative_to(ROOT)
        package = place.parts[0]
        source = path.read_text(encoding="utf-8")
        for shape in (packages.setdefault(package, Shape()), whole):
            shape.add(str(place), source)
        words = words_of(source)
        for word, modules in mentions.items():
            if package not in OPTIONS and words & {word, f"{word}s"}:
                modules.append(str(place))
    rows = [shape.row(name) for name, shape in packages.items()]
    lines = [_row(*HEAD), *rows, whole.row("all")]
    for word, modules in mentions.items():
        lines.append(f"{word}: {len(modules)} modules: {' '.join(modules)}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
