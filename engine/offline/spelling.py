"""Corrects words of a question that do not occur in the courses, from the passages found for it; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rapidfuzz import fuzz, process

from antiphon.engine.offline.task import Source
from antiphon.language.evidence import Weigh, is_unknown
from antiphon.language.words import fold, stem, words

LEAST_LETTERS = 5
READ_CHARS = 400
"""A longer question says enough without a misspelt word."""
ALIKE = 85.0
"""Least similarity (0 to 100) of a word and its misspelling."""
_WORD = re.compile(r"\b[^\W\d_]+\b")


def corrected(question: str, sources: Sequence[Source], weigh: Weigh | None) -> str:
    """Returns the question with each misspelt word in the spelling of the found passages."""
    if weigh is None or len(question) > READ_CHARS:
        return question
    known: set[str] = set()
    for source in sources:
        known.update(words(f"{source.label} {' '.join(source.blocks)}"))

    def nearest(found: re.Match[str]) -> str:
        written = fold(found[0])
        if (
            len(written) < LEAST_LETTERS
            or written in known
            or not is_unknown(stem(written), weigh)
        ):
            return found[0]
        best = process.extractOne(written, known, scorer=fuzz.ratio, score_cutoff=ALIKE)
        return found[0] if best is None else str(best[0])

    return _WORD.sub(nearest, question)
