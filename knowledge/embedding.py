"""Embeds each sentence once: looks known ones up, and embeds the others on all cores, in order of length."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import numpy as np

from antiphon.knowledge.catalogue import CatalogueWriter
from antiphon.knowledge.catalogue_reader import CatalogueReader
from antiphon.knowledge.vectors import SmallVectors
from antiphon.vocabulary.ports import Embedder

# Texts embedded between two saves: the most that a killed run loses, a few seconds of work.
_STEP = 1_024
# Texts that one thread embeds at a time.
_BATCH = 16


class SentenceVectors:
    """The vectors of sentences, from the catalogue being built, the one in use, or the embedder."""

    def __init__(
        self,
        catalogue: CatalogueWriter,
        known: CatalogueReader | None,
        embedder: Embedder,
    ) -> None:
        self._catalogue = catalogue
        self._known = known
        self._embedder = embedder

    def embed(
        self, texts: Iterable[str], report: Callable[[float], None]
    ) -> dict[str, bytes]:
        """Returns the vector of each text, in the stored form (`SmallVectors`).

        Args:
            texts: Without repeats.
            report: Called with the share of the texts that is done.
        """
        # Sorted by length, so that a batch needs no padding and is as fast as possible.
        ordered = sorted(texts, key=len)
        found: dict[str, bytes] = {}
        total = sum(map(len, ordered))
        done = 0
        for start in range(0, len(ordered), _STEP):
            report(done / max(total, 1))
            step = ordered[start : start + _STEP]
            found |= self._step(step)
            done += sum(map(len, step))
        return found

    def _step(self, texts: Sequence[str]) -> dict[str, bytes]:
        dimensions = self._embedder.dimensions
        found = self._catalogue.find_vectors(texts, dimensions)
        if self._known is not None:
            found |= self._known.find_vectors(_without(texts, found))
        unknown = _without(texts, found)
        if unknown:
            fresh = dict(zip(unknown, embed_all(self._embedder, unknown), strict=True))
            self._catalogue.save_pending(fresh)
            found |= fresh
        return found


def embed_all(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    """Embeds texts on all cores; returns their vectors in the stored form."""

    def embed(start: int) -> list[bytes]:
        vectors = embedder.embed(texts[start : start + _BATCH])
        small = SmallVectors.of(np.asarray(vectors, dtype=np.float32))
        return [row.tobytes() for row in small.numbers]

    batches = range(0, len(texts), _BATCH)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        return list(chain.from_iterable(threads.map(embed, batches)))


def _without(texts: Sequence[str], found: dict[str, bytes]) -> list[str]:
    return [text for text in texts if text not in found]
