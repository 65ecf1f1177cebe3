"""Stretches: neighbouring sentences of one lesson with all that scoring needs, as they come from the catalogue."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import numpy as np

from antiphon.knowledge.vectors import Moments, SmallVectors, Vector
from antiphon.language.words import label_terms


class SentenceFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What scoring needs to know of all sentences of a generation.

    Attributes:
        per_chunk: Sentences of a chunk, on average.
        terms: Terms of a sentence, on average.
        moments: Of the vectors of the windows, one a reach (knowledge/windows.py).
    """

    per_chunk: float
    terms: float
    moments: tuple[Moments, ...]


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """The lesson that a stretch is part of; `vector` is that of its titles."""

    course: str
    lesson: int | None
    title: str
    link: str | None
    vector: Vector

    @property
    def terms(self) -> frozenset[str]:
        return label_terms(f"{self.course} {self.title}")


class Stretch:
    """Chunks of one lesson that follow one another without a gap.

    Attributes:
        start: Where `text` begins in the lesson's text.
        text: All of it, with the white space between sentences.
        starts: Where the sentences begin, in `text`.
        chunks: Of each sentence, the number of its chunk.
    """

    def __init__(self, place: Place, start: int) -> None:
        self.place = place
        self.start = start
        self.text = ""
        self.starts: list[int] = []
        self.chunks: list[int] = []
        self._tokens: list[bytes] = []
        self._lengths: list[bytes] = []
        self._term_counts: list[bytes] = []
        self._terms: list[bytes] = []
        self._vectors: list[bytes] = []

    def add(
        self,
        number: int,
        text: str,
        starts: str,
        tokens: bytes,
        lengths: bytes,
        term_counts: bytes,
        terms: bytes,
        vectors: bytes,
    ) -> None:
        """Adds the next chunk, as the catalogue stores it."""
        first = len(self.text)
        found: list[Any] = json.loads(starts)
        self.starts += [first + start for start in found]
        self.chunks += [number] * len(found)
        self.text += text
        self._tokens.append(tokens)
        self._lengths.append(lengths)
        self._term_counts.append(term_counts)
        self._terms.append(terms)
        self._vectors.append(vectors)

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def ends(self) -> list[int]:
        """Where each sentence ends, with the white space after it."""
        return [*self.starts[1:], len(self.text)]

    def tokens(self) -> Vector:
        return np.frombuffer(b"".join(self._tokens), dtype="<u2").astype(np.float32)

    def lengths(self) -> Vector:
        """The lengths of the vectors of the sentences' windows, a row a sentence."""
        found = np.frombuffer(b"".join(self._lengths), dtype="<f4")
        return found.reshape(len(self), -1)

    def term_counts(self) -> Vector:
        """Terms of each sentence."""
        found = np.frombuffer(b"".join(self._term_counts), dtype="<u2")
        return found.astype(np.float32)

    def terms(self) -> Any:
        """The hashes of all sentences' terms, in order."""
        return np.frombuffer(b"".join(self._terms), dtype="<u4")

    def vectors(self, dimensions: int) -> Vector:
        return SmallVectors.decode(b"".join(self._vectors), dimensions).rows()
