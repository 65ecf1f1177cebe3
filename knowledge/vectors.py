"""Vectors as they are stored and handed about."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from antiphon.vocabulary.values import Value

Vector = npt.NDArray[np.float32]
"""One vector, or several as rows."""


class ChunkVector(Value, frozen=True, kw_only=True):
    """What the vector index holds of a chunk."""

    id: str
    vector: bytes
    course: str
    lesson: int | None


def to_blob(vector: Iterable[float]) -> bytes:
    """A vector as the catalogue stores it: little-endian float32."""
    return np.asarray(vector, dtype="<f4").tobytes()


def from_blob(blob: bytes) -> Vector:
    """A stored vector."""
    return np.frombuffer(blob, dtype="<f4")


def rows_of(blobs: Iterable[bytes], dimensions: int) -> Vector:
    """Stored vectors as the rows of one matrix."""
    return np.frombuffer(b"".join(blobs), dtype="<f4").reshape(-1, dimensions)
