"""Two hundred broken and hostile documents, generated from a seed: none of them is stored anywhere."""

from __future__ import annotations

import json
import random
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import fpdf

from tests.document_files import MADE, pdf, slides, vtt, word
from tests.pdf_files import pdf_of_objects

COUNT = 200
_WORD = b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'


class HostileFile(NamedTuple):
    """A file; `reason` is part of the required error, or None if any outcome except a hang is right."""

    name: str
    data: bytes
    reason: str | None = None


def hostile_files(seed: int) -> list[HostileFile]:
    """Returns the files: each kind of attack once, then valid ones damaged at random until there are `COUNT`."""
    files = list(_attacks())
    chance = random.Random(seed)
    originals = {suffix: make() for suffix, make in MADE.items()}
    while len(files) < COUNT:
        suffix = chance.choice(list(originals))
        damaged = _damaged(originals[suffix], chance)
        files.append(HostileFile(f"damaged{len(files)}{suffix}", damaged))
    return files


def write_all(folder: Path, files: list[HostileFile]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        (folder / file.name).write_bytes(file.data)


def _attacks() -> Iterator[HostileFile]:
    for suffix in MADE:
        yield HostileFile(f"empty{suffix}", b"", "")
        yield HostileFile(f"nul{suffix}", b"\0" * 5_000, "")
        yield HostileFile(f"random{suffix}", random.Random(7).randbytes(20_000), "")
    for suffix in (".pdf", ".docx", ".pptx", ".ipynb", ".txt", ".md"):
        yield HostileFile(f"image{suffix}", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "")
    yield HostileFile("word.epub", word(), "not an EPUB book")
    yield HostileFile("slides.docx", slides(), "not a Word document")
    yield HostileFile("word.pptx", word(), "not a presentation")
    yield HostileFile("word.pdf", word(), "it looks like a ZIP archive")
    yield HostileFile("pdf.docx", pdf(), "it looks like a PDF file")
    yield HostileFile("old.docx", b"\xd0\xcf\x11\xe0" + bytes(600), "encrypted")
    yield HostileFile("locked.pdf", _locked_pdf(), "encrypted")
    yield from _bombs()
    yield from _nested()
    yield from _endless()


def _bombs() -> Iterator[HostileFile]:
    """Files that grow when unpacked."""
    bomb = {"word/document.xml": b" " * 500_000_000}
    yield HostileFile("bomb.docx", _zipped(bomb), "unpacks to")
    entries = {"META-INF/container.xml": b"<a/>", "a.xhtml": b" " * 70_000_000}
    yield HostileFile("bomb.epub", _zipped(entries), "unpacks to")
    many = {f"ppt/{number}": b"" for number in range(10_001)}
    many["ppt/presentation.xml"] = b"<p/>"
    yield HostileFile("entries.pptx", _zipped(many), "entries")
    yield HostileFile("lies.docx", _lying(_with_document(bytes(10**8))))
    yield HostileFile("laughs.docx", _with_document(_billion_laughs()), "")
    yield HostileFile("outside.docx", _with_document(_outside_entity()), "")
    yield HostileFile("picture.docx", _with_picture(), None)
    stream = zlib.compress(b"BT (a) Tj ET " * 30_000_000, 9)
    yield HostileFile("stream.pdf", _pdf_of_stream(stream))
    aliases = "\n".join(
        f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 9)}]"
        for number in range(1, 30)
    )
    laughs = f"---\na0: &a0 lol\n{aliases}\ntitle: x\n---\nSome text.\n"
    yield HostileFile("aliases.md", laughs.encode())


def _nested() -> Iterator[HostileFile]:
    """Files nested deeper than a call stack."""
    deep = 200_000
    yield HostileFile("deep.ipynb", b"[" * deep + b"]" * deep, "")
    yield HostileFile("deep.html", b"<div>" * deep + b"text", "nested too deeply")
    yield HostileFile("lists.html", b"<ul><li>" * 50_000 + b"text")
    yield HostileFile("deep.md", b"> " * 50_000 + b"text")
    yield HostileFile("brackets.md", b"[" * 100_000 + b"text")
    yield HostileFile("stars.md", b"*a_ " * 100_000)
    xml = _WORD + b"<w:p>" * deep + b"</w:p>" * deep + b"</w:document>"
    yield HostileFile("deep.docx", _with_document(xml), "")
    yield HostileFile("pages.pdf", _pdf_of_pages(deep=3_000))
    yield HostileFile("circle.pdf", _pdf_of_pages(deep=0))
    yield HostileFile("kids.pdf", _pdf_of_kids(100_000, count=100_000), "at most")
    yield HostileFile("count.pdf", _pdf_of_kids(1, count=4_999), "")
    yield HostileFile("outline.pdf", _pdf_of_outline(), "")
    yield HostileFile("components.mdx", b"</A>" + b"<A x={{" * 50_000)
    yield HostileFile("directives.md", b"````{note}\n" * 50_000)
    yield HostileFile("boxes.md", _boxes(deep=2_000))
    yield HostileFile("layout.html", b"<table><tr><td>" * 80 + b"<p>x</p>" * 5_000)
    yield HostileFile("asides.html", b"<aside>" * 200 + b"<a>x</a>y" * 20_000)
    yield HostileFile("formula.html", b"<math>" + b"<mrow>" * 200 + b"<mi>x" * 20_000)
    yield HostileFile("front.md", b"---\nx: " + b"[" * 19_000 + b"\n---\ntext\n")


def _boxes(deep: int) -> bytes:
    """Markdown admonitions nested `deep` levels, three times over."""
    lines = [b" " * (4 * (number % deep)) + b"!!! a" for number in range(3 * deep)]
    return b"\n".join(lines)


def _endless() -> Iterator[HostileFile]:
    """Files that go on for ever."""
    cues = "".join(
        f"\n\n{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000 --> 99:59:59.000\nmore"
        for number in range(100_000)
    )
    yield HostileFile("endless.vtt", f"WEBVTT{cues}".encode())
    yield HostileFile("backwards.vtt", vtt().replace(b"00:12:05", b"99:99:99"))
    yield HostileFile("arrows.srt", b"1\n" + b"-->" * 300_000, "")
    yield HostileFile("line.txt", b"a" * 5_000_000)
    yield HostileFile("lessons.txt", b"Lesson 1: A\n" * 100_000, "no text")
    yield HostileFile("dashes.md", b"- \n" * 100_000)
    yield HostileFile("table.md", b"|a" * 50_000 + b"\n" + b"|-" * 50_000 + b"\n")
    yield HostileFile("tags.md", b"{% raw %}{{ $$ :a: [[ `" * 20_000)
    yield HostileFile("rows.md", b"<table>" + b"<tr>" * 20_000)
    yield HostileFile("declared.html", b"<meta charset" * 100_000, "")
    yield HostileFile("letter.html", b"MIME-Version: 1.0\nA: b\n" + b"--b\n\n" * 20_000)
    yield HostileFile(
        "latin.txt", "\u017c\xf3\u0142\u0107 ".encode("iso8859-2") * 500_000
    )
    yield HostileFile("times.srt", b"1:1,1 --> 1:1,1\n" * 50_000)
    yield HostileFile("numbers.srt", b"1\n" * 200_000, "")
    cell = {"cell_type": "markdown", "source": ["x"]}
    yield HostileFile("cells.ipynb", json.dumps({"cells": [cell] * 20_000}).encode())
    printed = {"output_type": "stream", "text": "a" * 2_000_000}
    coded = {"cell_type": "code", "source": "x", "outputs": [printed]}
    yield HostileFile("output.ipynb", json.dumps({"cells": [coded]}).encode())
    yield HostileFile("types.ipynb", json.dumps({"cells": [1, None, {}]}).encode(), "")
    yield HostileFile("surrogate.ipynb", b'{"cells": [{"source": "\\ud800"}]}')


def _damaged(data: bytes, chance: random.Random) -> bytes:
    """A file cut short, with bytes changed, or with a part of it moved."""
    kind = chance.choice(("cut", "bytes", "moved"))
    if kind == "cut":
        return data[: chance.randrange(len(data))]
    damaged = bytearray(data)
    if kind == "bytes":
        for _ in range(chance.randint(1, 200)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        return bytes(damaged)
    start = chance.randrange(len(data))
    part = data[start : start + chance.randint(1, 5_000)]
    at = chance.randrange(len(data))
    damaged[at:at] = part
    return bytes(damaged)


def _zipped(entries: dict[str, bytes]) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return file.getvalue()


def _lying(archive: bytes) -> bytes:
    """An archive that claims that its entries are small."""
    return archive.replace((10**8).to_bytes(4, "little"), (100).to_bytes(4, "little"))


def _with_document(xml: bytes) -> bytes:
    """A Word document with another text."""
    return _replaced(word(), "word/document.xml", xml)


def _with_picture() -> bytes:
    """A Word document with a picture of two hundred megabytes that no reader needs."""
    return _replaced(word(), "word/media/image1.png", bytes(200_000_000))


def _replaced(archive: bytes, name: str, data: bytes) -> bytes:
    entries = {}
    with zipfile.ZipFile(BytesIO(archive)) as found:
        for entry in found.namelist():
            entries[entry] = found.read(entry)
    entries[name] = data
    return _zipped(entries)


def _billion_laughs() -> bytes:
    names = [f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12)]
    return (
        f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "lol">{"".join(names)}]>'
        f"{_WORD.decode()}<w:body><w:p><w:r><w:t>&l11;</w:t></w:r></w:p></w:body></w:document>"
    ).encode()


def _outside_entity() -> bytes:
    return (
        b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
        + _WORD
        + b"<w:body><w:p><w:r><w:t>&f;</w:t></w:r></w:p></w:body></w:document>"
    )


def _locked_pdf() -> bytes:
    document = fpdf.FPDF()
    document.set_encryption(owner_password="owner", user_password="user")
    document.set_font("Helvetica", size=12)
    document.add_page()
    document.multi_cell(0, text="Secret.")
    return bytes(document.output())


def _pdf_of_stream(stream: bytes) -> bytes:
    return pdf_of_objects(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/Contents 4 0 R/MediaBox[0 0 9 9]>>",
            b"<</Filter/FlateDecode/Length %d>>stream\n%s\nendstream"
            % (len(stream), stream),
        ]
    )


def _pdf_of_pages(deep: int) -> bytes:
    """A PDF whose page tree has this depth; with 0 it leads back to itself."""
    objects = [b"<</Type/Catalog/Pages 2 0 R>>"]
    for number in range(2, deep + 2):
        objects.append(b"<</Type/Pages/Kids[%d 0 R]/Count 1>>" % (number + 1))
    objects.append(b"<</Type/Pages/Kids[2 0 R]/Count 9999999>>")
    return pdf_of_objects(objects)


def _pdf_of_kids(kids: int, count: int) -> bytes:
    """A PDF with a flat list of `kids` empty pages that claims to have `count`."""
    row = b"4 0 R " * kids
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>"
    tree = b"<</Type/Pages/Kids[%s]/Count %d>>" % (row, count)
    return pdf_of_objects([b"<</Type/Catalog/Pages 2 0 R>>", tree, b"<<>>", page])


def _pdf_of_outline() -> bytes:
    """A PDF of one page, whose outline leads back to itself."""
    entry = b"<</Title(A)/Parent 5 0 R/First 6 0 R/Next 7 0 R/Dest[4 0 R/Fit]>>"
    return pdf_of_objects(
        [
            b"<</Type/Catalog/Pages 2 0 R/Outlines 5 0 R>>",
            b"<</Type/Pages/Kids[4 0 R]/Count 1>>",
            b"<<>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>",
            b"<</Type/Outlines/First 6 0 R/Last 7 0 R/Count 2>>",
            entry,
            entry.replace(b"7 0 R", b"6 0 R"),
        ]
    )


def _doubled(form: str) -> str:
    """Returns lines of YAML, each of which repeats the previous one twice: the last is a billion values."""
    lines = ["a0: &a0 {x: 1}\n"]
    for at in range(1, 31):
        lines.append(f"a{at}: &a{at} {form.format(before=f'*a{at - 1}', at=at)}\n")
    return "".join([*lines, "nav: *a30\n"])


YAML_BOMBS = {
    "lists": _doubled("[{before}, {before}]"),
    "mappings": _doubled("{{l: {before}, r: {before}}}"),
    "merged": _doubled("{{<<: [{before}, {before}], k{at}: 1}}"),
    "endless": "nav: &nav [*nav, a.md]\n",
    "endless mapping": "nav: &nav {a: [{b: *nav}]}\n",
}
