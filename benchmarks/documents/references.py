"""The words that a file holds, by reading its markup plainly: what a reader keeps is measured by them.

None of it is the product's code. Furniture is not counted: headers and footers, navigation, scripts, hidden and deleted
text. A PDF has no markup: its words are those on which two other readers agree.
"""

from __future__ import annotations

import html
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

from lxml import etree

from benchmarks.documents.pages import shown

# Of Office, and of ODT.
_TEXT = re.compile(
    r"\{[^}]*(?:wordprocessingml|drawingml)[^}]*\}t|\{[^}]*/math\}t|\{[^}]*drawingml[^}]*/chart\}v"
)
_UNSHOWN = ("del", "moveFrom", "Fallback", "tracked-changes", "annotation", "instrText")
_BREAKS = ("p", "br", "tab", "tc", "h", "pt", "s", "line-break", "table-cell")
_PARTS = re.compile(
    r"word/(?:document\d*|footnotes|endnotes|charts/chart\d+|diagrams/data\d+)\.xml"
    r"|ppt/(?:slides/slide|notesSlides/notesSlide|charts/chart|diagrams/data)\d+\.xml|content\.xml"
)
_CHARSET = re.compile(rb"charset=[\"']?([\w-]+)|encoding=[\"']([\w-]+)", re.IGNORECASE)
_TIME = re.compile(r"^(?:\d+:)?\d+:\d+[.,]\d+ +-->.*$|^\d+$", re.MULTILINE)
_HEADER = re.compile(
    r"^(?:course|lesson) link\s*:.*$|^course (?:title|instructor)\s*:|^lesson \d+\s*:",
    re.IGNORECASE | re.MULTILINE,
)
_CUE_MARKUP = re.compile(r"<[^<>\n]{0,100}>|\{\\[^{}\n]{0,50}\}")
_NOTE = re.compile(
    r"^(?:NOTE|STYLE|REGION|WEBVTT)\b[^\n]*(?:\n(?!\n)[^\n]*)*", re.MULTILINE
)
_MARKDOWN = re.compile(
    r"\A---\n.{0,20000}?\n---\n|<!--.{0,20000}?-->|</?[a-zA-Z][^<>]{0,200000}>|\]\([^)\n]{0,2000}\)|^\[[^\]\n]+\]:[^\n]*$|!\[[^\]\n]*\](?:\([^)\n]*\))?"
    r"|&[a-z]{1,10};|^(?:```|~~~)[^\n]*$|https?://\S+",
    re.MULTILINE | re.DOTALL,
)


def decoded(data: bytes) -> str:
    """Returns a text by its mark, as UTF-8, or as what it declares; empty if nothing says what it is."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    declared = _CHARSET.search(data[:2_000])
    names = ["utf-8-sig"]
    if declared is not None:
        names.append((declared[1] or declared[2]).decode())
    for name in names:
        try:
            return data.decode(name)
        except (LookupError, UnicodeDecodeError):
            continue
    return ""


def office_text(data: bytes) -> str:
    """Returns the text runs of a Word file, a presentation or an ODT."""
    parts = []
    parser = etree.XMLParser(
        remove_comments=True, remove_pis=True, resolve_entities=False, no_network=True
    )
    with zipfile.ZipFile(BytesIO(data)) as archive:
        for name in archive.namelist():
            if _PARTS.fullmatch(name):
                parts.append(
                    "".join(_runs(etree.fromstring(archive.read(name), parser)))
                )
    return "\n".join(parts)


def _runs(element: etree._Element) -> Iterator[str]:
    name = element.tag.rpartition("}")[2]
    if name in _UNSHOWN or _is_hidden(element):
        return
    end = "\n" if name in _BREAKS else ""
    # Text stands anywhere in an ODT, and in elements of its own in Office.
    is_odt = "opendocument" in element.tag
    yield end
    if is_odt or _TEXT.fullmatch(element.tag):
        yield element.text or ""
    for child in element:
        yield from _runs(child)
        if is_odt:
            yield child.tail or ""
    yield end


def _is_hidden(run: etree._Element) -> bool:
    """Returns True for a run of Word that its own properties hide."""
    if not run.tag.endswith("}r"):
        return False
    for properties in run:
        if properties.tag.endswith("}rPr"):
            for each in properties:
                value = next(iter(each.attrib.values()), "1")
                if each.tag.endswith("}vanish") and value not in ("0", "false", "off"):
                    return True
    return False


def page_text(data: bytes) -> str:
    """Returns what a web page shows."""
    return shown(decoded(data))


def book_text(data: bytes) -> str:
    """Returns what the pages of an EPUB show."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        names = [
            name
            for name in archive.namelist()
            if name.endswith((".xhtml", ".html", ".htm"))
        ]
        return "\n".join(page_text(archive.read(name)) for name in names)


def notebook_text(data: bytes) -> str:
    """Returns the sources of a notebook's cells."""
    book = json.loads(decoded(data))
    cells = book.get("cells") or [
        cell for sheet in book.get("worksheets", []) for cell in sheet.get("cells", [])
    ]
    parts = []
    for cell in cells:
        source = cell.get("source", cell.get("input", ""))
        text = source if isinstance(source, str) else "".join(source)
        parts.append(
            text if cell.get("cell_type") == "code" else _MARKDOWN.sub(" ", text)
        )
    return "\n".join(parts)


def markdown_text(data: bytes) -> str:
    return _MARKDOWN.sub(" ", decoded(data).replace("\r\n", "\n"))


def script_text(data: bytes) -> str:
    """Returns a text without the words that only say what is a title."""
    return _HEADER.sub(" ", decoded(data))


def cue_text(data: bytes) -> str:
    """Returns the lines of a transcript; one that rolls up stands there once."""
    text = _NOTE.sub("", script_text(data).replace("\r\n", "\n").replace("\r", "\n"))
    plain = _CUE_MARKUP.sub("", _TIME.sub("", text))
    return html.unescape("\n".join(dict.fromkeys(plain.split("\n"))))


REFERENCES: dict[str, Callable[[bytes], str]] = {
    ".docx": office_text,
    ".pptx": office_text,
    ".docm": office_text,
    ".pptm": office_text,
    ".ppsx": office_text,
    ".odt": office_text,
    ".odp": office_text,
    ".epub": book_text,
    ".html": page_text,
    ".htm": page_text,
    ".xhtml": page_text,
    ".ipynb": notebook_text,
    ".md": markdown_text,
    ".markdown": markdown_text,
    ".mdx": markdown_text,
    ".qmd": markdown_text,
    ".rmd": markdown_text,
    ".txt": script_text,
    ".vtt": cue_text,
    ".srt": cue_text,
}
"""How the text of each format is found; of a PDF, `PDF_READERS` are asked."""
PDF_READERS = ("pdfium", "pypdf", "pdfminer")


def reference_text(path: Path) -> str:
    """Returns the text of a file that has markup; empty if it is broken."""
    try:
        return REFERENCES[path.suffix.lower()](path.read_bytes())
    except (
        OSError,
        ValueError,
        KeyError,
        zipfile.BadZipFile,
        etree.XMLSyntaxError,
        RecursionError,
    ):
        return ""
