"""Understands by likeness to examples what no rule places: "What will my pupils take away from lesson 5?"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from antiphon.engine.offline.catalogue import Catalogue
from antiphon.engine.offline.intents.examples import ASKING, TALKING
from antiphon.language.asking import Ask, Asked
from antiphon.language.commonness import is_common
from antiphon.language.small_talk import SmallTalk
from antiphon.language.words import stem, terms, words

LEAST_LIKENESS = 0.65
"""Of what is less like its nearest example, most asks for something else."""
LEAST_FOR_TALK = 0.42
"""What is asked of courses is no more than 0.3 like the nearest small talk."""
_MOST_UNPLACED = 4
"""More words than these are a question of their own."""
_MOST_WORDS = 30
"""Longer messages than this are no small talk."""
_CLAUSE = re.compile(r"[^.!?;\n]+[.!?;]?")
_OF_LESSON: frozenset[Ask] = frozenset(("title", "link", "overview"))
"""What is asked of one lesson."""

Want = TypeVar("Want")


def _by_text(listed: Mapping[Want, str]) -> dict[str, Want]:
    """Returns what each example wants."""
    wanted: dict[str, Want] = {}
    for want, lines in listed.items():
        for line in lines.strip().splitlines():
            wanted[line.strip()] = want
    return wanted


_ASKING = _by_text(ASKING)
_TALKING = _by_text(TALKING)


def asked_by_meaning(
    masked: str, asked: Asked, catalogue: Catalogue, *, of_lesson: bool
) -> Asked:
    """Returns what a question asks of the catalogue, where its other words are none that courses speak of.

    Args:
        masked: The question, with "the course" and "the lesson" in the place of names.
        asked: What the rules read in it; of that, one is meant.
        of_lesson: It names a lesson.
    """
    if len(asked.topic) > _MOST_UNPLACED or not _are_common(asked.topic, catalogue):
        return asked
    possible = asked.asks
    if not possible and of_lesson:
        possible = _OF_LESSON
    examples: dict[str, Ask | None] = {}
    for text, ask in _ASKING.items():
        if ask is None or not possible or ask in possible:
            examples[text] = ask
    meant = _likest(masked, examples, LEAST_LIKENESS, catalogue)
    if meant is None:
        return asked
    return Asked(frozenset({meant}), asked.counts or meant == "lessons")


def small_talk_by_meaning(said: str, catalogue: Catalogue) -> SmallTalk | None:
    """Returns which small talk a message is, every clause of which is some; none with a word of a title in it."""
    held = words(said)
    if len(held) > _MOST_WORDS or any(map(catalogue.has_in_title, terms(said))):
        return None
    # A rare word is a topic, but for those who address us ceremoniously.
    if "you" not in held and not _are_common(held, catalogue):
        return None
    clauses = _CLAUSE.findall(said)
    wanted = [
        _likest(clause.strip(), _TALKING, LEAST_FOR_TALK, catalogue)
        for clause in clauses
    ]
    if not wanted or None in wanted:
        return None
    # What is asked is answered, else what was said first.
    for clause, want in zip(clauses, wanted, strict=True):
        if clause.endswith("?"):
            return want
    return wanted[0]


def _are_common(held: Iterable[str], catalogue: Catalogue) -> bool:
    """Returns True for words that everybody uses, and none of which stands in a title."""
    held_terms = [stem(word) for word in held]
    if any(map(catalogue.has_in_title, held_terms)):
        return False
    return all(map(is_common, held_terms))


def _likest(
    text: str, examples: Mapping[str, Want], least: float, catalogue: Catalogue
) -> Want | None:
    """Returns what the example wants that is most like a text; None where none is like it, or nothing can tell."""
    if catalogue.likeness is None:
        return None
    texts: Sequence[str] = tuple(examples)
    scores = catalogue.likeness(text, texts)
    score, nearest = max(zip(scores, texts, strict=True))
    if score < least:
        return None
    return examples[nearest]
