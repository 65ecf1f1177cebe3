"""Mean and spread of a query's similarity to every chunk, without looking at every chunk.

With the mean vector m and the second moments S = average of v·vᵀ, the similarities q·v of all chunks have
the mean q·m and the variance q·S·q - (q·m)², exactly.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from antiphon.knowledge.vectors import Vector

Matrix = npt.NDArray[np.float64]


class Moments:
    """First and second moments of all chunk vectors."""

    def __init__(self, mean: Matrix, second: Matrix) -> None:
        self.mean = mean
        self.second = second

    @classmethod
    def of(cls, batches: Iterable[Vector], dimensions: int) -> Moments:
        """Sums over batches of row vectors."""
        count, mean, second = 0, np.zeros(dimensions), np.zeros((dimensions, dimensions))
        for batch in batches:
            rows = batch.astype(np.float64)
            count += len(rows)
            mean += rows.sum(axis=0)
            second += rows.T @ rows
        return cls(mean / max(count, 1), second / max(count, 1))

    def spread(self, query: Vector) -> tuple[float, float]:
        """Mean and standard deviation of the query's similarity over all chunks."""
        wide = query.astype(np.float64)
        mean = float(wide @ self.mean)
        variance = float(wide @ self.second @ wide) - mean * mean
        return mean, max(variance, 0.0) ** 0.5
