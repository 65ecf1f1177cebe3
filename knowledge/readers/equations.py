"""Writes equations of Office as one line of text, like the input of its equation editor.

The signs follow https://www.unicode.org/notes/tn28/ ("Unicode nearly plain-text encoding of mathematics").
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lxml import etree

from antiphon.knowledge.readers.office_xml import child, is_on, kind, value

_REMOVED = ("w:del", "w:moveFrom")
# A number, a name, or one sign, which needs no parentheses beside a fraction bar or as an index.
_SIMPLE = re.compile(r"[0-9.]+|[^\W0-9_]+|.|\([^()]*\)")
_HAT, _LINE_ABOVE, _LINE_BELOW = "\u0302", "\u0305", "\u0332"
_Written = Callable[[etree._Element], str]


def linear(element: etree._Element) -> str:
    """Returns the text of an equation, or of one part of it."""
    written = _WRITTEN.get(kind(element))
    return _parts(element) if written is None else written(element)


def _parts(element: etree._Element) -> str:
    written = ""
    was_run = True
    for each in element:
        name = kind(each)
        text = "" if name in _REMOVED else linear(each)
        is_run = name == "m:r"
        # Keeps letters apart that are apart on the page, as in "a/b x".
        touching = written[-1:].isalnum() and text[:1].isalnum()
        if touching and not (was_run and is_run):
            written += " "
        if text:
            written += text
            was_run = is_run
    return written


def _text(element: etree._Element) -> str:
    # An invisible sign separates the name of a function from its argument.
    return (element.text or "").replace("\u2061", " ")


def _line(element: etree._Element) -> str:
    return f"{_parts(element)} "


def _part(element: etree._Element, name: str) -> str:
    found = child(element, f"m:{name}")
    return "" if found is None else _parts(found).strip()


def _grouped(element: etree._Element, name: str) -> str:
    text = _part(element, name)
    return text if not text or _SIMPLE.fullmatch(text) else f"({text})"


def _index(element: etree._Element, sign: str, name: str) -> str:
    text = _grouped(element, name)
    return f"{sign}{text}" if text else ""


def _sign(element: etree._Element, path: str, usual: str) -> str:
    """Returns the sign that a property sets, which may be empty, or the default one."""
    found = value(element, path)
    return usual if found is None else found


def _fraction(element: etree._Element) -> str:
    over, under = _grouped(element, "num"), _grouped(element, "den")
    # Without a bar it is no fraction, as in "n choose k".
    bar = "\u00a6" if value(element, "m:fPr/m:type") == "noBar" else "/"
    return f"{over}{bar}{under}"


def _scripted(element: etree._Element) -> str:
    under, over = _index(element, "_", "sub"), _index(element, "^", "sup")
    return f"{_grouped(element, 'e')}{under}{over}"


def _scripted_before(element: etree._Element) -> str:
    under, over = _index(element, "_", "sub"), _index(element, "^", "sup")
    return f"{under}{over} {_part(element, 'e')}"


def _limit_below(element: etree._Element) -> str:
    return f"{_grouped(element, 'e')}{_index(element, '_', 'lim')}"


def _limit_above(element: etree._Element) -> str:
    return f"{_grouped(element, 'e')}{_index(element, '^', 'lim')}"


def _root(element: etree._Element) -> str:
    degree = _part(element, "deg")
    root = f"\u221a[{degree}]" if degree else "\u221a"
    return f"{root}({_part(element, 'e')})"


def _large_operator(element: etree._Element) -> str:
    sign = _sign(element, "m:naryPr/m:chr", "\u222b")
    under, over = _index(element, "_", "sub"), _index(element, "^", "sup")
    return f"{sign}{under}{over} {_part(element, 'e')}"


def _function(element: etree._Element) -> str:
    return f"{_part(element, 'fName')} {_grouped(element, 'e')}"


def _delimited(element: etree._Element) -> str:
    opened = _sign(element, "m:dPr/m:begChr", "(")
    closed = _sign(element, "m:dPr/m:endChr", ")")
    between = _sign(element, "m:dPr/m:sepChr", "|")
    return f"{opened}{_joined(element, between)}{closed}"


def _joined(element: etree._Element, between: str) -> str:
    parts = []
    for each in element:
        if kind(each) in ("m:e", "m:mr"):
            parts.append(linear(each).strip())
    return between.join(parts)


def _matrix(element: etree._Element) -> str:
    return f"[{_joined(element, '; ')}]"


def _matrix_row(element: etree._Element) -> str:
    return _joined(element, ", ")


def _lines(element: etree._Element) -> str:
    return _joined(element, "; ")


def _accented(element: etree._Element) -> str:
    return f"{_grouped(element, 'e')}{_sign(element, 'm:accPr/m:chr', _HAT)}"


def _overlined(element: etree._Element) -> str:
    above = value(element, "m:barPr/m:pos") == "top"
    return f"{_grouped(element, 'e')}{_LINE_ABOVE if above else _LINE_BELOW}"


def _phantom(element: etree._Element) -> str:
    """Returns nothing for a hidden phantom, which only takes up room."""
    return "" if is_on(element, "m:phantPr/m:show") is False else _parts(element)


_WRITTEN: dict[str, _Written] = {
    "m:t": _text,
    "w:t": _text,
    "m:oMath": _line,
    "m:f": _fraction,
    "m:sSup": _scripted,
    "m:sSub": _scripted,
    "m:sSubSup": _scripted,
    "m:sPre": _scripted_before,
    "m:limLow": _limit_below,
    "m:limUpp": _limit_above,
    "m:rad": _root,
    "m:nary": _large_operator,
    "m:func": _function,
    "m:d": _delimited,
    "m:m": _matrix,
    "m:mr": _matrix_row,
    "m:eqArr": _lines,
    "m:acc": _accented,
    "m:bar": _overlined,
    "m:phant": _phantom,
}
