"""An answer before its confidence is settled: what all three ways of answering bring."""

from __future__ import annotations

from antiphon.vocabulary.values import Citation, Indicator, Value

NOBODY = "none"


class Draft(Value, frozen=True, kw_only=True):
    """A text with what backs it, what tells against it, and who speaks."""

    text: str
    citations: tuple[Citation, ...] = ()
    doubts: tuple[Indicator, ...] = ()
    reasoner: str = NOBODY
