"""The parts of Word and PowerPoint files, parsed, and what leads from one to another.

Both forms of the standard are read, for Strict differs from the usual one by its namespaces alone
(https://www.iso.org/standard/71691.html).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from lxml import etree

from antiphon.knowledge.readers.archives import Archive
from antiphon.knowledge.readers.content import UnreadableError
from antiphon.knowledge.readers.plain_text import one_line

_STANDARD = "http://schemas.openxmlformats.org"
NAMESPACES = {
    "w": f"{_STANDARD}/wordprocessingml/2006/main",
    "p": f"{_STANDARD}/presentationml/2006/main",
    "a": f"{_STANDARD}/drawingml/2006/main",
    "c": f"{_STANDARD}/drawingml/2006/chart",
    "dgm": f"{_STANDARD}/drawingml/2006/diagram",
    "pic": f"{_STANDARD}/drawingml/2006/picture",
    "wp": f"{_STANDARD}/drawingml/2006/wordprocessingDrawing",
    "m": f"{_STANDARD}/officeDocument/2006/math",
    "r": f"{_STANDARD}/officeDocument/2006/relationships",
    "mc": f"{_STANDARD}/markup-compatibility/2006",
    "dc": "http://purl.org/dc/elements/1.1/",
    "v": "urn:schemas-microsoft-com:vml",
    "o": "urn:schemas-microsoft-com:office:office",
    "adec": "http://schemas.microsoft.com/office/drawing/2017/decorative",
    "cx": "http://schemas.microsoft.com/office/drawing/2014/chartex",
}
_PREFIXES = {namespace: prefix for prefix, namespace in NAMESPACES.items()}
_STRICT = re.compile(rb"([\"'])http://purl\.oclc\.org/ooxml/([a-zA-Z]{1,40})/")
_TRANSITIONAL = rf"\1{_STANDARD}/\2/2006/".encode()
_MAIN = "officeDocument"
_PROPERTIES = "core-properties"


def parse(data: bytes) -> etree._Element:
    """Parses XML that may be hostile: nothing is fetched, no entity is resolved, and no tree is deeper than a stack.

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
    """Returns an attribute with the usual prefix, such as "w:val"; empty where it is not there."""
    return element.get(_qualified(name)) or ""


def child(element: etree._Element | None, path: str) -> etree._Element | None:
    """Returns the first element at a path of such names, each a child of the one before."""
    for name in path.split("/"):
        if element is None:
            return None
        element = element.find(_qualified(name))
    return element


def value(element: etree._Element | None, path: str) -> str | None:
    """Returns what the property at a path is set to ("" where it is only there), or None where it is not there."""
    found = child(element, path)
    if found is None:
        return None
    return attribute(found, f"{path.rpartition('/')[2].partition(':')[0]}:val")


def is_on(element: etree._Element | None, path: str) -> bool | None:
    """Returns the state of a switch, which is on where nothing else is said, or None where it is not there."""
    found = value(element, path)
    return None if found is None else found not in ("0", "false", "off")


def every(element: etree._Element, name: str) -> Iterator[etree._Element]:
    """Yields each element of that name within another, at any depth."""
    yield from element.iter(_qualified(name))


def branches(alternate: etree._Element) -> list[etree._Element]:
    """Returns the forms of one thing among which a program chooses the first that it knows."""
    return [each for each in alternate if kind(each) in ("mc:Choice", "mc:Fallback")]


class Relation(NamedTuple):
    """What one part says of another: what it is to it, and its name."""

    type: str
    part: str


class Package:
    """A file of Word or PowerPoint.

    Args:
        name: Its format in words.
        root: The name of its main part's root.

    Raises:
        UnreadableError: It is no such file, encrypted, broken, or too large.
    """

    def __init__(self, name: str, root: str, data: bytes) -> None:
        self._archive = Archive(name, data)
        of_package = self.relations("").values()
        parts = [relation.part for relation in of_package if relation.type == _MAIN]
        if not parts or parts[0] not in self._archive:
            raise UnreadableError(f"it is not {name}: nothing in it says what it holds")
        self.main = parts[0]
        self.root = self.read(self.main)
        if kind(self.root) != root:
            raise UnreadableError(f"it is not {name}: its main part is {self.main}")
        self.title = self._title()

    def read(self, part: str) -> etree._Element:
        """Parses one part.

        Raises:
            UnreadableError: It is not there, or broken.
        """
        data = self._archive.read(part)
        if b"purl.oclc.org/ooxml" in data:
            data = _STRICT.sub(_TRANSITIONAL, data)
        return parse(data)

    def relations(self, part: str) -> dict[str, Relation]:
        """Returns the parts that a part names, by the ids under which it does."""
        folder, name = posixpath.split(part)
        listed = posixpath.join(folder, "_rels", f"{name}.rels")
        relations: dict[str, Relation] = {}
        if listed not in self._archive:
            return relations
        for each in self.read(listed):
            if each.get("TargetMode") == "External":
                continue
            target = posixpath.join("/", folder, each.get("Target", ""))
            relations[each.get("Id", "")] = Relation(
                each.get("Type", "").rpartition("/")[2],
                posixpath.normpath(target).lstrip("/"),
            )
        return relations

    def _title(self) -> str:
        for relation in self.relations("").values():
            if relation.type == _PROPERTIES and relation.part in self._archive:
                return one_line(
                    self.read(relation.part).findtext("dc:title", "", NAMESPACES)
                )
        return ""
