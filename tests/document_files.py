"""One small course in each format, written with that format's usual library."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import docx
import fpdf
import pptx
import webvtt

from tests.office_files import open_file

ABOUT = "https://courses.example/mailboxes"
FIRST = "A mailbox holds the letters of one receiver."
SECOND = "The zebrafish protocol names the nearest lighthouse."


def script() -> bytes:
    return (
        f"Course Title: Mailboxes\nCourse Link: {ABOUT}\n\nLesson 1: Letters\n{FIRST}\n\n"
        f"Lesson 2: Lighthouses\nLesson Link: {ABOUT}/2\n{SECOND}\n"
    ).encode()


def markdown() -> bytes:
    return (
        f"---\ntitle: Mailboxes\nlink: {ABOUT}\n---\n# Mailboxes\n\n## Letters\n\n{FIRST}\n\n"
        f"## Lighthouses\n\nSome words come first.\n\n### Protocols\n\n{SECOND}\n"
    ).encode()


def web_page() -> bytes:
    return (
        f"<!doctype html><html><head><title>Site</title><link rel=canonical href='{ABOUT}'></head><body>"
        f"<nav>Home</nav><h1>Mailboxes</h1><h2>Letters</h2><p>{FIRST}</p><h2>Lighthouses</h2>"
        f"<h3 id=protocols>Protocols</h3><p>{SECOND}</p><script>evil()</script></body></html>"
    ).encode()


def pdf() -> bytes:
    document = fpdf.FPDF()
    document.set_title("Mailboxes")
    document.set_font("Helvetica", size=12)
    for text in (FIRST, "A page between.", SECOND):
        document.add_page()
        document.multi_cell(0, text=text)
    return bytes(document.output())


def word() -> bytes:
    document = docx.Document()
    document.add_paragraph("Mailboxes", style="Title")
    document.add_heading("Letters", level=1)
    document.add_paragraph(FIRST)
    document.add_heading("Lighthouses", level=1)
    document.add_paragraph("Some words come first.")
    document.add_heading("Protocols", level=2)
    document.add_paragraph(SECOND)
    file = BytesIO()
    document.save(file)
    return file.getvalue()


def slides() -> bytes:
    presentation = pptx.Presentation()
    for title, text in (("Mailboxes", FIRST), ("Between", "-"), ("Protocols", SECOND)):
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        shapes = slide.shapes
        shapes.title.text = title
        shapes.placeholders[1].text = text
    file = BytesIO()
    presentation.save(file)
    return file.getvalue()


def open_text() -> bytes:
    return open_file(
        '<text:p text:style-name="Title">Mailboxes</text:p><text:h text:outline-level="1">Letters</text:h>'
        f'<text:p>{FIRST}</text:p><text:h text:outline-level="1">Lighthouses</text:h>'
        '<text:p>Some words come first.</text:p><text:h text:outline-level="2">Protocols</text:h>'
        f"<text:p>{SECOND}</text:p>"
    )


def open_slides() -> bytes:
    pages = []
    for title, text in (("Mailboxes", FIRST), ("Between", "-"), ("Protocols", SECOND)):
        pages.append(
            f'<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>{title}</text:p></draw:text-box>'
            f"</draw:frame><draw:frame><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame></draw:page>"
        )
    return open_file("".join(pages), "presentation")


def transcript() -> webvtt.WebVTT:
    """A transcript whose sentence begins in the middle of its second cue."""
    captions = webvtt.WebVTT()
    half = SECOND.index("names")
    for start, end, text in (
        ("00:00:00.000", "00:00:04.000", FIRST),
        ("00:12:05.000", "00:12:08.000", SECOND[:half].strip()),
        ("00:12:08.000", "00:12:12.000", SECOND[half:]),
    ):
        captions.captions.append(webvtt.Caption(start, end, text))
    return captions


def vtt() -> bytes:
    captions = transcript()
    captions.header_comments = [f"Course Title: Mailboxes\nCourse Link: {ABOUT}"]
    return captions.content.encode()


def srt() -> bytes:
    file = BytesIO()
    captions = transcript()
    lines = [f"Course Title: Mailboxes\nCourse Link: {ABOUT}\n"]
    for number, caption in enumerate(captions.captions, start=1):
        times = f"{caption.start} --> {caption.end}".replace(".", ",")
        lines.append(f"{number}\n{times}\n{caption.text}\n")
    file.write("\n".join(lines).encode())
    return file.getvalue()


def notebook() -> bytes:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Mailboxes\n", FIRST]},
        {
            "cell_type": "code",
            "metadata": {},
            "source": "letters = []",
            "outputs": [],
            "execution_count": None,
        },
        {"cell_type": "markdown", "metadata": {}, "source": [SECOND]},
    ]
    return json.dumps(
        {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    ).encode()


def epub() -> bytes:
    """A book whose first chapter has its title only in the table of contents."""
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/" version="3.0">'
        "<metadata><dc:title>Mailboxes</dc:title><dc:creator>Ada</dc:creator></metadata><manifest>"
        '<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        '<item id="b" href="text/b.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="a" href="text/a.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="n"/><itemref idref="a"/><itemref idref="b"/></spine></package>'
    )
    page = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>{}</body></html>'
    entries = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container><rootfiles><rootfile full-path="book/p.opf"/></rootfiles></container>',
        "book/p.opf": package,
        "book/nav.xhtml": page.format('<nav><a href="text/a.xhtml#start">Letters</a></nav>'),
        "book/text/a.xhtml": page.format(f"<p>{FIRST}</p>"),
        "book/text/b.xhtml": page.format(f"<h1>Lighthouses</h1><h2>Protocols</h2><p>{SECOND}</p>"),
    }  # fmt: skip
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in entries.items():
            archive.writestr(name, text)
    return file.getvalue()


MADE: dict[str, Callable[[], bytes]] = {
    ".txt": script,
    ".md": markdown,
    ".html": web_page,
    ".pdf": pdf,
    ".docx": word,
    ".pptx": slides,
    ".odt": open_text,
    ".odp": open_slides,
    ".vtt": vtt,
    ".srt": srt,
    ".ipynb": notebook,
    ".epub": epub,
}


def write_document(folder: Path, suffix: str) -> Path:
    """Writes the course in one format."""
    path = folder / f"mailboxes{suffix}"
    path.write_bytes(MADE[suffix]())
    return path
