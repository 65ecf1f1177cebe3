"""On any text, the steps that each of our patterns takes grow only linearly with the number of letters."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from re import _parser as parser  # type: ignore[attr-defined]  # the only parser of Python's own patterns
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import antiphon
from tests.pattern_steps import Machine, TooManySteps, example, repeats_without_end

LENGTHS = (200, 400, 800, 1_600)
GROWTH = 2.6
"""The growth in steps allowed for twice the letters; a pattern that rescans the whole rest from each letter has 4."""
STEPS_A_LETTER = 3_000
"""Enough for a pattern that looks ahead two hundred letters from each letter, as some of ours do."""
BEGINNINGS = (2, 3, 4, 6, 8, 12, 20, 40)
ROOT = Path(antiphon.__file__).parent


class Pattern(NamedTuple):
    """A pattern of the program, and whether the program tries it only at the beginning of a text."""

    name: str
    pattern: re.Pattern[Any]
    anchored: bool


def patterns() -> Iterator[Pattern]:
    """Yields each pattern that a module of the program assigns to a name, alone or in a sequence."""
    seen: set[int] = set()
    for module in modules():
        for name, value in list(vars(module).items()):
            held = value if isinstance(value, tuple | list) else [value]
            for pattern in held:
                if isinstance(pattern, re.Pattern) and id(pattern) not in seen:
                    seen.add(id(pattern))
                    place = module.__name__.removeprefix("antiphon.")
                    anchored = asked(module, name) <= {"match", "fullmatch"}
                    yield Pattern(f"{place}.{name}", pattern, anchored)


def modules() -> Iterator[ModuleType]:
    for folder in sorted(path for path in ROOT.iterdir() if path.is_dir()):
        if folder.name.startswith("_"):
            continue
        package = importlib.import_module(f"antiphon.{folder.name}")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


def asked(module: ModuleType, name: str) -> set[str]:
    """Returns the methods of a pattern that its module calls; `search` if it calls none itself."""
    assert module.__file__ is not None
    source = Path(module.__file__).read_text()
    return set(re.findall(rf"\b{name}\.(\w+)\(", source)) or {"search"}


PATTERNS = list(patterns())
ENDLESS = [
    pattern
    for pattern in PATTERNS
    if repeats_without_end(parser.parse(pattern.pattern.pattern, pattern.pattern.flags))
]


def examples(pattern: Pattern, random: Random, count: int) -> list[str]:
    tree = parser.parse(pattern.pattern.pattern, pattern.pattern.flags)
    return [example(tree, random) for _ in range(count)]


class Repetition(NamedTuple):
    """A text that may begin a match, followed by one piece over and over that never completes it."""

    before: str
    piece: str

    def text(self, letters: int) -> str:
        return self.before + self.piece * (letters // len(self.piece)) + "\0"


def repetitions(pattern: Pattern) -> Iterator[Repetition]:
    """Yields repetitions of a match's beginnings and letters, alone, and of its letters after a whole match."""
    found = [text for text in examples(pattern, Random(pattern.name), 4) if text]
    pieces = {text[:length] for text in found for length in BEGINNINGS}
    for text in found:
        pieces.update(text)
    for piece in sorted(pieces):
        yield Repetition("", piece)
    for text in found:
        for letter in sorted(set(text)):
            yield Repetition(text, letter)


@pytest.mark.parametrize("pattern", ENDLESS, ids=lambda pattern: pattern.name)
def test_twice_the_letters_take_about_twice_the_steps(pattern: Pattern) -> None:
    machine = Machine(pattern.pattern)

    for repetition in repetitions(pattern):
        assert grows_with_the_letters(machine, repetition, anchored=pattern.anchored), (
            f"{pattern.pattern} looks too long through {repetition}"
        )


def grows_with_the_letters(
    machine: Machine, repetition: Repetition, *, anchored: bool
) -> bool:
    """Returns True if some doubling of the text about doubles the steps; a bounded lookahead levels off only late."""
    before = 0
    for letters in LENGTHS:
        try:
            text = repetition.text(letters)
            machine.spans(text, STEPS_A_LETTER * letters, anchored=anchored)
        except TooManySteps:
            return False
        if machine.steps <= GROWTH * before:
            return True
        before = machine.steps
    return False


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_the_machine_that_counts_matches_what_python_matches(pattern: Pattern) -> None:
    machine = Machine(pattern.pattern)
    for text in examples(pattern, Random(pattern.name), 5):
        asked_of: str | bytes = f"{text} {text[:-1]}"
        if isinstance(pattern.pattern.pattern, bytes):
            asked_of = f"{text} {text[:-1]}".encode("latin-1")

        spans = machine.spans(f"{text} {text[:-1]}", 1_000_000)

        assert spans == [found.span() for found in pattern.pattern.finditer(asked_of)]


@pytest.mark.parametrize(
    "written", [r"[ \t]*\[\d+\]", r"(a+)+b", r"<!--.*?-->", r"\w+\s*:", r"a*a*$"]
)
def test_a_pattern_that_looks_again_and_again_is_found(written: str) -> None:
    pattern = Pattern("planted", re.compile(written, re.DOTALL), anchored=False)

    with pytest.raises(AssertionError, match="looks too long"):
        test_twice_the_letters_take_about_twice_the_steps(pattern)
