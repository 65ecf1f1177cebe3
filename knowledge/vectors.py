"""The stored forms of vectors, and the mean and spread of similarities over all of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from antiphon.vocabulary.values import Value

# One vector, or several as rows.
Vector = npt.NDArray[np.float32]
Matrix = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
# The largest signed byte.
_STEPS = 127


class ChunkVector(Value, frozen=True, kw_only=True):
    """One chunk in the form of the vector index."""

    number: int
    vector: bytes
    course: str
    lesson: int | None


def to_blob(vector: Iterable[float]) -> bytes:
    """Encodes a vector for the catalogue: little-endian float32."""
    return np.asarray(vector, dtype="<f4").tobytes()


def from_blob(blob: bytes) -> Vector:
    """Decodes a stored vector."""
    return np.frombuffer(blob, dtype="<f4")


def rows_of(blobs: Iterable[bytes], dimensions: int) -> Vector:
    """Decodes stored vectors as the rows of one matrix."""
    return np.frombuffer(b"".join(blobs), dtype="<f4").reshape(-1, dimensions)


class SmallVectors:
    """Vectors of unit length at a byte a number: a quarter of the space, and no ranking changes (measured).

    Attributes:
        numbers: One row a vector, of signed bytes.
    """

    def __init__(self, numbers: npt.NDArray[np.int8]) -> None:
        self.numbers = numbers

    @classmethod
    def of(cls, rows: Vector) -> Self:
        """Rounds each row to steps of its largest number."""
        largest = np.abs(rows).max(axis=1, keepdims=True)
        steps = np.rint(rows * (_STEPS / np.maximum(largest, 1e-9)))
        return cls(steps.astype(np.int8))

    @classmethod
    def decode(cls, blob: bytes, dimensions: int) -> Self:
        """Reads what `encode` wrote."""
        return cls(np.frombuffer(blob, dtype=np.int8).reshape(-1, dimensions))

    def encode(self) -> bytes:
        return self.numbers.tobytes()

    def rows(self) -> Vector:
        """Returns the vectors, normalised again, which makes it unnecessary to store the size of a step."""
        wide = self.numbers.astype(np.float32)
        scaled: Vector = wide / _lengths(wide)[:, None]
        return scaled

    def cosines(self, vector: Vector) -> Vector:
        """Returns the cosine of each with a vector of unit length, without expanding the rows."""
        wide = self.numbers.astype(np.float32)
        # By einsum, because BLAS wakes all its threads for so small a product, which is slower if the cores are busy.
        found: Vector = np.einsum("ij,j->i", wide, vector) / _lengths(wide)
        return found


def _lengths(rows: Vector) -> Vector:
    """Returns the lengths of rows, none of them 0."""
    lengths: Vector = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return np.maximum(lengths, 1e-9)


class VectorFile:
    """Vectors in a file, row after row, for reading a few at a time.

    It reads the file instead of mapping it: mapped rows count as the process's memory until the system reclaims them,
    and after a thousand searches those are all of them.
    """

    def __init__(self, path: Path, rows: int, dimensions: int) -> None:
        """Opens it.

        Raises:
            OSError: It is missing.
            ValueError: It has another number of rows.
        """
        self._dimensions = dimensions
        self._row_bytes = 4 * dimensions
        found = path.stat().st_size
        if found != rows * self._row_bytes:
            raise ValueError(f"{found} bytes instead of {rows * self._row_bytes}")
        self._file = os.open(path, os.O_RDONLY)

    def rows(self, numbers: Numbers) -> Vector:
        """Returns the rows with these ascending numbers; reads neighbours in one go."""
        found = np.empty(len(numbers) * self._row_bytes, dtype=np.uint8)
        view = found.data
        for start, end in _runs(numbers):
            part = view[start * self._row_bytes : end * self._row_bytes]
            os.preadv(self._file, [part], int(numbers[start]) * self._row_bytes)
        rows: Vector = found.view("<f4").reshape(-1, self._dimensions)
        return rows

    def close(self) -> None:
        os.close(self._file)


def _runs(numbers: Numbers) -> Iterator[tuple[int, int]]:
    """Yields start and end of each run of consecutive numbers."""
    breaks = (np.flatnonzero(np.diff(numbers) != 1) + 1).tolist()
    if len(numbers):
        yield from pairwise([0, *breaks, len(numbers)])


class Moments:
    """First and second moments of many vectors.

    They give the mean and spread of a query's similarity to all vectors without scanning them: with the mean vector m
    and the second moments S = average of v·vᵀ, the similarities q·v of all vectors have the mean q·m and the variance
    q·S·q - (q·m)², exactly.
    """

    def __init__(self, mean: Matrix, second: Matrix) -> None:
        self.mean = mean
        self.second = second

    @classmethod
    def of(cls, batches: Iterable[Vector], dimensions: int) -> Moments:
        """Sums over batches of row vectors."""
        count = 0
        total = np.zeros(dimensions)
        products = np.zeros((dimensions, dimensions))
        for batch in batches:
            # Float32 would lose the small differences that make up the variance.
            rows = batch.astype(np.float64)
            count += len(rows)
            total += rows.sum(axis=0)
            products += rows.T @ rows
        return cls(total / max(count, 1), products / max(count, 1))

    @classmethod
    def decode(cls, blob: bytes, dimensions: int) -> Moments:
        """Reads what `encode` wrote."""
        numbers = np.frombuffer(blob, dtype=np.float64).reshape(-1, dimensions)
        return cls(numbers[0], numbers[1:])

    def encode(self) -> bytes:
        return np.vstack([self.mean, self.second]).tobytes()

    def spread(self, query: Vector) -> tuple[float, float]:
        """Returns mean and standard deviation of the query's similarity over all vectors."""
        wide = query.astype(np.float64)
        mean = float(wide @ self.mean)
        # By einsum, because BLAS wakes all its threads for so small a product, which is slower if the cores are busy.
        squares = np.einsum("ij,j->i", self.second, wide)
        variance = float(wide @ squares) - mean * mean
        # Rounding can leave a variance slightly below zero.
        return mean, max(variance, 0.0) ** 0.5
