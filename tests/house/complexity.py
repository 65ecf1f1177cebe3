"""The gate on true complexity: `python -m tests.house.complexity`, part of `make check`.

Radon counts what ruff's mccabe leaves out: comprehensions, conditional expressions, `and` and `or`. So folding a
function does not bring it below the limit. Exits with 1 if a function is above it. The summary describes the whole
product; it is for comparison and refuses nothing.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from radon.complexity import cc_visit
from radon.raw import analyze
from radon.visitors import Class, Function

ROOT = Path(__file__).parents[2]
MAX_COMPLEXITY = 10
# The summary counts the functions above this; most should be below.
HIGH_COMPLEXITY = 8
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Measured(NamedTuple):
    """One function and its complexity."""

    complexity: int
    name: str
    place: str


class Figures:
    """The sums over the files measured so far."""

    def __init__(self) -> None:
        self.files = 0
        self.lines = 0
        self.source_lines = 0
        self.comments = 0
        self.comprehensions = 0
        self.nested = 0
        self.functions: list[Measured] = []

    def add(self, place: str, source: str) -> None:
        """Measures a file; `place` is its path in messages."""
        raw = analyze(source)
        self.files += 1
        self.lines += raw.loc
        self.source_lines += raw.sloc
        self.comments += raw.comments
        for function in _functions(cc_visit(source)):
            name = (
                f"{function.classname}.{function.name}"
                if function.classname
                else function.name
            )
            self.functions.append(
                Measured(function.complexity, name, f"{place}:{function.lineno}")
            )
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, COMPREHENSIONS):
                self.comprehensions += 1
                self.nested += _is_nested(node)

    def above(self, limit: int) -> list[Measured]:
        """Returns the functions above a limit, the worst first."""
        return sorted(
            (function for function in self.functions if function.complexity > limit),
            reverse=True,
        )

    def summary(self) -> list[str]:
        """Returns the figures as lines of text."""
        complexity = sum(function.complexity for function in self.functions)
        return [
            f"{self.files} files, {self.lines:,} lines, {self.source_lines:,} of them code",
            f"complexity per 100 lines of code: {100 * complexity / self.source_lines:.1f}",
            f"comprehensions per 1,000 lines: {1000 * self.comprehensions / self.lines:.1f}, "
            f"nested {1000 * self.nested / self.lines:.1f}",
            f"comments per 100 lines: {100 * self.comments / self.lines:.1f}",
            f"functions above {HIGH_COMPLEXITY}: {len(self.above(HIGH_COMPLEXITY))}, "
            f"above {MAX_COMPLEXITY}: {len(self.above(MAX_COMPLEXITY))}",
        ]


def _functions(blocks: Iterable[Function | Class]) -> Iterator[Function]:
    """Yields functions and methods; `cc_visit` lists a class's methods next to it, but not those of inner classes."""
    for block in blocks:
        if isinstance(block, Function):
            yield block
            continue
        for inner in block.inner_classes:
            yield from inner.methods
            yield from _functions([inner])


def _is_nested(
    comprehension: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp,
) -> bool:
    if len(comprehension.generators) > 1:
        return True
    return any(
        isinstance(node, COMPREHENSIONS)
        for node in ast.walk(comprehension)
        if node is not comprehension
    )


def product_files() -> Iterator[Path]:
    """Yields the files of all root packages but the tests."""
    for package in sorted(ROOT.glob("*/__init__.py")):
        if package.parent.name == "tests":
            continue
        # Not following links, because those in `antiphon` lead to the other packages.
        for folder, _, names in os.walk(package.parent, followlinks=False):
            for name in sorted(names):
                # Stubs count too: they hold the names that a package exports.
                if name.endswith((".py", ".pyi")):
                    yield Path(folder) / name


def main() -> int:
    """Prints the figures and the offenders; returns 1 if there are any."""
    figures = Figures()
    for path in product_files():
        figures.add(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
    sys.stdout.write("\n".join(figures.summary()) + "\n")
    offenders = figures.above(MAX_COMPLEXITY)
    for function in offenders:
        sys.stdout.write(
            f"{function.place}: {function.name} has complexity {function.complexity}\n"
        )
    if not offenders:
        return 0
    sys.stdout.write(
        f"{len(offenders)} functions are above {MAX_COMPLEXITY}: name the steps, return early, unfold.\n"
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
