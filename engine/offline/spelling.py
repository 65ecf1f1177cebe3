"""Corrects words of a question that occur nowhere in the courses by those that were found for it; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rapidfuzz import fuzz, process

from antiphon.engine.offline.task import Source
from antiphon.language.evidence import Weigh, is_unknown
from antiphon.language.words import fold, stem, words

LEAST_LETTERS = 5
READ_CHARS = 400
"""A longer question says enough without a word that is misspelt."""
ALIKE = 85.0
"""As alike (0 to 100) are a word and its misspelling."""
_WORD = re.compile(r"\b[^\W\d_]+\b")


def corrected(question: str, sources: Sequence[Source], weigh: Weigh | None) -> str:
    """Returns the question with each misspelt word as the passages found write it."""
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
