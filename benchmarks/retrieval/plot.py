"""A plot of recall by characters retrieved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from antiphon.vocabulary.values import Value

_WIDTH = 640
_HEIGHT = 400
_MARGIN = 50
_MOST_CHARACTERS = 6_000
_LEAST_RECALL = 50


class Point(Value, frozen=True, kw_only=True):
    """Mean recall in per cent at mean characters."""

    characters: float
    recall: float


def plot(points: Sequence[Point], goals: Mapping[int, float]) -> str:
    """Draws the points and the goals as SVG."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
    ]
    for recall in range(_LEAST_RECALL, 101, 10):
        height = _y(recall)
        parts.append(
            f'<path d="M{_MARGIN} {height} H{_WIDTH - 20}" stroke="#ddd"/>'
            f'<text x="20" y="{height + 4}">{recall}</text>'
        )
    for characters in range(0, _MOST_CHARACTERS + 1, 1_000):
        parts.append(
            f'<text x="{_x(characters) - 12}" y="{_HEIGHT - 25}">{characters:,}</text>'
        )
    for budget, goal in goals.items():
        parts.append(_mark(budget, goal, "none", f"goal {goal:.0f}"))
    line = " ".join(f"{_x(one.characters)},{_y(one.recall)}" for one in points)
    parts.append(f'<polyline points="{line}" fill="none" stroke="#06c"/>')
    for point in points:
        parts.append(
            _mark(point.characters, point.recall, "#06c", f"{point.recall:.1f}", -10)
        )
    parts.append(
        f'<text x="{_WIDTH // 2 - 80}" y="{_HEIGHT - 8}">mean characters retrieved</text>'
        '<text x="8" y="20">recall, %</text></svg>'
    )
    return "\n".join(parts)


def _mark(
    characters: float, recall: float, fill: str, label: str, above: int = 16
) -> str:
    x, y = _x(characters), _y(recall)
    return (
        f'<circle cx="{x}" cy="{y}" r="4" fill="{fill}" stroke="#666"/>'
        f'<text x="{x - 12}" y="{y + above}">{label}</text>'
    )


def _x(characters: float) -> int:
    share = characters / _MOST_CHARACTERS
    return round(_MARGIN + share * (_WIDTH - _MARGIN - 30))


def _y(recall: float) -> int:
    share = (recall - _LEAST_RECALL) / (100 - _LEAST_RECALL)
    return round(_HEIGHT - _MARGIN - share * (_HEIGHT - _MARGIN - 30))
