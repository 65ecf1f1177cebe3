"""What goes when a briefing outgrows its budget: single sentences, those worth least to the question first.

The order in which sentences go: first any that alone takes more than a quarter of the room (no course sentence does;
a table on one line may), then by worth, the lowest first. Worth adds up
- the likeness of meaning to the question, -1 to 1, where an embedder gave it,
- half the share of the question's terms that the sentence holds, rare terms weighing more,
- a fifth of the passage's score, relative to the best of its tool call,
- less a sixth for each round of age.
Of two sentences of equal worth the one found later goes first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import log

from language.words import terms
from synthesizer.blocks import SourceBlock
from vocabulary.values import Dropped, Fact, Value

OVERLAP_WEIGHT = 1 / 2
SCORE_WEIGHT = 1 / 5
AGE_WEIGHT = 1 / 6
LONGEST_SHARE = 1 / 4


class Sentence(Value, frozen=True):
    """One sentence that a briefing could show.

    Attributes:
        source: Position of its fact among all.
        number: Its number within the passage.
        tokens: Estimated tokens.
    """

    source: int
    number: int
    text: str
    tokens: int


class Kept_(Value, frozen=True):
    """What is left of each source, and what went."""

    sentences: tuple[tuple[int, ...], ...]
    dropped: tuple[Dropped, ...]
