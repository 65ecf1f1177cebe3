"""Scores sentences by meaning when a briefing asks for it: the synthesizer's one part that acts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from vocabulary.errors import KnowledgeError
from vocabulary.events import Recorded, SentencesScored, SentencesToScore
from vocabulary.ports import Embedder, Publish, Spawn

MOST_SENTENCES = 400
"""More would take longer than they are worth: words alone decide then."""
MOST_CHARS = 1_000
"""What is looked at of one sentence; embedders cut off long ones anyway."""


class SentenceScorer:
    """Answers `SentencesToScore` with `SentencesScored`; with no scores where they cannot be had."""

    def __init__(self, publish: Publish, spawn: Spawn, embedder: Embedder | None) -> None:
        self._publish = publish
        self._spawn = spawn
        self._embedder = embedder

    def on_sentences_to_score(self, said: Recorded[SentencesToScore]) -> None:
        asked = said.event
        if self._embedder is None or len(asked.sentences) > MOST_SENTENCES:
            self._publish(SentencesScored(call_id=asked.call_id, scores=()))
        else:
            self._spawn(self._score(asked, self._embedder))

    async def _score(self, asked: SentencesToScore, embedder: Embedder) -> None:
        texts = [sentence.text[:MOST_CHARS] for sentence in asked.sentences]
        try:
            scores = await asyncio.to_thread(similarities, embedder, asked.query[:MOST_CHARS], texts)
        except (KnowledgeError, RuntimeError):
            scores = ()
        self._publish(SentencesScored(call_id=asked.call_id, scores=scores))


def similarities(embedder: Embedder, query: str, texts: Sequence[str]) -> tuple[float, ...]:
    """The cosine of each text with the query, -1 to 1."""
    vectors = np.asarray(embedder.embed([query, *texts]), dtype=np.float64)
    cosines = np.clip(vectors[1:] @ vectors[0], -1.0, 1.0)
    # A vector of nothing has no direction, and no number that JSON can say.
    return tuple(float(cosine) for cosine in np.nan_to_num(cosines))
