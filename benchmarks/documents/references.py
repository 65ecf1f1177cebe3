"""The words that a person sees in a file, from a plain reading of its markup.

They are the reference for our readers, so none of the product's code is in use here. The rules, each with its reason:
- Word, slides, ODT: text that is deleted, moved away or hidden is not on the page. A chart shows its categories once,
  on its axis, though the file repeats them for each series, and shows 4.0 as 4. Each piece of a formula is a word,
  because an index is set apart from its letter. Headers, footers and slide numbers repeat on all pages and say nothing
  about this one.
- Web pages and the pages of EPUB: see pages.py. In a book, the pages in its reading order count.
- Markdown, and the text cells of notebooks: the text that a site shows. Addresses, labels of links, comments, HTML and
  template tags, emoji codes, badges (links whose text is a picture) and lists of the document's own headings do not
  count; in the front matter only the fields for people count.
- Notebooks: sources and printed output, except warnings and the addresses of objects.
- Transcripts: names, numbers and times of cues are not words, and a line that rolls up is on the screen once.
- Plain text: the markers of titles ("Course Title:") are not words.
- PDF has no markup: its words are those that two other readers agree on.
"""

from __future__ import annotations

import html
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from lxml import etree

from benchmarks.documents.pages import shown

# The text elements of Office and of ODT.
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
_CUE = r"(?:\d+:)?\d+:\d+[.,]\d+[ \t]+-->[^\n]*$"
# The line above the times is the cue's name.
_TIME = re.compile(rf"^{_CUE}|(?:^|(?<=\n\n))[^\n]+\n{_CUE}|^\d+$", re.MULTILINE)
_HEADER = re.compile(
    r"^(?:course|lesson) link\s*:.*$|^course (?:title|instructor)\s*:|^lesson \d+\s*:",
    re.IGNORECASE | re.MULTILINE,
)
_CUE_MARKUP = re.compile(r"<[^<>\n]{0,100}>|\{\\[^{}\n]{0,50}\}")
_NOTE = re.compile(
    r"^(?:NOTE|STYLE|REGION|WEBVTT)\b[^\n]*(?:\n(?!\n)[^\n]*)*", re.MULTILINE
)
_FRONT_MATTER = re.compile(
    r"---[ \t]*\n(.{0,20000}?\n)(?:---|\.\.\.)[ \t]*\n", re.DOTALL
)
# A field, including the lines of its list or text.
_FIELD = re.compile(
    r"^(?:title|subtitle|description|summary|excerpt|questions?|objectives|keypoints|tags|keywords)\s*:"
    r"(.*\n(?:(?:[ \t]+|-).*\n)*)",
    re.MULTILINE | re.IGNORECASE,
)
_MARKDOWN = re.compile(
    r"<!--.{0,20000}?-->|</?[a-zA-Z][^<>]{0,200000}>"
    r"|!\[[^\]\n]*\](?:\([^)\n]*\)|\[[^\]\n]*\])?|\]\([^)\n]{0,2000}\)|\]\[[^\]\n]*\]|^ {0,3}\[[^\]\n]+\]:[^\n]*$"
    r"|^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[[^\]\n]*\]\(#[^)\n]*\)[ \t]*$|\{[\w:+-]{1,40}\}(?=`)"
    r"|\{%[^%]{0,1000}%\}|\{\{[^{}]{0,1000}\}\}|(?<!\w):[a-z0-9_+-]{2,40}:(?!\w)"
    r"|^(?:```|~~~)[^\n]*$|https?://\S+",
    re.MULTILINE | re.DOTALL,
)
_ANSI = re.compile(r"\x1b\[[\d;]*m")
_OBJECT = re.compile(r"\A\s*<[^\n]*>\s*\Z")


def decoded(data: bytes) -> str:
    """Decodes a text by its byte order mark, as UTF-8, or by its declaration; returns an empty text if all fail."""
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
                root = etree.fromstring(archive.read(name), parser)
                _leave_categories_once(root)
                parts.append("".join(_runs(root)))
    return "\n".join(parts)


def _leave_categories_once(root: etree._Element) -> None:
    """Removes the categories from a chart's series that an earlier series has already."""
    said: set[str] = set()
    for element in list(root.iter("{*}cat", "{*}xVal")):
        categories = "\n".join(each.text or "" for each in element.iter("{*}v"))
        if categories in said:
            element.clear()
        said.add(categories)


def _runs(element: etree._Element) -> Iterator[str]:
    name = element.tag.rpartition("}")[2]
    if _is_unseen(element):
        return
    # The pieces of a formula are set apart, above or below each other.
    is_formula = element.tag.endswith("/math}t")
    end = "\n" if name in _BREAKS or is_formula else ""
    # ODT may have text in any element; Office has special elements for it.
    is_odt = "opendocument" in element.tag
    yield end
    if is_odt or _TEXT.fullmatch(element.tag):
        yield _as_shown(element.text or "", element.tag.endswith("}v"))
    for child in element:
        yield from _runs(child)
        if is_odt:
            yield child.tail or ""
    yield end


def _as_shown(text: str, is_value: bool) -> str:
    """Returns a text; a chart's value loses the digits that only the file has: 4.4000000000000004 becomes 4.4."""
    try:
        return f"{float(text):.12g}" if is_value else text
    except ValueError:
        return text


def _is_unseen(run: etree._Element) -> bool:
    """Returns True for deleted text, a Word run hidden by its own properties, and a slide number."""
    if run.tag.rpartition("}")[2] in _UNSHOWN:
        return True
    if not run.tag.endswith("}r"):
        return bool(run.get("type") == "slidenum")
    for properties in run:
        if properties.tag.endswith("}rPr"):
            for each in properties:
                value = next(iter(each.attrib.values()), "1")
                if each.tag.endswith("}vanish") and value not in ("0", "false", "off"):
                    return True
    return False


def page_text(data: bytes) -> str:
    """Returns the text that a web page shows."""
    return shown(decoded(data))


def book_text(data: bytes) -> str:
    """Returns the text that the pages of an EPUB show, in reading order."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if name.endswith(".opf")]
        package = etree.fromstring(archive.read(names[0]))
        files = {
            item.get("id"): item.get("href")
            for item in package.iterfind("{*}manifest/{*}item")
        }
        folder = PurePosixPath(names[0]).parent
        pages = []
        for reference in package.iterfind("{*}spine/{*}itemref"):
            name = str(folder / str(files.get(reference.get("idref"))))
            pages.append(shown(decoded(archive.read(unquote(name)))))
    return "\n".join(pages)


def notebook_text(data: bytes) -> str:
    """Returns the sources and the printed output of a notebook's cells."""
    book = json.loads(decoded(data))
    cells = book.get("cells") or [
        cell for sheet in book.get("worksheets", []) for cell in sheet.get("cells", [])
    ]
    parts = []
    for cell in cells:
        text = _joined(cell.get("source", cell.get("input", "")))
        is_text = cell.get("cell_type") != "code"
        parts.append(_without_markup(text) if is_text else text)
        parts += [_printed(output) for output in cell.get("outputs", [])]
    return "\n".join(parts)


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)


def _printed(output: dict[str, Any]) -> str:
    """Returns the visible text of an output; a picture's text alternative does not count, because nobody sees it."""
    if output.get("name", output.get("stream")) == "stderr":
        return ""
    data = output.get("data", output)
    if any(name.startswith("image/") or name in ("png", "svg") for name in data):
        return ""
    if "text/html" in data:
        return shown(_joined(data["text/html"]))
    text = _joined(data.get("text/plain", data.get("text", "")))
    return _OBJECT.sub("", _ANSI.sub("", text))


def markdown_text(data: bytes) -> str:
    """Returns the text that a site shows of Markdown, after the front matter's fields for people."""
    text = decoded(data).replace("\r\n", "\n")
    found = _FRONT_MATTER.match(text)
    if found is None:
        return _without_markup(text)
    plain = _without_markup(text[found.end() :])
    fields = [match[1].strip() for match in _FIELD.finditer(found[1])]
    # A title often appears above the text too: it counts once.
    return "\n".join([*(field for field in fields if field not in plain), plain])


def _without_markup(text: str) -> str:
    return html.unescape(_MARKDOWN.sub(" ", text))


def script_text(data: bytes) -> str:
    """Returns a text without the words that only mark titles."""
    return _HEADER.sub(" ", decoded(data))


def cue_text(data: bytes) -> str:
    """Returns the lines of a transcript; a line that rolls up counts once."""
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
"""The function that finds the text of each format; PDF uses `PDF_READERS` instead."""
PDF_READERS = ("pdfium", "pypdf", "pdfminer")


def reference_text(path: Path) -> str:
    """Returns the text of a file with markup; empty if it is broken."""
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
