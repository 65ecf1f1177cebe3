"""A summary by extraction: the sentences of the material that say most to the question, each with its source; pure."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.language.evidence import Weigh
from antiphon.language.extract import extract
from antiphon.language.markup import Material
from antiphon.language.sentences import sentences
from antiphon.vocabulary.ports import Json

NOTHING = "Nothing to note."
SENTENCES = 4
LEAST_EVIDENCE = 0.1
MAX_SOURCES = 100


def summary(question: str, material: Sequence[Material], weigh: Weigh | None = None) -> list[Json]:
    """The reply's one text block."""
    material = material[:MAX_SOURCES]
    passages = [sentences(each.said) for each in material]
    found = extract(question, passages, weigh, limit=SENTENCES, titles=[each.source for each in material])
    if found.evidence < LEAST_EVIDENCE:
        return [{"type": "text", "text": NOTHING}]
    told = [
        f"{material[pick.passage].source}: {''.join(passages[pick.passage][pick.first : pick.end]).strip()}"
        for pick in found.picks
    ]
    return [{"type": "text", "text": " ".join(told)}]
