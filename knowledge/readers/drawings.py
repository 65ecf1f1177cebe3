"""Reads drawings of Office: their paragraphs, tables, charts and diagrams; recognises those that say nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from lxml import etree

from antiphon.knowledge.readers.content import BLANK, Line, UnreadableError
from antiphon.knowledge.readers.equations import linear
from antiphon.knowledge.readers.losses import Loss, Losses
from antiphon.knowledge.readers.office_xml import attribute, child, every, kind
from antiphon.knowledge.readers.ooxml import Package, Relation, branches
from antiphon.knowledge.readers.paragraphs import row
from antiphon.knowledge.readers.plain_text import one_line

_NO_DESCRIPTION = re.compile(
    r"(?:image|img|picture|graphic|graphical user interface|logo|icon|shape|diagram|chart)[ _\-.:#0-9]{0,40}"
    r"|[ _\-.:#0-9]{1,40}|\S{1,300}\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?|emf|wmf)|[a-z]{2,10}://\S{1,500}",
    re.IGNORECASE,
)
_DESCRIBED = ("wp:docPr", "p:cNvPr", "pic:cNvPr")
_MACHINE = re.compile(
    r" ?(?:description automatically generated.*|AI-generated content may be incorrect\.?)$",
    re.IGNORECASE,
)


def description(drawing: etree._Element) -> str:
    """Returns the author's description of a drawing; empty for one that a program wrote."""
    for each in drawing.iter():
        words = one_line(each.get("descr") or "") if kind(each) in _DESCRIBED else ""
        words = _MACHINE.sub("", words)
        if not says_nothing(words):
            return words
    return ""


def says_nothing(words: str) -> bool:
    """Returns True for an empty description, and for a program's placeholder."""
    return not words or _NO_DESCRIPTION.fullmatch(words) is not None


def is_decoration(drawing: etree._Element) -> bool:
    """Returns True if a drawing's author marked it as decorative."""
    return any(each.get("val") == "1" for each in every(drawing, "adec:decorative"))


def drawn_text(element: etree._Element) -> str:
    """Returns the text of a paragraph in a drawing, with its line breaks."""
    parts = []
    for each in element:
        name = kind(each)
        if name == "a:t":
            parts.append(each.text or "")
        elif name == "a:br":
            parts.append("\n")
        elif name == "m:oMath":
            parts.append(f" {linear(each)}")
        elif name == "mc:AlternateContent":
            texts = [drawn_text(branch) for branch in branches(each)]
            parts += [text for text in texts if text.strip()][:1]
        else:
            parts.append(drawn_text(each))
    return "".join(parts)


def graphic(
    element: etree._Element,
    package: Package,
    relations: Mapping[str, Relation],
    losses: Losses,
) -> list[Line]:
    """Returns the lines of a chart or a diagram, which has its own part in the file."""
    id_name, read = _GRAPHICS[kind(element)]
    relation = relations.get(attribute(element, id_name))
    if relation is None:
        return []
    try:
        root = package.read(relation.part)
    except UnreadableError:
        losses.add(Loss.PART)
        return []
    return [BLANK, *read(root), BLANK]


def _chart(root: etree._Element) -> Iterator[Line]:
    """Yields a chart's titles and labels, then its values as a table under the names of its series."""
    for text in _labels(root):
        yield Line(text)
        yield BLANK
    series = list(every(root, "c:ser"))
    # In most charts all series have the same categories; in a scatter chart each has its own.
    for _, same in groupby(series, _categories):
        yield from _series_table(list(same))
        yield BLANK


def _labels(root: etree._Element) -> Iterator[str]:
    for title in every(root, "c:title"):
        for cached in every(title, "c:v"):
            yield one_line(cached.text or "")
    for rich in every(root, "c:rich"):
        text = one_line(" ".join([drawn_text(each) for each in every(rich, "a:p")]))
        if text:
            yield text


def _series_table(series: Sequence[etree._Element]) -> Iterator[Line]:
    columns = [_categories(series[0])]
    names = [""]
    for each in series:
        for name in ("c:val", "c:yVal", "c:bubbleSize"):
            points = _points(child(each, name))
            if points:
                columns.append(points)
                names.append(" ".join(_points(child(each, "c:tx")).values()))
    yield row(names)
    for index in sorted(set().union(*columns)):
        yield row([column.get(index, "") for column in columns])


def _categories(series: etree._Element) -> dict[int, str]:
    found = child(series, "c:cat")
    return _points(child(series, "c:xVal") if found is None else found)


def _points(element: etree._Element | None) -> dict[int, str]:
    """Returns the values of its sheet that a chart caches, by their places."""
    points: dict[int, str] = {}
    if element is None:
        return points
    for each in every(element, "c:v"):
        parent = each.getparent()
        index = 0 if parent is None else _number(parent.get("idx"))
        # Categories may have levels; the innermost comes first.
        inner = points.get(index, "")
        points[index] = f"{_shown(each.text or '')} {inner}".strip()
    return points


def _number(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() else 0


def _shown(text: str) -> str:
    """Formats a number as its sheet shows it, without the last digits that binary fractions add."""
    plain = one_line(text)
    try:
        return f"{float(plain):.15g}" if "." in plain else plain
    except ValueError:
        return plain


def _newer_chart(root: etree._Element) -> Iterator[Line]:
    """Yields the titles and values of a chart of the kinds introduced in 2016."""
    for data in every(root, "cx:txData"):
        yield Line(one_line(data.findtext("cx:v", "", root.nsmap)))
    for text in every(root, "a:p"):
        yield Line(one_line(drawn_text(text)))
    for data in every(root, "cx:data"):
        columns = []
        for level in every(data, "cx:lvl"):
            columns.append(
                {
                    _number(each.get("idx")): _shown(each.text or "")
                    for each in every(level, "cx:pt")
                }
            )
        yield BLANK
        for index in sorted(set().union(*columns)):
            yield row([column.get(index, "") for column in columns])


def _diagram(root: etree._Element) -> Iterator[Line]:
    """Yields the words of a diagram as a list, in the order of its parts."""
    texts = {}
    tops = []
    for point in every(root, "dgm:pt"):
        own = point.get("type", "node")
        if own in ("node", "asst", "doc"):
            paragraphs = [drawn_text(each) for each in every(point, "a:p")]
            texts[point.get("modelId")] = one_line(" ".join(paragraphs))
        if own == "doc":
            tops.append(point.get("modelId"))
    waiting = [*reversed(list(texts)), *tops]
    below = _parts_below(root)
    while waiting:
        place = waiting.pop()
        text = texts.pop(place, None)
        if text is None:
            continue
        if text:
            yield Line(f"- {text}")
        waiting += reversed(below.get(place, []))


def _parts_below(root: etree._Element) -> dict[str | None, list[str | None]]:
    """Returns the children of each part of a diagram, in order."""
    links = [
        link for link in every(root, "dgm:cxn") if link.get("type", "parOf") == "parOf"
    ]
    below: dict[str | None, list[str | None]] = {}
    for link in sorted(links, key=lambda each: _number(each.get("srcOrd"))):
        below.setdefault(link.get("srcId"), []).append(link.get("destId"))
    return below


_GRAPHICS = {
    "c:chart": ("r:id", _chart),
    "cx:chart": ("r:id", _newer_chart),
    "dgm:relIds": ("r:dm", _diagram),
}
GRAPHICS = tuple(_GRAPHICS)
"""The elements that refer to a chart or a diagram."""
