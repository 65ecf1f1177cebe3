"""The samples of a soak: the slope of each measure with its noise, and a plot of all measures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

Sample = Mapping[str, float]

WARM_UP = 1 / 3
"""The least share of the run to leave out: caches fill, and the allocator takes its reserves."""
WARM_UP_QUERIES = 5_000
"""The least number of queries to leave out: memory rises by a sixth in the first 4,000, then hardly any more."""
NOISE = 2.0
"""The standard errors by which a slope must exceed its limit to count as growth."""
WIDTH, HEIGHT = 720, 110
_LEFT, _RIGHT, _TOP, _BOTTOM = 120, 20, 24, 16
_COLOURS = {"held": "#2f7d4f", "grows": "#b4443c"}


class Slope(NamedTuple):
    """The growth of one measure for each 1,000 queries.

    Attributes:
        error: The standard error of the slope.
        level: The mean of the measure after the warm-up.
        allowed: The growth allowed for each 1,000 queries.
    """

    measure: str
    a_thousand: float
    error: float
    level: float
    allowed: float

    @property
    def grows(self) -> bool:
        """True if the slope is above the allowed growth even after subtracting its noise."""
        return self.a_thousand - NOISE * self.error > self.allowed


def slopes(samples: Sequence[Sample], allowed: Mapping[str, float]) -> list[Slope]:
    """Returns the slope of each measure in `allowed` after the warm-up, by least squares."""
    begin = max(WARM_UP_QUERIES, samples[-1]["queries"] * WARM_UP)
    settled = [sample for sample in samples if sample["queries"] >= begin]
    queries = [sample["queries"] / 1000 for sample in settled]
    found: list[Slope] = []
    for measure, most in allowed.items():
        values = [sample[measure] for sample in settled]
        slope, error = _fit(queries, values)
        found.append(Slope(measure, slope, error, sum(values) / len(values), most))
    return found


def _fit(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    count = len(xs)
    mean_x, mean_y = sum(xs) / count, sum(ys) / count
    spread = sum((x - mean_x) ** 2 for x in xs)
    together = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    slope = together / spread
    residue = 0.0
    for x, y in zip(xs, ys, strict=True):
        residue += (y - mean_y - slope * (x - mean_x)) ** 2
    return slope, math.sqrt(residue / (count - 2) / spread)


def as_svg(samples: Sequence[Sample], found: Sequence[Slope]) -> str:
    """Draws each measure over the queries, with an axis from zero, and labels it with its slope."""
    drawn: list[str] = []
    for place, slope in enumerate(found):
        drawn += _panel(samples, slope, place * HEIGHT)
    height = HEIGHT * len(found)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>\n'
        + "\n".join(drawn)
        + "\n</svg>\n"
    )


def _panel(samples: Sequence[Sample], slope: Slope, top: float) -> list[str]:
    most = max(sample[slope.measure] for sample in samples) or 1.0
    last = samples[-1]["queries"] or 1.0
    floor = top + HEIGHT - _BOTTOM
    points: list[str] = []
    for sample in samples:
        x = _LEFT + (WIDTH - _LEFT - _RIGHT) * sample["queries"] / last
        y = floor - (HEIGHT - _TOP - _BOTTOM) * sample[slope.measure] / most
        points.append(f"{x:.1f},{y:.1f}")
    state = "held"
    if slope.grows:
        state = "grows"
    said = (
        f"{slope.measure}: {slope.level:,.1f}; {slope.a_thousand:+.3f} ± {slope.error:.3f} "
        f"by 1,000 queries ({state})"
    )
    return [
        f'<text x="10" y="{top + 16:.0f}" font-weight="bold">{escape(said)}</text>',
        f'<text x="10" y="{top + _TOP + 10:.0f}">{most:,.0f}</text>',
        f'<text x="10" y="{floor:.0f}">0</text>',
        f'<line x1="{_LEFT}" y1="{floor:.0f}" x2="{WIDTH - _RIGHT}" y2="{floor:.0f}" stroke="#999"/>',
        f'<polyline points="{" ".join(points)}" fill="none" stroke="{_COLOURS[state]}" stroke-width="1.5"/>',
    ]
