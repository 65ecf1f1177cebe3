"""What a row of measurements says: a straight line with its noise, an exponent, a plot of text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

_COLUMNS = 64
_ROWS = 10
# Standard errors on either side of a slope, within which it is taken for noise.
_NOISE = 2.0


class Point(NamedTuple):
    """One measurement: so much work, so much cost."""

    work: float
    cost: float


class Line(NamedTuple):
    """A line fitted by least squares.

    Attributes:
        slope: Cost for one more of work.
        error: Its standard error.
        mean: The mean cost.
    """

    slope: float
    error: float
    mean: float

    @property
    def rises(self) -> bool:
        """True if the slope is more than noise, upwards."""
        return self.slope > _NOISE * self.error

    @property
    def noise(self) -> float:
        """Twice the standard error."""
        return _NOISE * self.error


def fitted(points: Sequence[Point]) -> Line:
    """Fits a line to three points at least."""
    count = len(points)
    mean_work = sum(point.work for point in points) / count
    mean_cost = sum(point.cost for point in points) / count
    spread = 0.0
    together = 0.0
    for point in points:
        spread += (point.work - mean_work) ** 2
        together += (point.work - mean_work) * (point.cost - mean_cost)
    slope = together / spread
    left = 0.0
    for point in points:
        expected = mean_cost + slope * (point.work - mean_work)
        left += (point.cost - expected) ** 2
    error = math.sqrt(left / (count - 2) / spread)
    return Line(slope, error, mean_cost)


def exponent(points: Sequence[Point]) -> Line:
    """Fits cost = a · work^b by logarithms; the slope is b."""
    return fitted([Point(math.log(each.work), math.log(each.cost)) for each in points])


def drawn(points: Sequence[Point], title: str, work: str) -> str:
    """Draws points as text, from 0 up, so that a small slope looks small."""
    highest = max(point.cost for point in points) or 1.0
    last = max(point.work for point in points)
    grid = [[" "] * _COLUMNS for _ in range(_ROWS)]
    for point in points:
        column = min(int(point.work / last * _COLUMNS), _COLUMNS - 1)
        row = min(int(point.cost / highest * _ROWS), _ROWS - 1)
        grid[_ROWS - 1 - row][column] = "•"
    lines = [title]
    for number, cells in enumerate(grid):
        label = ""
        if number == 0:
            label = f"{highest:,.2f}"
        lines.append(f"{label:>10} |{''.join(cells).rstrip()}")
    lines.append(f"{'0':>10} +{'-' * _COLUMNS}")
    lines.append(f"{'':>11}0{f'{last:,.0f} {work}':>{_COLUMNS}}")
    return "\n".join(lines)
