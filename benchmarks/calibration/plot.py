"""What is recognised as unanswerable against what is refused though it is answered, as a picture."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.vocabulary.values import Value

_WIDTH = 640
_HEIGHT = 400
_LEFT = 50
_TOP = 20
_ACROSS = 560
_DOWN = 320
_MOST_REFUSED = 0.3
_COLOURS = ("#0066cc", "#b4443c", "#2f7d4f", "#e0b13c")


class Curve(Value, frozen=True, kw_only=True):
    """What every bar would recognise and refuse.

    Attributes:
        answered: How likely it seemed of the questions that the texts answer that they do.
        others: The same of those that they do not.
    """

    name: str
    answered: tuple[float, ...]
    others: tuple[float, ...]


def plot(curves: Sequence[Curve]) -> str:
    """Draws the curves as SVG, and the goal: 95 % recognised, at most 5 % refused."""
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<rect x="{_LEFT}" y="{_y(1.0)}" width="{_x(0.05) - _LEFT}" height="{_y(0.95) - _y(1.0)}" fill="#cfe8d5"/>',
    ]
    for tenth in range(0, 11, 2):
        height = _y(tenth / 10)
        drawn.append(
            f'<path d="M{_LEFT} {height} H{_LEFT + _ACROSS}" stroke="#ddd"/>'
            f'<text x="20" y="{height + 4}">{tenth * 10}</text>'
        )
    for percent in range(0, 31, 5):
        drawn.append(
            f'<text x="{_x(percent / 100)}" y="{_TOP + _DOWN + 15}">{percent}</text>'
        )
    for number, curve in enumerate(curves):
        colour = _COLOURS[number % len(_COLOURS)]
        line = " ".join(_points(curve))
        drawn.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}"/>'
            f'<text x="330" y="{250 + 18 * number}" fill="{colour}">{curve.name}</text>'
        )
    drawn.append(
        f'<text x="200" y="{_HEIGHT - 10}">answerable questions refused or called low, %</text>'
        '<text x="8" y="14">unanswerable ones recognised, %</text></svg>'
    )
    return "\n".join(drawn)


def _points(curve: Curve) -> list[str]:
    points: list[str] = []
    for bar in sorted(curve.answered):
        refused = _share_below(curve.answered, bar)
        if refused > _MOST_REFUSED:
            break
        points.append(f"{_x(refused)},{_y(_share_below(curve.others, bar))}")
    return points


def _share_below(likely: Sequence[float], bar: float) -> float:
    return sum(each < bar for each in likely) / len(likely)


def _x(refused: float) -> float:
    return round(_LEFT + _ACROSS * refused / _MOST_REFUSED, 1)


def _y(recognised: float) -> float:
    return round(_TOP + _DOWN * (1 - recognised), 1)
