"""Finds all small changes of a source file: a condition reversed, a statement or an argument left out …"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

_COMPARED: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
# Annotations do nothing when a program runs, and Python 3.11 does not give the position of a part of an f-string.
_PASSED_OVER = {"annotation", "returns", "decorator_list", "defaults", "kw_defaults"}


class Change(NamedTuple):
    """One small change: in the file, the bytes from `begin` to `end`, which start on `line`, become `new`."""

    file: str
    function: str
    line: int
    last_line: int
    begin: int
    end: int
    old: str
    new: str

    @property
    def name(self) -> str:
        """Returns the change in words, without its position in the file, which moves."""
        return f"{self.file} {self.function}: {self.words}"

    @property
    def words(self) -> str:
        return " ".join(f"{self.old} → {self.new}".split())

    def applied(self, source: str) -> str:
        """Returns the changed source."""
        data = source.encode()
        return (data[: self.begin] + self.new.encode() + data[self.end :]).decode()


Part = ast.expr | ast.stmt | ast.keyword
Text = Callable[[Part], str]
Changed = Iterator[tuple[Part, str]]
"""Parts of a node, each with its replacement."""


def _negated(node: ast.If | ast.While | ast.IfExp, text: Text) -> Changed:
    # Comparisons and `not` have their own change to the opposite.
    if not isinstance(node.test, ast.Compare | ast.UnaryOp):
        yield node.test, f"not ({text(node.test)})"


def _filtered_otherwise(node: ast.comprehension, text: Text) -> Changed:
    for test in node.ifs:
        yield test, "True"


def _affirmed(node: ast.UnaryOp, text: Text) -> Changed:
    if isinstance(node.op, ast.Not):
        yield node, f"({text(node.operand)})"


def _compared(node: ast.Compare, text: Text) -> Changed:
    if len(node.ops) == 1:
        other = _COMPARED[type(node.ops[0])]
        yield node, f"{text(node.left)} {other} {text(node.comparators[0])}"


def _joined(node: ast.BoolOp, text: Text) -> Changed:
    other = " or " if isinstance(node.op, ast.And) else " and "
    yield node, other.join(f"({text(each)})" for each in node.values)


def _summed(node: ast.BinOp, text: Text) -> Changed:
    signs = {ast.Add: "-", ast.Sub: "+"}
    sign = signs.get(type(node.op))
    if sign and not any(map(_is_text, (node.left, node.right))):
        yield node, f"{text(node.left)} {sign} {text(node.right)}"


def _constant(node: ast.Constant, text: Text) -> Changed:
    if isinstance(node.value, bool):
        yield node, str(not node.value)
    elif isinstance(node.value, int):
        yield node, str(node.value + 1)


def _called(node: ast.Call, text: Text) -> Changed:
    """Yields the call with its first two arguments swapped, and without each of its keyword arguments."""
    function = text(node.func)
    given = [text(each) for each in node.args]
    named = [text(each) for each in node.keywords]
    # A task's name is only for debugging: no test would miss it.
    if function.endswith("create_task"):
        return
    may_swap = function not in ("max", "min") and len(set(given[:2])) == 2
    if may_swap and not "".join(given[:2]).count("*"):
        swapped = [given[1], given[0], *given[2:], *named]
        yield node, f"{function}({', '.join(swapped)})"
    for place in range(len(named)):
        left = [*given, *named[:place], *named[place + 1 :]]
        yield node, f"{function}({', '.join(left)})"


def _returned(node: ast.Return, text: Text) -> Changed:
    if node.value is not None and text(node.value) != "None":
        yield node, "return None"


def _said(node: ast.Expr, text: Text) -> Changed:
    if isinstance(node.value, ast.Call | ast.Await | ast.YieldFrom):
        yield node, "pass"


def _assigned(node: ast.Assign, text: Text) -> Changed:
    if isinstance(node.targets[0], ast.Attribute | ast.Subscript):
        yield node, "pass"


def _left_out(node: ast.stmt, text: Text) -> Changed:
    yield node, "pass"


_RULES: Mapping[type[ast.AST], Callable[..., Changed]] = {
    ast.If: _negated,
    ast.While: _negated,
    ast.IfExp: _negated,
    ast.comprehension: _filtered_otherwise,
    ast.UnaryOp: _affirmed,
    ast.Compare: _compared,
    ast.BoolOp: _joined,
    ast.BinOp: _summed,
    ast.Constant: _constant,
    ast.Call: _called,
    ast.Return: _returned,
    ast.Expr: _said,
    ast.Assign: _assigned,
    ast.AugAssign: _left_out,
    ast.Raise: _left_out,
    ast.Continue: _left_out,
    ast.Break: _left_out,
}


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    return isinstance(node, ast.JoinedStr)


def _is_log(node: ast.AST) -> bool:
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    return ast.unparse(node.value.func).startswith(("log.", "_log."))


class _File:
    """A source file and all its changes."""

    def __init__(self, name: str, source: str) -> None:
        self._name = name
        self._source = source.encode()
        self._lines = [0]
        for line in self._source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def changes(self) -> Iterator[Change]:
        """Yields the changes to the bodies of its functions."""
        yield from self._within(ast.parse(self._source), (), is_run=False)

    def _within(
        self, node: ast.AST, names: tuple[str, ...], *, is_run: bool
    ) -> Iterator[Change]:
        if isinstance(node, ast.JoinedStr | ast.Assert) or _is_log(node):
            return
        rule = _RULES.get(type(node))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = (*names, node.name)
            is_run = not isinstance(node, ast.ClassDef)
        elif rule is not None and is_run:
            for part, new in rule(node, self._text):
                yield self._change(part, new, ".".join(names))
        for field, value in ast.iter_fields(node):
            parts = value if isinstance(value, list) else [value]
            for part in parts:
                if isinstance(part, ast.AST) and field not in _PASSED_OVER:
                    yield from self._within(part, names, is_run=is_run)

    def _change(self, part: Part, new: str, function: str) -> Change:
        begin, end = self._span(part)
        last_line = part.end_lineno or part.lineno
        old = self._text(part)
        return Change(
            self._name, function, part.lineno, last_line, begin, end, old, new
        )

    def _span(self, part: Part) -> tuple[int, int]:
        begin = self._lines[part.lineno - 1] + part.col_offset
        end = self._lines[(part.end_lineno or 0) - 1] + (part.end_col_offset or 0)
        return begin, end

    def _text(self, part: Part) -> str:
        begin, end = self._span(part)
        return self._source[begin:end].decode()


def changes_of(name: str, source: str) -> list[Change]:
    """Returns every change of a source file."""
    return list(_File(name, source).changes())
