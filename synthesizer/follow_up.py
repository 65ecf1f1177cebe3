"""Understands a question that leans on the one before it ("and the second one?"), by rule."""

from __future__ import annotations

import re
from collections.abc import Sequence

from antiphon.language.words import terms
from antiphon.vocabulary.values import Exchange

MOST_OWN_TERMS = 3
"""A question with more terms of its own says what it is about."""
_LEANS = re.compile(
    r"\s*(?:and|but|or|so|what about|how about)\b"
    r"|\b(?:it|its|they|them|their|that|this|these|those|he|she|his|her|there|same"
    r"|(?:the|its) (?:first|second|third|fourth|fifth|last|next|previous|other|former|latter)"
    r"(?: (?:one|side|lesson|course|part))?)\b",
    re.IGNORECASE,
)


def understood(question: str, history: Sequence[Exchange]) -> str:
    """The question, with the one before it where it leans on it; the answer before it is no part of what is asked."""
    if not history or not leans(question):
        return question
    before = history[-1].question[:1_000].strip()
    return f"{question}\n{before}" if before else question


def leans(question: str) -> bool:
    """Whether a question cannot be understood alone: it refers back, and says little else."""
    return bool(_LEANS.search(question)) and len(frozenset(terms(question))) <= MOST_OWN_TERMS
