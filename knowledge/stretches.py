"""Stretches of neighbouring sentences, laid out in one row with all that scoring needs, as the catalogue has them.

Everything is decoded at once for all of them: for each by itself it took longer than the search around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from antiphon.knowledge.vectors import Moments, Numbers, SmallVectors, Vector
from antiphon.knowledge.windows import REACHES
from antiphon.language.words import label_terms

# Places between two stretches that hold no sentence, so that no window reaches from one into the other.
_PADDING = max(REACHES)


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
    """The lesson that a stretch is part of; `section` is its number in the catalogue, `vector` that of its titles."""

    section: int
    course: str
    lesson: int | None
    title: str
    link: str | None
    vector: Vector

    @property
    def terms(self) -> frozenset[str]:
        return label_terms(f"{self.course} {self.title}")


class StoredChunk(msgspec.Struct, frozen=True):
    """A chunk and its sentences as the catalogue stores them, in the order of its columns."""

    number: int
    section: int
    start: int
    stop: int
    text: str
    starts: bytes
    tokens: bytes
    lengths: bytes
    term_counts: bytes
    terms: bytes
    vectors: bytes


class Stretch(msgspec.Struct, kw_only=True):
    """Chunks of one lesson that follow one another without a gap.

    Attributes:
        start: Where `text` begins in the lesson's text.
        text: All of it, with the white space between sentences.
    """

    place: Place
    start: int
    text: str


class SentenceRow:
    """The sentences of stretches, one stretch after the other, with padding after each.

    Attributes:
        stretch: The number of the stretch that a sentence is of; -1 for padding.
        starts: Where each sentence begins in the text of its stretch; `ends` where it ends, white space included.
        sentences: The places of the sentences in the row, without the padding.
    """

    def __init__(
        self, chunks: Sequence[StoredChunk], places: Mapping[int, Place]
    ) -> None:
        """Lays out chunks that are in order of number."""
        self.stretches: list[Stretch] = []
        self._chunks = chunks
        counts = []
        numbers = []
        offsets = []
        stop: tuple[int, int] | None = None
        for chunk in chunks:
            # Neighbours are those between which nothing is missing.
            if stop != (chunk.section, chunk.start):
                place = places[chunk.section]
                self.stretches.append(Stretch(place=place, start=chunk.start, text=""))
            last = self.stretches[-1]
            # A start is stored as four bytes.
            counts.append(len(chunk.starts) // 4)
            numbers.append(len(self.stretches) - 1)
            offsets.append(len(last.text))
            last.text += chunk.text
            stop = (chunk.section, chunk.stop)
        stretch = np.repeat(np.array(numbers, dtype=np.int64), counts)
        self.sentences = np.arange(len(stretch)) + _PADDING * stretch
        self.length = len(stretch) + _PADDING * len(self.stretches)
        self.stretch = self._lay_out(stretch, -1)
        starts = self._column("starts", "<u4") + np.repeat(offsets, counts)
        self.starts: Numbers = self._lay_out(starts.astype(np.int64), 0)
        self.ends = self._ends()

    def __len__(self) -> int:
        return self.length

    def stretch_of(self, sentence: int) -> Stretch:
        """Returns the stretch that a sentence of the row is of."""
        return self.stretches[int(self.stretch[sentence])]

    @cached_property
    def tokens(self) -> Vector:
        return self.lay_out(self._column("tokens", "<u2"))

    @cached_property
    def term_counts(self) -> Vector:
        """Terms of each sentence."""
        return self.lay_out(self._column("term_counts", "<u2"))

    def terms(self) -> tuple[Numbers, Any]:
        """Returns the places of all terms of all sentences in the row, and the terms' hashes."""
        counts = self._column("term_counts", "<u2")
        return np.repeat(self.sentences, counts), self._column("terms", "<u4")

    def window_lengths(self) -> Vector:
        """Returns the lengths of the vectors of the sentences' windows: a row a sentence, a column a reach."""
        found = self._column("lengths", "<f4").reshape(-1, len(REACHES))
        return self.lay_out(found)

    def vectors(self, dimensions: int) -> Vector:
        """Returns the vectors of the sentences, without padding."""
        blob = b"".join(chunk.vectors for chunk in self._chunks)
        return SmallVectors.decode(blob, dimensions).rows()

    def lay_out(self, values: Any) -> Vector:
        """Puts values of all sentences, or rows of them, into the row; the padding's are 0."""
        row: Vector = self._lay_out(values.astype(np.float32), 0)
        return row

    def spread(self, values: Vector) -> Vector:
        """Gives each sentence the value of its stretch, the padding that of the last."""
        spread: Vector = values[self.stretch]
        return spread

    def _lay_out(self, values: Any, padding: int) -> Any:
        row = np.full((self.length, *values.shape[1:]), padding, dtype=values.dtype)
        row[self.sentences] = values
        return row

    def _ends(self) -> Numbers:
        ends: Numbers = np.roll(self.starts, -1)
        lengths = np.array([len(each.text) for each in self.stretches], dtype=np.int64)
        # The last sentence of a stretch, behind which there is padding, ends with the text.
        last = np.flatnonzero((self.stretch >= 0) & (np.roll(self.stretch, -1) < 0))
        ends[last] = lengths
        return ends

    def _column(self, name: str, dtype: str) -> Any:
        blob = b"".join(getattr(chunk, name) for chunk in self._chunks)
        return np.frombuffer(blob, dtype=dtype)
