"""Lays out stretches of neighbouring sentences from the catalogue in one row, with everything that scoring needs.

It decodes everything for all of them at once: one by one that took longer than the rest of the search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
import numpy as np

from antiphon.knowledge.vectors import Moments, Numbers, SmallVectors, Vector
from antiphon.knowledge.windows import REACHES
from antiphon.language.words import label_terms

# Empty places between two stretches, so that no window reaches from one into the other.
_PADDING = max(REACHES)


class SentenceFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The statistics of all sentences of a generation that scoring needs.

    Attributes:
        per_chunk: Sentences of a chunk, on average.
        terms: Terms of a sentence, on average.
        moments: The moments of the windows' vectors, one a reach (knowledge/windows.py).
    """

    per_chunk: float
    terms: float
    moments: tuple[Moments, ...]


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """The lesson of a stretch; `section` is its number in the catalogue, `vector` that of its titles."""

    section: int
    course: str
    lesson: int | None
    title: str
    link: str | None
    vector: Vector

    @property
    def terms(self) -> frozenset[str]:
        return label_terms(f"{self.course} {self.title}")


class StoredChunks(NamedTuple):
    """Chunks and their sentences in the catalogue's form: one sequence for each column, in order of number."""

    section: Sequence[int]
    start: Sequence[int]
    stop: Sequence[int]
    text: Sequence[str]
    starts: Sequence[bytes]
    tokens: Sequence[bytes]
    lengths: Sequence[bytes]
    term_counts: Sequence[bytes]
    terms: Sequence[bytes]
    vectors: Sequence[bytes]


class Stretch(msgspec.Struct, kw_only=True):
    """Chunks of one lesson that follow one another without a gap.

    Attributes:
        start: Offset of `text` in the lesson's text.
        text: All of it, with the white space between sentences.
    """

    place: Place
    start: int
    text: str


class SentenceRow:
    """The sentences of stretches, one stretch after the other, with padding after each.

    Attributes:
        stretch: The number of each sentence's stretch; -1 for padding.
        starts: The offset of each sentence in the text of its stretch; `ends` has those of its end, white space
            included.
        sentences: The places of the sentences in the row, without the padding.
    """

    def __init__(self, chunks: StoredChunks, places: Mapping[int, Place]) -> None:
        """Lays out chunks that are in order of number."""
        self.stretches: list[Stretch] = []
        self._chunks = chunks
        numbers = []
        offsets = []
        end: tuple[int, int] | None = None
        for section, start, stop, text in zip(*chunks[:4], strict=True):
            # Chunks are neighbours if nothing is missing between them.
            if end != (section, start):
                stretch = Stretch(place=places[section], start=start, text="")
                self.stretches.append(stretch)
            last = self.stretches[-1]
            numbers.append(len(self.stretches) - 1)
            offsets.append(len(last.text))
            last.text += text
            end = (section, stop)
        # A start is stored as four bytes.
        counts = [len(starts) // 4 for starts in chunks.starts]
        owners = np.repeat(np.array(numbers, dtype=np.int64), counts)
        self.sentences = np.arange(len(owners)) + _PADDING * owners
        self.length = len(owners) + _PADDING * len(self.stretches)
        self.stretch: Numbers = self._lay_out(owners, -1)
        starts = _decode(chunks.starts, "<u4") + np.repeat(offsets, counts)
        self.starts: Numbers = self._lay_out(starts.astype(np.int64), 0)
        self.ends = self._ends()

    def __len__(self) -> int:
        return self.length

    def stretch_of(self, sentence: int) -> Stretch:
        """Returns the stretch of a sentence in the row."""
        return self.stretches[int(self.stretch[sentence])]

    @cached_property
    def tokens(self) -> Vector:
        return self.lay_out(_decode(self._chunks.tokens, "<u2"))

    @cached_property
    def term_counts(self) -> Vector:
        """Terms of each sentence."""
        return self.lay_out(_decode(self._chunks.term_counts, "<u2"))

    @cached_property
    def terms(self) -> tuple[Numbers, Any]:
        """The places of all terms of all sentences in the row, ascending, and the terms' hashes."""
        counts = _decode(self._chunks.term_counts, "<u2")
        return np.repeat(self.sentences, counts), _decode(self._chunks.terms, "<u4")

    def window_lengths(self) -> Vector:
        """Returns the lengths of the vectors of the sentences' windows: a row a sentence, a column a reach."""
        found = _decode(self._chunks.lengths, "<f4").reshape(-1, len(REACHES))
        return self.lay_out(found)

    def cosines(self, vector: Vector) -> Vector:
        """Returns the likeness of each sentence to a vector."""
        found = SmallVectors.decode(b"".join(self._chunks.vectors), len(vector))
        return self.lay_out(found.cosines(vector))

    def lay_out(self, values: Any) -> Vector:
        """Spreads values, or rows of them, of all sentences over the row, with 0 for padding."""
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
        # The last sentence of a stretch, which padding follows, ends with the text.
        last = np.flatnonzero((self.stretch >= 0) & (np.roll(self.stretch, -1) < 0))
        ends[last] = lengths
        return ends


def _decode(blobs: Sequence[bytes], dtype: str) -> Any:
    return np.frombuffer(b"".join(blobs), dtype=dtype)
