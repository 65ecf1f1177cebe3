"""Reads EPUB books: their chapters in reading order, each a page of XHTML."""

from __future__ import annotations

import posixpath
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from lxml import etree

from antiphon.knowledge.readers.archives import Archive
from antiphon.knowledge.readers.content import (
    BLANK,
    Content,
    Line,
    UnreadableError,
    content_of,
)
from antiphon.knowledge.readers.losses import Losses
from antiphon.knowledge.readers.page_lines import PageLines
from antiphon.knowledge.readers.plain_text import one_line
from antiphon.knowledge.readers.web_page import parse_page

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")
_NCX = "application/x-dtbncx+xml"
# These obfuscate only fonts; the text of the book stays readable.
_FONT_SCRAMBLING = (
    "http://www.idpf.org/2008/embedding",
    "http://ns.adobe.com/pdf/enc#RC",
)
_PROTECTED = "it is protected by its seller (DRM), so no program but theirs can read it; get it without protection"


class _Item(NamedTuple):
    """A file of the book."""

    path: str
    kind: str
    properties: str


def read(data: bytes) -> Content:
    """Reads a book; a place is the heading above."""
    archive = Archive("an EPUB book", data)
    if _CONTAINER not in archive:
        raise UnreadableError(f"it is not an EPUB book: it holds no {_CONTAINER}")
    return _Book(archive).content()


class _Book:
    """The archive of a book."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._losses = Losses()

    def content(self) -> Content:
        self._refuse_protected()
        package_path = self._package_path()
        package = self._xml(package_path)
        items = _items(package, package_path)
        titles = self._chapter_titles(items)
        lines: list[Line] = []
        for reference in package.iterfind(".//{*}spine/{*}itemref"):
            item = items.get(reference.get("idref", ""))
            # The navigation is a table of contents, and no text.
            if (
                item is not None
                and item.kind in _PAGES
                and "nav" not in item.properties.split()
            ):
                lines += self._chapter(item.path, titles.get(item.path, ""))
        values = {
            "title": _metadata(package, "title"),
            "author": _metadata(package, "creator"),
        }
        return content_of(lines, values, losses=self._losses.words)

    def _refuse_protected(self) -> None:
        if _ENCRYPTION not in self._archive:
            return
        for method in self._xml(_ENCRYPTION).iterfind(
            ".//{*}EncryptedData/{*}EncryptionMethod"
        ):
            if method.get("Algorithm") not in _FONT_SCRAMBLING:
                raise UnreadableError(_PROTECTED)

    def _package_path(self) -> str:
        root = self._xml(_CONTAINER).find(".//{*}rootfile")
        path = "" if root is None else root.get("full-path", "")
        if path not in self._archive:
            raise UnreadableError("it is broken: it names no list of its chapters")
        return path

    def _chapter(self, path: str, title: str) -> list[Line]:
        if path not in self._archive:
            return []
        lines = PageLines(self._losses).lines([parse_page(self._archive.read(path))])
        if not any(line.text for line in lines):
            return []
        if title and not any(line.level for line in lines):
            lines = [Line(title, level=1), *lines]
        return [BLANK, *lines, BLANK]

    def _chapter_titles(self, items: dict[str, _Item]) -> dict[str, str]:
        """Returns the chapters' titles by their files, for those that have no heading of their own."""
        titles: dict[str, str] = {}
        for item in items.values():
            if item.path not in self._archive:
                continue
            if item.kind == _NCX:
                for point in self._xml(item.path).iterfind(".//{*}navPoint"):
                    label, target = (
                        point.find("{*}navLabel/{*}text"),
                        point.find("{*}content"),
                    )
                    if label is not None and target is not None:
                        titles.setdefault(
                            _path(item.path, target.get("src", "")),
                            one_line(label.text or ""),
                        )
            elif "nav" in item.properties.split():
                for link in parse_page(self._archive.read(item.path)).iter("a"):
                    titles.setdefault(
                        _path(item.path, link.get("href", "")),
                        one_line(link.text_content()),
                    )
        return titles

    def _xml(self, path: str) -> etree._Element:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
        root = etree.fromstring(self._archive.read(path), parser)
        if root is None:
            raise UnreadableError(f"it is broken: {path} cannot be read")
        return root


def _items(package: etree._Element, package_path: str) -> dict[str, _Item]:
    items = {}
    for item in package.iterfind(".//{*}manifest/{*}item"):
        path = _path(package_path, item.get("href", ""))
        items[item.get("id", "")] = _Item(
            path, item.get("media-type", ""), item.get("properties", "")
        )
    return items


def _path(base: str, address: str) -> str:
    """Returns the path in the archive for an address in one of its files."""
    relative = unquote(urlsplit(address).path)
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), relative))


def _metadata(package: etree._Element, name: str) -> str:
    found = package.find(f".//{{*}}metadata/{{http://purl.org/dc/elements/1.1/}}{name}")
    return "" if found is None else one_line("".join(found.itertext()))
