"""Reads a question clause by clause: which of them asks, and whether of the catalogue or of the texts.

Who asks for a link politely says more than that: "I wish to forward the course to my deputy and would like to have the
address of it, if that is possible". The words of the clause that asks decide, and no others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from antiphon.language.asking import (
    Ask,
    Asked,
    asked_of_catalogue,
    asks_for_extreme,
)
from antiphon.language.lesson_places import asks_for_neighbour
from antiphon.language.questions import NUMBER_WORDS

_BORDERS = re.compile(r"[,;:.?!]+\s+|\s[-\u2013\u2014]+\s")
_ASKS = re.compile(
    r"\W*(?:(?:and|so|then|but)\s+)?(?:(?:for|with|in|on|to|from|by|at)\s+)?"
    r"(?:what|which|who|whom|whose|how|why|when|where)\b",
    re.IGNORECASE,
)
# Within a clause, what asks begins with its question word, or with the name of what is wanted.
_CORES = re.compile(
    r"\s+(?=(?:if|how many|who|whose|what|which|where)\b)"
    r"|\s+(?=(?:the|its|their|his|her|a)\s+(?:\w+\s+)?(?:link|url|address|names?|number|teacher|instructor)s?\b)",
    re.IGNORECASE,
)
_ASKS_PLACE = re.compile(
    r"\b(?:which|what)\s+(?:of (?:the|your)\s+)?(?:lesson|lecture|course|class)s?\b|\btaught\b",
    re.IGNORECASE,
)
EXACT: frozenset[Ask] = frozenset(("teacher", "link", "lessons"))
"""What is asked for in so few words that the others around them ask for nothing."""


def clauses_of(text: str) -> list[str]:
    """Returns the clauses of a text, as its marks divide it."""
    return [clause for clause in _BORDERS.split(text) if clause.strip()]


def asks_of_texts(clause: str) -> bool:
    """Returns True for a clause that asks for what no catalogue holds."""
    if not _ASKS.match(clause) or asks_for_neighbour(clause):
        return False
    if _ASKS_PLACE.search(clause):
        return False
    return bool(asked_of_catalogue(clause).topic)


def asked_in_clause(bare: str, *, of_course: bool) -> Asked | None:
    """Returns what one clause asks of the catalogue, where no other asks for anything; None where none does.

    Args:
        bare: The question without the names of courses and lessons.
        of_course: A course is named.
    """
    found: Asked | None = None
    for core in _cores(bare):
        asked = asked_of_catalogue(core, of_course=of_course)
        if asked.is_pure and asked.asks & EXACT:
            found = found or asked
        # "The two shortest courses": but for how many, nothing is left of a topic.
        elif asks_for_extreme(core) and NUMBER_WORDS.keys() >= frozenset(asked.topic):
            found = found or asked._replace(topic=())
        elif _ASKS.match(core) and asked.topic:
            return None
    return found


def _cores(text: str) -> Iterator[str]:
    for clause in clauses_of(text):
        for core in _CORES.split(clause):
            if core.strip():
                yield core.strip()
