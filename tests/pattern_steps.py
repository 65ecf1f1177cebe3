"""Counts the steps that a backtracking matcher needs for a pattern, so that tests need not measure time.

It compiles a pattern to the instructions of a small machine that backtracks like Python's `re`, without its shortcuts
(after Russ Cox, "Regular Expression Matching: the Virtual Machine Approach",
https://swtch.com/~rsc/regexp/regexp2.html). Every instruction is one step. `test_patterns.py` compares the machine's
matches with those of `re`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from re import _compiler as compiler  # type: ignore[attr-defined]  # compiles a matcher from a part of a pattern
from re import _constants as c  # type: ignore[attr-defined]  # the only parser of Python's own patterns
from re import _parser as parser  # type: ignore[attr-defined]  # as above
from typing import Any, NamedTuple

_MANY = 100
_LETTERS = "a0A_ \t\n.,-:/<>[](){}\"'`*#|=@\u4e00"
_PLACES = {
    c.AT_BEGINNING: "^",
    c.AT_BEGINNING_STRING: r"\A",
    c.AT_END: "$",
    c.AT_END_STRING: r"\Z",
    c.AT_BOUNDARY: r"\b",
    c.AT_NON_BOUNDARY: r"\B",
}


class TooManySteps(Exception):
    """A text took more steps than allowed."""


class Span(NamedTuple):
    """The beginning and the end of a match."""

    start: int
    end: int


@dataclass(slots=True)
class Thread:
    """One attempt at a match.

    Attributes:
        at: The next instruction.
        position: The next letter of the text.
        groups: The matches of the pattern's groups.
        began: The positions at which open groups and loop rounds began.
    """

    text: str
    at: int
    position: int
    groups: dict[int, Span] = field(default_factory=dict)
    began: dict[Any, int] = field(default_factory=dict)

    def copy(self, at: int) -> Thread:
        """Returns a copy of the attempt that continues at another instruction."""
        return Thread(self.text, at, self.position, dict(self.groups), dict(self.began))


Instruction = Callable[[Thread], "bool | Thread"]
"""Advances a thread. False means that it fails here; a thread is another attempt in case this one fails."""
Program = list[Instruction]


class Machine:
    """Matches one pattern and counts its steps."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        self._flags = pattern.flags
        self._add: dict[Any, Callable[[Any, Program], None]] = {
            c.AT: self._add_place,
            c.SUBPATTERN: self._add_group,
            c.BRANCH: self._add_branch,
            c.MAX_REPEAT: self._add_greedy,
            c.MIN_REPEAT: self._add_lazy,
            c.POSSESSIVE_REPEAT: self._add_possessive,
            c.ATOMIC_GROUP: self._add_atomic,
            c.ASSERT: self._add_look,
            c.ASSERT_NOT: self._add_look_for_none,
            c.GROUPREF: self._add_reference,
        }
        self._program = self._compiled(parser.parse(pattern.pattern, pattern.flags))
        self.steps = 0
        self._most = 0

    def spans(self, text: str, most: int, *, anchored: bool = False) -> list[Span]:
        """Returns every match in a text, from its beginning to its end; with `anchored`, only one at the beginning.

        Raises:
            TooManySteps: The search took more than `most` steps.
        """
        self.steps = 0
        self._most = most
        found = []
        start = 0
        while start <= len(text):
            thread = self._run(self._program, Thread(text, 0, start))
            if thread is not None:
                found.append(Span(start, thread.position))
            if anchored:
                break
            start = max(start + 1, thread.position if thread else 0)
        return found

    def _run(self, program: Program, thread: Thread) -> Thread | None:
        """Returns the first thread that reaches the program's end."""
        waiting = [thread]
        while waiting:
            thread = waiting.pop()
            goes_on: bool | Thread = True
            while goes_on and thread.at < len(program):
                self.steps += 1
                if self.steps > self._most:
                    raise TooManySteps
                instruction = program[thread.at]
                thread.at += 1
                goes_on = instruction(thread)
                if isinstance(goes_on, Thread):
                    waiting.append(goes_on)
            if goes_on:
                return thread
        return None

    def _compiled(self, tree: Any) -> Program:
        program: Program = []
        self._add_all(tree, program)
        return program

    def _add_all(self, tree: Any, program: Program) -> None:
        for operation, what in tree:
            if operation in (c.LITERAL, c.NOT_LITERAL, c.ANY, c.IN):
                accepts = _accepts([(operation, what)], self._flags)
                program.append(_take(accepts))
            else:
                self._add[operation](what, program)

    def _add_place(self, what: Any, program: Program) -> None:
        """Adds a test by Python's own matcher, which looks at the two letters around the position."""
        place = re.compile(_PLACES[what], self._flags & (re.MULTILINE | re.ASCII))
        program.append(
            lambda thread: place.match(thread.text, thread.position) is not None
        )

    def _add_group(self, what: Any, program: Program) -> None:
        group, on, _off, tree = what
        before = self._flags
        self._flags |= on
        if group is not None:
            program.append(_begin(("group", group)))
        self._add_all(tree, program)
        if group is not None:
            program.append(_close(group))
        self._flags = before

    def _add_branch(self, what: Any, program: Program) -> None:
        trees = what[1]
        jumps = []
        for tree in trees[:-1]:
            choice = _reserve(program)
            self._add_all(tree, program)
            jumps.append(_reserve(program))
            program[choice] = _either(choice + 1, len(program))
        self._add_all(trees[-1], program)
        for jump in jumps:
            program[jump] = _jump(len(program))

    def _add_greedy(self, what: Any, program: Program) -> None:
        self._add_repeat(what, program, lambda more, enough: _either(more, enough))

    def _add_lazy(self, what: Any, program: Program) -> None:
        self._add_repeat(what, program, lambda more, enough: _either(enough, more))

    def _add_repeat(
        self, what: Any, program: Program, choose: Callable[[int, int], Instruction]
    ) -> None:
        least, most, tree = what
        for _ in range(least):
            self._add_all(tree, program)
        if most is c.MAXREPEAT:
            choice = _reserve(program)
            program.append(_begin(choice))
            self._add_all(tree, program)
            program.append(_has_moved(choice))
            program.append(_jump(choice))
            program[choice] = choose(choice + 1, len(program))
            return
        choices = []
        for _ in range(most - least):
            choices.append(_reserve(program))
            self._add_all(tree, program)
        for choice in choices:
            program[choice] = choose(choice + 1, len(program))

    def _add_possessive(self, what: Any, program: Program) -> None:
        inner: Program = []
        self._add_greedy(what, inner)
        self._add_whole(inner, program)

    def _add_atomic(self, what: Any, program: Program) -> None:
        self._add_whole(self._compiled(what), program)

    def _add_whole(self, inner: Program, program: Program) -> None:
        """Adds a part that does not backtrack: its first match is final."""

        def instruction(thread: Thread) -> bool:
            found = self._run(inner, thread.copy(at=0))
            if found is not None:
                thread.position, thread.groups = found.position, found.groups
            return found is not None

        program.append(instruction)

    def _add_look(self, what: Any, program: Program) -> None:
        looks = self._looks(what)
        program.append(looks)

    def _add_look_for_none(self, what: Any, program: Program) -> None:
        looks = self._looks(what)
        program.append(lambda thread: not looks(thread))

    def _looks(self, what: Any) -> Callable[[Thread], bool]:
        direction, tree = what
        inner = self._compiled(tree)
        behind = tree.getwidth()[0] if direction < 0 else 0

        def looks(thread: Thread) -> bool:
            if thread.position < behind:
                return False
            look = thread.copy(at=0)
            look.position -= behind
            found = self._run(inner, look)
            if found is not None:
                thread.groups = found.groups
            return found is not None

        return looks

    def _add_reference(self, what: Any, program: Program) -> None:
        def instruction(thread: Thread) -> bool:
            if what not in thread.groups:
                return False
            start, end = thread.groups[what]
            same = thread.text[start:end]
            stands = thread.text.startswith(same, thread.position)
            thread.position += len(same)
            return stands

        program.append(instruction)


def _take(accepts: Callable[[str], bool]) -> Instruction:
    def instruction(thread: Thread) -> bool:
        position = thread.position
        thread.position += 1
        return position < len(thread.text) and accepts(thread.text[position])

    return instruction


def _begin(name: Any) -> Instruction:
    def instruction(thread: Thread) -> bool:
        thread.began[name] = thread.position
        return True

    return instruction


def _close(group: int) -> Instruction:
    def instruction(thread: Thread) -> bool:
        thread.groups[group] = Span(thread.began["group", group], thread.position)
        return True

    return instruction


def _has_moved(loop: int) -> Instruction:
    """Fails a round that took no letter, because such a loop would never end."""
    return lambda thread: thread.began[loop] < thread.position


def _jump(at: int) -> Instruction:
    def instruction(thread: Thread) -> bool:
        thread.at = at
        return True

    return instruction


def _either(first: int, second: int) -> Instruction:
    def instruction(thread: Thread) -> Thread:
        thread.at = first
        return thread.copy(at=second)

    return instruction


def _reserve(program: Program) -> int:
    """Reserves the place of an instruction that depends on the code after it."""
    program.append(_jump(len(program) + 1))
    return len(program) - 1


def repeats_without_end(tree: Any) -> bool:
    """Returns True if a repetition in the pattern has no limit, or one above a hundred."""
    for operation, what in tree:
        repeats = operation in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT)
        if repeats and what[1] > _MANY:
            return True
        for inner in _within(operation, what):
            if repeats_without_end(inner):
                return True
    return False


def example(tree: Any, random: Random) -> str:
    """Returns a text that a pattern likely matches, or almost matches, because this ignores lookarounds."""
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
    """Returns the parts of a pattern inside one of its operations."""
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
    """Uses Python's own matcher to decide which letters one place of a pattern accepts, and caches that by letter."""
    tree = parser.SubPattern(parser.State(), one)
    tree.state.flags = flags & ~re.VERBOSE
    compiled = compiler.compile(tree, tree.state.flags)
    known: dict[str, bool] = {}

    def accepts(letter: str) -> bool:
        if letter not in known:
            known[letter] = compiled.match(letter) is not None
        return known[letter]

    return accepts
