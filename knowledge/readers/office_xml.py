"""Parses XML of Office files safely, and names its elements with the prefixes of their standards."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from lxml import etree

from antiphon.knowledge.readers.content import UnreadableError

STANDARD = "http://schemas.openxmlformats.org"
_OPEN = "urn:oasis:names:tc:opendocument:xmlns"
NAMESPACES = {
    "w": f"{STANDARD}/wordprocessingml/2006/main",
    "p": f"{STANDARD}/presentationml/2006/main",
    "a": f"{STANDARD}/drawingml/2006/main",
    "c": f"{STANDARD}/drawingml/2006/chart",
    "dgm": f"{STANDARD}/drawingml/2006/diagram",
    "pic": f"{STANDARD}/drawingml/2006/picture",
    "wp": f"{STANDARD}/drawingml/2006/wordprocessingDrawing",
    "m": f"{STANDARD}/officeDocument/2006/math",
    "r": f"{STANDARD}/officeDocument/2006/relationships",
    "mc": f"{STANDARD}/markup-compatibility/2006",
    "dc": "http://purl.org/dc/elements/1.1/",
    "v": "urn:schemas-microsoft-com:vml",
    "o": "urn:schemas-microsoft-com:office:office",
    "office": f"{_OPEN}:office:1.0",
    "text": f"{_OPEN}:text:1.0",
    "table": f"{_OPEN}:table:1.0",
    "draw": f"{_OPEN}:drawing:1.0",
    "style": f"{_OPEN}:style:1.0",
    "presentation": f"{_OPEN}:presentation:1.0",
    "svg": f"{_OPEN}:svg-compatible:1.0",
    "xlink": "http://www.w3.org/1999/xlink",
    "math": "http://www.w3.org/1998/Math/MathML",
    "adec": "http://schemas.microsoft.com/office/drawing/2017/decorative",
    "cx": "http://schemas.microsoft.com/office/drawing/2014/chartex",
}
_PREFIXES = {namespace: prefix for prefix, namespace in NAMESPACES.items()}


def parse(data: bytes) -> etree._Element:
    """Parses XML that may be hostile: fetches nothing, resolves no entity, and limits the depth of the tree.

    Raises:
        UnreadableError: It is broken, or declares entities.
    """
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise UnreadableError(f"it is broken: {error}") from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise UnreadableError(
            "its XML declares a document type, which no such file may"
        )
    return root


@lru_cache(maxsize=5_000)
def _short(tag: str) -> str:
    namespace, _, name = tag.rpartition("}")
    return f"{_PREFIXES.get(namespace[1:], '')}:{name}"


def kind(element: etree._Element) -> str:
    """Returns an element's name with the usual prefix of its namespace, such as "w:p"."""
    return _short(element.tag)


@lru_cache(maxsize=500)
def _qualified(name: str) -> str:
    prefix, _, local = name.partition(":")
    return f"{{{NAMESPACES[prefix]}}}{local}"


def attribute(element: etree._Element, name: str) -> str:
    """Returns an attribute with the usual prefix, such as "w:val"; empty if it is missing."""
    return element.get(_qualified(name)) or ""


def child(element: etree._Element | None, path: str) -> etree._Element | None:
    """Returns the first element at a path of such names, each a child of the one before."""
    for name in path.split("/"):
        if element is None:
            return None
        element = next(element.iterchildren(_qualified(name)), None)
    return element


def value(element: etree._Element | None, path: str) -> str | None:
    """Returns the value of the property at a path ("" if it has none), or None if it is missing."""
    found = child(element, path)
    if found is None:
        return None
    return attribute(found, f"{path.rpartition('/')[2].partition(':')[0]}:val")


def is_on(element: etree._Element | None, path: str) -> bool | None:
    """Returns the state of a switch, which is on unless its value says otherwise, or None if it is missing."""
    found = value(element, path)
    return None if found is None else found not in ("0", "false", "off")


def every(element: etree._Element, name: str) -> Iterator[etree._Element]:
    """Yields each element of that name within another, at any depth."""
    yield from element.iter(_qualified(name))
