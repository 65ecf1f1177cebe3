# ruff: noqa: E501 - files are easier to read on one line
"""The words that real files are measured by: each format's own, and none of what nobody reads."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from benchmarks.documents.__main__ import files_in, measure, references, row
from benchmarks.documents.references import REFERENCES
from benchmarks.documents.running import Program
from benchmarks.documents.words import (
    agreed,
    garbage,
    missing,
    without_running,
    words,
)
from tests.document_files import FIRST, MADE, SECOND, write_document

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'

A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
C = 'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'


def zipped(**parts: str) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name.replace("__", "/") + ".xml", text)
    return file.getvalue()


READ = [
    (
        ".docx",
        zipped(
            word__document=f"<w:document {W}><w:p><w:r><w:t>wa</w:t></w:r><w:r><w:t>rm</w:t></w:r></w:p>"
            "<w:del><w:r><w:t>gone</w:t></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins>"
            "<w:r><w:rPr><w:vanish/></w:rPr><w:t>unseen</w:t></w:r>"
            '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t> seen</w:t></w:r></w:document>',
            word__footnotes=f"<w:footnotes {W}><w:p><w:r><w:t>a note</w:t></w:r></w:p></w:footnotes>",
            word__header1=f"<w:hdr {W}><w:p><w:r><w:t>every page</w:t></w:r></w:p></w:hdr>",
        ),
        "warm new seen a note",
    ),
    (
        ".html",
        b"<title>T</title><nav>home</nav><p>One <b>tw</b>o.<script>no()</script><p hidden>no</p><p>&amp; three</p>",
        "one two three",
    ),
    (
        ".html",
        b"<p>no</p><main><h1>One</h1><ul><li><a>no</a><li><a>no</a><li><a>no</a></ul><p>two <a>three</a></main>",
        "one two three",
    ),
    (
        ".pptx",
        zipped(
            ppt__charts__chart1=f"<c:chart {C}><c:ser><c:cat><c:pt><c:v>1999</c:v></c:pt></c:cat><c:val><c:pt><c:v>4.0</c:v></c:pt></c:val></c:ser>"
            "<c:ser><c:cat><c:pt><c:v>1999</c:v></c:pt></c:cat><c:val><c:pt><c:v>2.5000000000000004</c:v></c:pt></c:val></c:ser></c:chart>",
            ppt__slides__slide1=f'<a:p {A}><a:fld type="slidenum"><a:t>7</a:t></a:fld><a:r><a:t>end</a:t></a:r></a:p>',
        ),
        "1999 4 2 5 end",
    ),
    (
        ".ipynb",
        json.dumps({"cells": [
            {"cell_type": "markdown", "source": ["# A [link](http://no.example)"]},
            {"cell_type": "code", "source": "x = 1", "outputs": [
                {"name": "stdout", "text": ["printed\n"]},
                {"name": "stderr", "text": "no"},
                {"data": {"image/png": "no", "text/plain": "no"}},
                {"data": {"text/html": "<b>shown</b>", "text/plain": "no"}},
                {"data": {"text/plain": "<no at 0x1>"}},
            ]},
        ]}).encode(),
        "a link x 1 printed shown",
    ),
    (
        ".md",
        b"---\ntitle: One\nlayout: no\ntags:\n  - ropes\n---\n# One\n\n```python\ntwo\n```\n![no](no.png) <b>three</b> <!-- no -->"
        b"\n[four][no] &#39; {% no %} :no: [![no](no.svg)](no)\n\n[no]: no",
        "ropes one two three four",
    ),
    (".txt", b"Course Title: One\nLesson 1: Two\nthree", "one two three"),
    (
        ".vtt",
        b"WEBVTT\n\nNOTE no\n\nno-1a\n00:01.000 --> 00:02.000\n<v Ada>One\n\n00:02.000 --> 00:03.000\nOne\ntwo &amp; three",
        "one two three",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("suffix", "data", "expected"), READ)
def test_the_words_of_a_file_are_those_that_people_read(
    suffix: str, data: bytes, expected: str
) -> None:
    assert " ".join(words(REFERENCES[suffix](data))) == expected


def test_a_word_is_missing_as_often_as_it_was_not_found() -> None:
    reference = words("the log, the log and the web-\npage \ufb01le")

    assert missing(reference, words("The log and the Webpage file.")) == ["the", "log"]
    assert missing(words("webpage"), words("a web page")) == []
    assert missing(words("Nort h Buon a, h"), words("North Buona")) == ["h"]
    assert words("\u6f22\u5b57 kanji") == ["\u6f22", "\u5b57", "kanji"]


def test_a_pdf_holds_the_words_on_which_two_of_three_readers_agree() -> None:
    texts = [["a", "b", "b"], ["a", "b", "x"], ["a", "ab", "b", "b"]]

    assert agreed(texts) == ["a", "b", "b"]
    pages = "\f".join(f"Title\nText {'abcd'[n]}\n{n}" for n in range(4))
    assert words(without_running(pages)) == words("title text a 0 text b text c text d")


def test_passages_without_meaning_are_counted() -> None:
    assert (
        garbage("A line.\n\ue001\ue002\ue003 \x05\n/G01/G02/G03\nA \uf0b7 bullet") == 2
    )


@pytest.mark.parametrize("suffix", MADE)
def test_what_the_reader_keeps_of_a_file_is_measured(
    suffix: str, tmp_path: Path
) -> None:
    paths = [write_document(tmp_path, suffix), tmp_path / f"broken{suffix}"]
    paths[1].write_bytes(b"\0")
    (tmp_path / "picture.png").write_bytes(b"no document")
    known = references(suffix, paths, [Program("pdfium"), Program("pypdf")])

    found = files_in([tmp_path])
    readings = measure(Program("antiphon"), sorted(paths), known[::-1])

    assert found == {suffix: sorted(paths)}
    assert len(known[0]) >= len(words(f"{FIRST} {SECOND}"))
    assert [each.kept for each in readings] == [1.0, 1.0]
    assert row(suffix, "antiphon", readings)[1:7] == [
        "antiphon", "2", "1", "1", "100.00 %", "100.0 %",
    ]  # fmt: skip


def test_a_tool_that_is_not_installed_is_left_out() -> None:
    assert not Program("no such tool").is_there()
