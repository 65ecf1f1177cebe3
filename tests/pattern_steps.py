"""Counts the steps that a backtracking matcher needs for a pattern, so that a test need not ask the clock.

A pattern is compiled to the instructions of a small machine that backtracks as Python's `re` does, without its
shortcuts (after Russ Cox, "Regular Expression Matching: the Virtual Machine Approach",
https://swtch.com/~rsc/regexp/regexp2.html). Every instruction is one step. `test_patterns.py` compares what the
machine matches with what `re` matches.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from re import _compiler as compiler  # type: ignore[attr-defined]  # makes a matcher of a part of a pattern
from re import _constants as c  # type: ignore[attr-defined]  # the only parser of Python's own patterns
from re import _parser as parser  # type: ignore[attr-defined]  # as above
from typing import Any, NamedTuple

_MANY = 100
_LETTERS = "a0A_ \t\n.,-:/<>[](){}\"'`*#|=@\u4e00"

Instruction = tuple[Any, ...]
Program = list[Instruction]


class TooManySteps(Exception):
    """A text took more steps than it may."""


class Span(NamedTuple):
    """Where a match begins and ends."""

    start: int
    end: int


class Machine:
    """Matches one pattern and counts its steps."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        self._flags = pattern.flags
        tree = parser.parse(pattern.pattern, pattern.flags)
        self._program = self._compiled(tree)
        self.steps = 0
        self._most = 0

    def spans(self, text: str, most: int, *, anchored: bool = False) -> list[Span]:
        """Returns every match from the beginning to the end of a text; anchored, only the one that begins it.

        Raises:
            TooManySteps: It took more than `most` steps.
        """
        self.steps = 0
        self._most = most
        found = []
        start = 0
        while start <= len(text):
            end = self._run(self._program, text, start, {})
            if end is not None:
                found.append(Span(start, end))
            if anchored:
                break
            start = end if end is not None and end > start else start + 1
        return found

    def _run(
        self, program: Program, text: str, start: int, groups: dict[int, Span]
    ) -> int | None:
        """Returns where a match that begins at `start` ends; the groups are left as the match set them."""
        waiting = [(0, start, dict(groups), {})]
        while waiting:
            at, position, taken, marks = waiting.pop()
            while True:
                self.steps += 1
                if self.steps > self._most:
                    raise TooManySteps
                operation, *what = program[at]
                at += 1
                if operation == "end":
                    groups.update(taken)
                    return position
                if operation == "letter":
                    if position == len(text) or not what[0](text[position]):
                        break
                    position += 1
                elif operation == "either":
                    waiting.append((what[1], position, dict(taken), dict(marks)))
                    at = what[0]
                elif operation == "jump":
                    at = what[0]
                elif operation == "mark":
                    marks = marks | {what[0]: position}
                elif operation == "moved":
                    if marks[what[0]] == position:
                        break
                elif operation == "open":
                    marks = marks | {("group", what[0]): position}
                elif operation == "close":
                    began = marks["group", what[0]]
                    taken = taken | {what[0]: Span(began, position)}
                elif operation == "place":
                    if not self._is_at(what[0], text, position):
                        break
                elif operation == "look":
                    inner, behind, wanted = what
                    begin = position - behind
                    end = None
                    if begin >= 0:
                        end = self._run(inner, text, begin, taken)
                    if (end is not None) != wanted:
                        break
                elif operation == "atomic":
                    end = self._run(what[0], text, position, taken)
                    if end is None:
                        break
                    position = end
                elif operation == "same":
                    group = taken.get(what[0])
                    if group is None:
                        break
                    same = text[group.start : group.end]
                    if not text.startswith(same, position):
                        break
                    position += len(same)
                elif operation == "if":
                    if what[0] not in taken:
                        at = what[1]
        return None

    def _is_at(self, place: Any, text: str, position: int) -> bool:
        """Asks Python's own matcher, which looks at the two letters beside the position."""
        written = {
            c.AT_BEGINNING: "^",
            c.AT_BEGINNING_STRING: r"\A",
            c.AT_END: "$",
            c.AT_END_STRING: r"\Z",
            c.AT_BOUNDARY: r"\b",
            c.AT_NON_BOUNDARY: r"\B",
        }[place]
        flags = self._flags & (re.MULTILINE | re.ASCII)
        return re.compile(written, flags).match(text, position) is not None

    def _compiled(self, tree: Any) -> Program:
        program: Program = []
        self._add(tree, program)
        program.append(("end",))
        return program

    def _add(self, tree: Any, program: Program) -> None:
        for operation, what in tree:
            self._add_one(operation, what, program)

    def _add_one(self, operation: Any, what: Any, program: Program) -> None:
        if operation in (c.LITERAL, c.NOT_LITERAL, c.ANY, c.IN):
            accepts = _accepts([(operation, what)], self._flags)
            program.append(("letter", accepts))
        elif operation is c.AT:
            program.append(("place", what))
        elif operation is c.SUBPATTERN:
            self._add_group(what, program)
        elif operation is c.BRANCH:
            self._add_branch(what[1], program)
        elif operation in (c.MAX_REPEAT, c.MIN_REPEAT):
            self._add_repeat(what, program, greedy=operation is c.MAX_REPEAT)
        elif operation is c.POSSESSIVE_REPEAT:
            inner: Program = []
            self._add_repeat(what, inner, greedy=True)
            program.append(("atomic", [*inner, ("end",)]))
        elif operation is c.ATOMIC_GROUP:
            program.append(("atomic", self._compiled(what)))
        elif operation in (c.ASSERT, c.ASSERT_NOT):
            direction, tree = what
            behind = tree.getwidth()[0] if direction < 0 else 0
            program.append(
                ("look", self._compiled(tree), behind, operation is c.ASSERT)
            )
        elif operation is c.GROUPREF:
            program.append(("same", what))
        elif operation is c.GROUPREF_EXISTS:
            group, there, absent = what
            self._add_condition(group, there, absent, program)
        else:
            raise NotImplementedError(f"{operation} is not counted yet")

    def _add_group(self, what: Any, program: Program) -> None:
        group, on, _off, tree = what
        before = self._flags
        self._flags |= on
        if group is not None:
            program.append(("open", group))
        self._add(tree, program)
        if group is not None:
            program.append(("close", group))
        self._flags = before

    def _add_branch(self, trees: list[Any], program: Program) -> None:
        to_the_end = []
        for tree in trees[:-1]:
            choice = len(program)
            program.append(())
            self._add(tree, program)
            to_the_end.append(len(program))
            program.append(())
            program[choice] = ("either", choice + 1, len(program))
        self._add(trees[-1], program)
        for jump in to_the_end:
            program[jump] = ("jump", len(program))

    def _add_repeat(self, what: Any, program: Program, *, greedy: bool) -> None:
        least, most, tree = what
        for _ in range(least):
            self._add(tree, program)
        if most is c.MAXREPEAT:
            self._add_loop(tree, program, greedy=greedy)
            return
        choices = []
        for _ in range(most - least):
            choices.append(len(program))
            program.append(())
            self._add(tree, program)
        for choice in choices:
            program[choice] = _either(choice + 1, len(program), first=greedy)

    def _add_loop(self, tree: Any, program: Program, *, greedy: bool) -> None:
        """Adds a repetition without a limit, which ends where one more took no letter."""
        choice = len(program)
        program.append(())
        program.append(("mark", choice))
        self._add(tree, program)
        program.append(("moved", choice))
        program.append(("jump", choice))
        program[choice] = _either(choice + 1, len(program), first=greedy)

    def _add_condition(
        self, group: int, there: Any, absent: Any, program: Program
    ) -> None:
        condition = len(program)
        program.append(())
        self._add(there, program)
        jump = len(program)
        program.append(())
        program[condition] = ("if", group, len(program))
        if absent is not None:
            self._add(absent, program)
        program[jump] = ("jump", len(program))


def repeats_without_end(tree: Any) -> bool:
    """Returns True if a repetition in the pattern has no limit, or one of more than a hundred."""
    for operation, what in tree:
        if operation in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
            if what[1] > _MANY:
                return True
        for inner in _within(operation, what):
            if repeats_without_end(inner):
                return True
    return False


def example(tree: Any, random: Random) -> str:
    """Returns a text that a pattern is likely to match, or to match almost: what it looks around at is left out."""
    text = ""
    for operation, what in tree:
        if operation in (c.LITERAL, c.NOT_LITERAL, c.ANY, c.IN):
            text += _letter(operation, what, random)
        elif operation in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
            least, most, inner = what
            for _ in range(min(most, least + random.randrange(3))):
                text += example(inner, random)
        elif operation not in (c.ASSERT, c.ASSERT_NOT):
            parts = _within(operation, what)
            if parts:
                text += example(random.choice(parts), random)
    return text


def _within(operation: Any, what: Any) -> list[Any]:
    """Returns the parts of a pattern that stand within one of its operations."""
    if operation in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
        return [what[2]]
    if operation is c.BRANCH:
        return list(what[1])
    if operation is c.SUBPATTERN:
        return [what[3]]
    if operation is c.ATOMIC_GROUP:
        return [what]
    if operation in (c.ASSERT, c.ASSERT_NOT):
        return [what[1]]
    if operation is c.GROUPREF_EXISTS:
        return [part for part in what[1:] if part is not None]
    return []


def _letter(operation: Any, what: Any, random: Random) -> str:
    if operation is c.LITERAL:
        return chr(what)
    one = [(operation, what)]
    accepted = [letter for letter in _LETTERS if _accepts(one, re.DOTALL)(letter)]
    if operation is c.IN:
        accepted += [chr(item) for kind, item in what if kind is c.LITERAL]
        accepted += [chr(item[0]) for kind, item in what if kind is c.RANGE]
    return random.choice(accepted or [" "])


def _accepts(one: list[Any], flags: int) -> Callable[[str], bool]:
    """Lets Python's own matcher say what one letter of a pattern accepts, and remembers it by letter."""
    tree = parser.SubPattern(parser.State(), one)
    tree.state.flags = flags & ~re.VERBOSE
    compiled = compiler.compile(tree, tree.state.flags)
    known: dict[str, bool] = {}

    def accepts(letter: str) -> bool:
        if letter not in known:
            known[letter] = compiled.match(letter) is not None
        return known[letter]

    return accepts


def _either(one: int, other: int, *, first: bool) -> Instruction:
    if first:
        return ("either", one, other)
    return ("either", other, one)
