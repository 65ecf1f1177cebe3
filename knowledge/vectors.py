"""Vectors as they are stored, and the mean and spread of similarities over all of them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from antiphon.vocabulary.values import Value

# One vector, or several as rows.
Vector = npt.NDArray[np.float32]
Matrix = npt.NDArray[np.float64]


class ChunkVector(Value, frozen=True, kw_only=True):
    """One chunk as the vector index holds it."""

    id: str
    vector: bytes
    course: str
    lesson: int | None


def to_blob(vector: Iterable[float]) -> bytes:
    """Encodes a vector as the catalogue stores it: little-endian float32."""
    return np.asarray(vector, dtype="<f4").tobytes()


def from_blob(blob: bytes) -> Vector:
    """Decodes a stored vector."""
    return np.frombuffer(blob, dtype="<f4")


def rows_of(blobs: Iterable[bytes], dimensions: int) -> Vector:
    """Decodes stored vectors as the rows of one matrix."""
    return np.frombuffer(b"".join(blobs), dtype="<f4").reshape(-1, dimensions)


class Moments:
    """First and second moments of all chunk vectors.

    They give mean and spread of a query's similarity to every chunk without a look at every chunk: with the mean
    vector m and the second moments S = average of v·vᵀ, the similarities q·v of all chunks have the mean q·m and
    the variance q·S·q - (q·m)², exactly.
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
            # In float32 the small differences that the variance is made of would be lost.
            rows = batch.astype(np.float64)
            count += len(rows)
            total += rows.sum(axis=0)
            products += rows.T @ rows
        return cls(total / max(count, 1), products / max(count, 1))

    def spread(self, query: Vector) -> tuple[float, float]:
        """Returns mean and standard deviation of the query's similarity over all chunks."""
        wide = query.astype(np.float64)
        mean = float(wide @ self.mean)
        variance = float(wide @ self.second @ wide) - mean * mean
        # Rounding can leave a variance a hair below zero.
        return mean, max(variance, 0.0) ** 0.5
