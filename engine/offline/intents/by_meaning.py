"""Understands by likeness to examples what no rule places: "What will my pupils take away from lesson 5?"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from antiphon.engine.offline.catalogue import Catalogue
from antiphon.engine.offline.intents.examples import ASKING, TALKING
from antiphon.language.asking import Ask, Asked
from antiphon.language.commonness import is_common
from antiphon.language.small_talk import (
    SmallTalk,
    opens_with_thanks,
    said_in_passing,
    small_talk,
)
from antiphon.language.words import stem, terms, words

LEAST_LIKENESS = 0.65
"""Of what is less like its nearest example, most asks for something else."""
LEAST_FOR_TALK = 0.42
"""Of 579 questions about courses one is more like the nearest small talk, and holds a rare word."""
_MOST_UNPLACED = 4
"""More words than these are a question of their own."""
_MOST_WORDS = 30
"""Longer messages than this are no small talk."""
_CLAUSE = re.compile(r"[^.!?;\n]+[.!?;]?")
_WITHOUT_ITS_WORD: frozenset[Ask] = frozenset(
    ("courses", "lessons", "contents", "teacher", "overview")
)
"""What people ask for without naming it: a title or a link has to be called one."""

Want = TypeVar("Want")


def by_text(listed: Mapping[Want, str]) -> dict[str, Want]:
    """Returns what each example wants."""
    wanted: dict[str, Want] = {}
    for want, lines in listed.items():
        for line in lines.strip().splitlines():
            wanted[line.strip()] = want
    return wanted


_ASKING: dict[str, Ask | None] = by_text(ASKING)
_TALKING: dict[str, SmallTalk | None] = by_text(TALKING)


def asked_by_meaning(
    masked: str, asked: Asked, catalogue: Catalogue, *, of_lesson: bool
) -> Asked:
    """Returns what a question asks of the catalogue, where its other words are none that courses speak of.

    Args:
        masked: The question, with "the course" and "the lesson" in the place of names.
        asked: What the rules read in it; of that, one is meant.
        of_lesson: It names a lesson.
    """
    if len(asked.topic) > _MOST_UNPLACED or not are_common(asked.topic, catalogue):
        return asked
    examples = _examples_of(asked.asks, of_lesson)
    found = nearest(masked, tuple(examples), LEAST_LIKENESS, catalogue)
    meant = examples.get(found)
    if meant is None:
        return asked
    if meant in asked.asks:
        # "The title, the teacher and the link": whoever asks for several things is like one example, and means all.
        return Asked(asked.asks, asked.counts or meant == "lessons")
    return Asked(frozenset({meant}), asked.counts or meant == "lessons")


def _examples_of(asks: frozenset[Ask], of_lesson: bool) -> dict[str, Ask | None]:
    """Returns the examples of what may be meant, and of what is none of it."""
    possible = asks
    if "link" in asks and not of_lesson:
        possible = asks | {"links"}
    elif of_lesson and not asks:
        possible = frozenset({"overview"})
    elif not asks:
        possible = _WITHOUT_ITS_WORD
    examples: dict[str, Ask | None] = {}
    for text, ask in _ASKING.items():
        if ask is None or ask in possible:
            examples[text] = ask
    return examples


def small_talk_by_meaning(said: str, catalogue: Catalogue) -> SmallTalk | None:
    """Returns which small talk a message is, every clause of which is some; none with a word of a title in it."""
    held = words(said)
    if len(held) > _MOST_WORDS or any(map(catalogue.has_in_title, terms(said))):
        return None
    if (said_beside := said_in_passing(said)) is not None:
        return said_beside
    # A rare word is a topic, but for those who address us ceremoniously.
    if "you" not in held and not are_common(held, catalogue):
        return None
    clauses = _CLAUSE.findall(said)
    wanted: list[SmallTalk | None] = []
    asked: list[SmallTalk | None] = []
    for clause in clauses:
        want = _talk_in(clause.strip(), catalogue)
        wanted.append(want)
        if clause.endswith("?"):
            asked.append(want)
    if not wanted or None in wanted:
        return None
    # What is asked is answered, else what was said first.
    return [*asked, *wanted][0]


def _talk_in(clause: str, catalogue: Catalogue) -> SmallTalk | None:
    """Returns which small talk a clause is, by rule or by likeness; None where it is none."""
    if opens_with_thanks(clause):
        return "thanks"
    said = small_talk(clause)
    if said is not None:
        return said
    found = nearest(clause, tuple(_TALKING), LEAST_FOR_TALK, catalogue)
    return _TALKING.get(found)


def are_common(held: Iterable[str], catalogue: Catalogue) -> bool:
    """Returns True for words that everybody uses, and none of which stands in a title."""
    held_terms = [stem(word) for word in held]
    if any(map(catalogue.has_in_title, held_terms)):
        return False
    return all(map(is_common, held_terms))


def nearest(
    text: str, examples: Sequence[str], least: float, catalogue: Catalogue
) -> str:
    """Returns the example that is most like a text; none, which is empty, where none is like it or nothing can tell."""
    if catalogue.likeness is None:
        return ""
    scores = catalogue.likeness(text, examples)
    score, found = max(zip(scores, examples, strict=True))
    if score < least:
        return ""
    return found
