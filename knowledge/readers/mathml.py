"""Writes a formula of MathML on one line: in its author's TeX, or its parts in reading order."""

from __future__ import annotations

from lxml import html

_DEEPEST = 40
# The signs between parts that are above one another.
_BETWEEN = {
    "mfrac": ("/",),
    "msup": ("^",),
    "mover": ("^",),
    "msub": ("_",),
    "munder": ("_",),
    "msubsup": ("_", "^"),
    "munderover": ("_", "^"),
}
_ROOTS = ("msqrt", "mroot")
# Elements that repeat the same formula in another form.
_OTHER_FORMS = ("annotation", "annotation-xml")


def formula(math: html.HtmlElement) -> str:
    """Returns the TeX source of a formula, if it is still there, else its signs in order."""
    for annotation in math.iter("annotation"):
        if "tex" in annotation.get("encoding", "").lower():
            return f"${_one_line(annotation.text_content())}$"
    written = math.get("alttext", "")
    return f"${_one_line(written)}$" if written.strip() else _one_line(_said(math, 0))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _said(element: html.HtmlElement, depth: int) -> str:
    parts = _parts(element, depth)
    between = _BETWEEN.get(element.tag)
    if element.tag in _ROOTS:
        return f"√({' '.join(parts)})"
    if between is None or len(parts) != len(between) + 1:
        return " ".join(parts)
    first, *others = map(_whole, parts)
    signed = [f"{sign}{part}" for sign, part in zip(between, others, strict=True)]
    return first + "".join(signed)


def _parts(element: html.HtmlElement, depth: int) -> list[str]:
    parts = [element.text or ""]
    if depth < _DEEPEST:
        parts += [_said(child, depth + 1) for child in element if _is_said(child)]
    return [part for part in parts if part.strip()]


def _is_said(child: html.HtmlElement) -> bool:
    return isinstance(child.tag, str) and child.tag not in _OTHER_FORMS


def _whole(part: str) -> str:
    return f"({part})" if " " in part.strip() else part.strip()
