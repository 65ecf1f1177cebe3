"""The drawing of a run of `antiphon eval`: verdicts by kind, and how often answers of each label are right, as SVG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

from antiphon.cli.eval_figures import Figures, Grade, Share, Targets, by_kind
from antiphon.cli.judging import Verdict

WIDTH = 720
_LEFT = 170
_BAR = 440
_LINE = 24
_COLOURS: dict[Verdict, str] = {
    "answered": "#2f7d4f",
    "in_part": "#e0b13c",
    "failed": "#b4443c",
}
_LABEL_COLOUR = "#3b6ea5"


def as_svg(grades: Sequence[Grade], figures: Figures, targets: Targets) -> str:
    """Draws a bar for each kind of question, and one for each label with the share that it promises."""
    drawn: list[str] = [_text(10, 24, "Answered, in part, failed, by kind", "bold")]
    y = 40
    for kind, of_kind in by_kind(grades).items():
        drawn += _kind_bar(kind, of_kind, y)
        y += _LINE
    y += 30
    title = (
        "Answers that answer the question, by label (the line: what the label promises)"
    )
    drawn.append(_text(10, y, title, "bold"))
    y += 16
    promised = {"high": targets.least_high, "medium": targets.least_medium}
    for label, share in figures.by_label.items():
        drawn += _label_bar(label, share, promised.get(label), y)
        y += _LINE
    height = y + 10
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13">\n'
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>\n'
        + "\n".join(drawn)
        + "\n</svg>\n"
    )


def _kind_bar(kind: str, grades: Sequence[Grade], y: int) -> list[str]:
    drawn = [_text(10, y + 14, kind.replace("_", " "))]
    x = float(_LEFT)
    verdicts = Counter(each.verdict for each in grades)
    for verdict, colour in _COLOURS.items():
        width = _BAR * verdicts[verdict] / len(grades)
        drawn.append(_rect(x, y, width, colour))
        x += width
    counts = [str(verdicts[verdict]) for verdict in _COLOURS]
    drawn.append(_text(_LEFT + _BAR + 10, y + 14, " / ".join(counts)))
    return drawn


def _label_bar(label: str, share: Share, promised: float | None, y: int) -> list[str]:
    drawn = [
        _text(10, y + 14, label),
        _rect(_LEFT, y, _BAR, "#e8e8e8"),
        _rect(_LEFT, y, _BAR * share.value, _LABEL_COLOUR),
        _text(_LEFT + _BAR + 10, y + 14, str(share)),
    ]
    if promised is not None:
        x = _LEFT + _BAR * promised
        drawn.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y - 2}" y2="{y + 20}" stroke="black" stroke-width="2"/>'
        )
    return drawn


def _rect(x: float, y: int, width: float, colour: str) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="18" fill="{colour}"/>'
    )


def _text(x: int, y: int, text: str, weight: str = "normal") -> str:
    return f'<text x="{x}" y="{y}" font-weight="{weight}">{escape(text)}</text>'
