"""Likeness of meaning between a question and texts, with a cache of vectors so that each text is embedded once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from antiphon.knowledge.vectors import Vector
from antiphon.vocabulary.ports import Embedder

LookUp = Callable[[Sequence[str]], Mapping[str, Vector]]
"""Finds vectors of texts that were embedded before; the result lacks unknown texts."""

# Number of cached vectors: with 384 numbers of four bytes each they take 6 MB.
_KEPT = 4_000


class VectorCache:
    """An embedder with a cache of the latest texts; thread-safe."""

    def __init__(self, embedder: Embedder, size: int = _KEPT) -> None:
        self._embedder = embedder
        self._size = size
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Vector] = OrderedDict()

    def vector(self, text: str) -> Vector:
        """Returns one text's vector."""
        row: Vector = self.vectors([text])[0]
        return row

    def vectors(self, texts: Sequence[str], look_up: LookUp | None = None) -> Vector:
        """Returns the texts' vectors as rows; embeds those that are neither cached nor found."""
        found = self._recall(texts)
        if look_up is not None:
            found |= look_up(_missing(texts, found))
        unknown = _missing(texts, found)
        # Outside the lock, so that lookups of cached vectors need not wait for the embedder.
        for text, vector in zip(unknown, self._embedder.embed(unknown), strict=True):
            found[text] = np.asarray(vector, dtype=np.float32)
        self._keep(found)
        return np.array([found[text] for text in texts], dtype=np.float32)

    def _recall(self, texts: Sequence[str]) -> dict[str, Vector]:
        found = {}
        with self._lock:
            for text in texts:
                vector = self._kept.get(text)
                if vector is not None:
                    self._kept.move_to_end(text)
                    found[text] = vector
        return found

    def _keep(self, vectors: Mapping[str, Vector]) -> None:
        with self._lock:
            self._kept.update(vectors)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)


def _missing(texts: Sequence[str], found: Mapping[str, Vector]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text not in found]


def likeness(
    cache: VectorCache, question: str, texts: Sequence[str], look_up: LookUp | None
) -> list[float]:
    """Returns the cosine between the question and each text, -1 to 1; ignores white space around a text."""
    if not texts:
        return []
    rows = cache.vectors([text.strip() for text in texts], look_up)
    cosines: list[float] = (rows @ cache.vector(question.strip())).tolist()
    return cosines
