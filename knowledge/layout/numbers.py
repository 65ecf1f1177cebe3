"""Recognises the numbers of lessons in the names of files and folders, and in titles."""

from __future__ import annotations

import re
from typing import NamedTuple

from antiphon.knowledge.naming import plain_name

_WORDS = (
    "lessons?|lectures?|lec|chapters?|chap|ch|modules?|mod|part|section|sec|units?|weeks?|wk|days?|sessions?|class"
    "|lab|topic|step|tutorial|episode|ep|kapitel|lektion|woche|lecci[oó]n|cap[ií]tulo|le[cç]on|chapitre|semaine"
)
_LESSON_WORDS = "lesson lessons lecture lectures lec chapter module unit week session lektion kapitel"
LESSON_WORDS = frozenset(_LESSON_WORDS.split())
"""Those that count only lessons; "part" and "step" count other things too."""
# "05-skills", "Lecture-6A-Fortran", "01.02-Help", "ch01-00-introduction", "lecture1".
_NAME = re.compile(
    rf"(?:(?P<word>{_WORDS})[ _-]*)?(?P<number>[0-9]{{1,3}})(?P<letter>[a-d](?![a-z]))?"
    r"(?P<more>(?:[._-][0-9]{1,2}(?![0-9a-z]))*)(?:[ _.:\u2013\u2014-]+(?P<name>.*))?",
    re.IGNORECASE,
)
# "Chapter 3: Logs", "3. Logs", "Unit 4 - Logs"; after a word, the number may end the title: "Week 3".
_TITLE = re.compile(
    rf"(?:(?P<word>{_WORDS})[ .#_-]*(?P<at>[0-9]{{1,4}})(?P<letter>[a-d](?![a-z]))?\b(?P<mark>\s*[:.)|\u2013\u2014-]+)?"
    r"|(?P<plain>[0-9]{1,4})\s*[:.)|\u2013\u2014-]+(?=\s+\S))\s*(?P<name>.*)",
    re.IGNORECASE,
)


class Numbered(NamedTuple):
    """A number with its context.

    Attributes:
        word: The counted thing ("lecture"); empty if there is no word.
        letter: The letter of a part, such as the "A" of "6A".
        more: The numbers below it, such as the 2 of "01.02".
        name: The text after it, as words.
        is_apart: True if a mark separates the two, as in "Week 3: Trees" but not in "Part 2 of the story".
    """

    number: int
    word: str = ""
    letter: str = ""
    more: tuple[int, ...] = ()
    name: str = ""
    is_apart: bool = True

    @property
    def place(self) -> tuple[int, tuple[int, ...], str]:
        """The sort key for names."""
        return self.number, self.more, self.letter


def number_of_name(stem: str) -> Numbered | None:
    """Returns the number of a file's or folder's name, without its ending; None if it has none."""
    found = _NAME.fullmatch(stem[:200])
    if found is None:
        return None
    word, letter = (found["word"] or "").lower(), (found["letter"] or "").lower()
    if letter and not word:
        # "3d-graphics" is about three dimensions, and has no number.
        return None
    more = tuple(map(int, re.findall(r"[0-9]+", found["more"])))
    name = plain_name(found["name"] or "")
    return Numbered(int(found["number"]), word, letter, more, name)


def number_of_title(title: str) -> Numbered | None:
    """Returns the number of a heading or of a link's text."""
    found = _TITLE.match(title[:300])
    if found is None:
        return None
    number = int(found["at"] or found["plain"])
    word, letter = (found["word"] or "").lower(), (found["letter"] or "").lower()
    is_apart = not word or bool(found["mark"]) or not found["name"]
    name = " ".join(found["name"].split())
    return Numbered(number, word, letter, (), name, is_apart)
