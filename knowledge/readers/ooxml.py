"""The parsed parts of Word and PowerPoint files, and their relationships.

It reads both forms of the standard, because Strict differs from the usual form only in its namespaces
(https://www.iso.org/standard/71691.html).
"""

from __future__ import annotations

import posixpath
import re
from typing import NamedTuple

from lxml import etree

from antiphon.knowledge.readers.archives import Archive
from antiphon.knowledge.readers.content import UnreadableError
from antiphon.knowledge.readers.office_xml import (
    NAMESPACES,
    STANDARD,
    kind,
    parse,
)
from antiphon.knowledge.readers.plain_text import one_line

_STRICT = re.compile(rb"([\"'])http://purl\.oclc\.org/ooxml/([a-zA-Z]{1,40})/")
_TRANSITIONAL = rf"\1{STANDARD}/\2/2006/".encode()
_MAIN = "officeDocument"
_PROPERTIES = "core-properties"


def branches(alternate: etree._Element) -> list[etree._Element]:
    """Returns the alternative forms of one thing; a program uses the first that it knows."""
    return [each for each in alternate if kind(each) in ("mc:Choice", "mc:Fallback")]


class Relation(NamedTuple):
    """The relationship of one part to another: its type, and the other's name."""

    type: str
    part: str


class Package:
    """A file of Word or PowerPoint.

    Args:
        name: Its format in words.
        root: The name of the root element of its main part.

    Raises:
        UnreadableError: It is not such a file, or is encrypted, broken, or too large.
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
            UnreadableError: It is missing or broken.
        """
        data = self._archive.read(part)
        if b"purl.oclc.org/ooxml" in data:
            data = _STRICT.sub(_TRANSITIONAL, data)
        return parse(data)

    def relations(self, part: str) -> dict[str, Relation]:
        """Returns the parts that a part refers to, by their relationship ids."""
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
