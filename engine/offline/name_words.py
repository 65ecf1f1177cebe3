"""The words of questions and titles in order, with their stems, and the runs of words that may be names; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from antiphon.language.words import STOP_WORDS, fold, stem

COURSE_WORDS = frozenset(("course", "courses", "class", "training"))
_WORD = re.compile(r"[^\W_]+(?:[.'\u2019][^\W_]+)*[+#]*")
# A name does not extend across these.
_ENDS_NAME = re.compile(r"[.?!;\n]")
FEWEST_CAPITALS = 2
_FEWEST_SMALL = 3
"""Adjacent words of a title that are enough to name its course: written as a name, or in small letters."""


class Word(NamedTuple):
    """A meaningful word: its position in the text, and its stem."""

    start: int
    end: int
    folded: str
    stem: str


def words_of(text: str) -> list[Word]:
    found: list[Word] = []
    for match in _WORD.finditer(text):
        folded = fold(match[0]).removesuffix("'s").removesuffix("\u2019s")
        # "Course" is a stop word for searches, but here a name may follow or precede it.
        if folded not in STOP_WORDS or folded in COURSE_WORDS:
            found.append(Word(match.start(), match.end(), folded, stem(folded)))
    return found


def stems_of(text: str) -> tuple[str, ...]:
    return tuple([word.stem for word in words_of(text)])


def run_of(
    stems: Sequence[str],
    asked: Sequence[Word],
    places: Mapping[str, Sequence[int]],
    taken: Sequence[Word],
) -> list[Word]:
    """Returns adjacent words with these stems, none of them taken; empty if there are none.

    Args:
        places: The positions of each stem among the words.
    """
    for at in places.get(stems[0], ()):
        run = list(asked[at : at + len(stems)])
        if any(word in taken for word in run):
            continue
        if [word.stem for word in run] == list(stems):
            return run
    return []


def phrases(question: str, asked: Sequence[Word]) -> list[list[Word]]:
    """Splits the words of a question at points that a name does not cross."""
    phrases: list[list[Word]] = []
    end = 0
    for word in asked:
        if not phrases or _ENDS_NAME.search(question, end, word.start):
            phrases.append([])
        phrases[-1].append(word)
        end = word.end
    return phrases


def runs_in(words: Sequence[Word], own: set[str]) -> list[list[Word]]:
    """Returns the runs of words that all belong to a title."""
    runs: list[list[Word]] = [[]]
    for word in words:
        if word.stem in own:
            runs[-1].append(word)
        else:
            runs.append([])
    return runs


def distinct(run: Sequence[Word]) -> int:
    return len({word.stem for word in run})


def leading(words: Iterable[Word], known: set[str]) -> list[Word]:
    """Returns the known words at the beginning."""
    found: list[Word] = []
    for word in words:
        if word.stem not in known:
            break
        found.append(word)
    return found


def without(text: str, words: Sequence[Word]) -> str:
    # From the end, so that the positions of earlier words stay valid.
    for word in sorted(words, key=lambda word: -word.start):
        text = f"{text[: word.start]} {text[word.end :]}"
    return " ".join(text.split())


def names_title(run: Sequence[Word], title: str, question: str) -> bool:
    """Returns True for words of a title that are written as a name or make up most of the title."""
    starts = [question[word.start] for word in run]
    if all(start.isupper() or start.isdigit() for start in starts):
        return distinct(run) >= FEWEST_CAPITALS
    whole = len(set(stems_of(title)))
    return distinct(run) >= _FEWEST_SMALL and 2 * distinct(run) > whole
