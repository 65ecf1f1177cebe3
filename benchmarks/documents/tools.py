"""Reads a file with one tool for each request on standard input, and answers with a line of JSON.

It is a separate program that imports nothing from this package: it runs in the interpreter that has the tool, and with
the checkout of our code that `PYTHONPATH` names.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from itertools import groupby
from typing import Any

PAGE_END = "\f"

Tool = Callable[[str], str]


def _heading(mark: Any) -> str:
    return str(mark.heading)


def _antiphon() -> Tool:
    """Our reader: title, lessons, headings and text of the document as indexed."""
    loading = import_module("antiphon.knowledge.loading")

    def read(path: str) -> str:
        document = loading.load_document(path)
        parts = [document.title]
        for section in document.sections:
            headings = [heading for heading, _ in groupby(section.marks, _heading)]
            number = "" if section.number is None else str(section.number)
            parts += [number, section.title, *headings, section.text]
        return "\n\n".join(parts)

    return read


def _markitdown() -> Tool:
    converter = import_module("markitdown").MarkItDown()
    return lambda path: str(converter.convert(path).text_content)


def _docling() -> Tool:
    """Docling; for PDF only its parser, because its layout needs a separate model."""
    converter = import_module("docling.document_converter").DocumentConverter()
    parser = import_module("docling_parse.pdf_parser").DoclingPdfParser()
    unit = import_module("docling_core.types.doc.page").TextCellUnit.LINE

    def read(path: str) -> str:
        if not path.lower().endswith(".pdf"):
            return str(converter.convert(path).document.export_to_markdown())
        pages = []
        for _, page in parser.load(path).iterate_pages():
            pages.append("\n".join(c.text for c in page.iterate_cells(unit)))
        return PAGE_END.join(pages)

    return read


def _pdfium() -> Tool:
    pdfium = import_module("pypdfium2")

    def page(document: Any, number: int) -> str:
        return str(document[number].get_textpage().get_text_range())

    def read(path: str) -> str:
        document = pdfium.PdfDocument(path)
        text = _pages(document, len(document), page)
        return text.replace("\r\n", "\n").replace("\ufffe", "-\n")

    return read


def _pypdf() -> Tool:
    pypdf = import_module("pypdf")

    def page(document: Any, number: int) -> str:
        return str(document.pages[number].extract_text())

    def read(path: str) -> str:
        document = pypdf.PdfReader(path)
        if document.is_encrypted:
            document.decrypt("")
        return _pages(document, len(document.pages), page)

    return read


def _pdfminer() -> Tool:
    extract = import_module("pdfminer.high_level").extract_text
    return lambda path: str(extract(path))


def _pages(document: Any, count: int, page: Callable[[Any, int], str]) -> str:
    """Returns the text of all pages that a tool can read."""
    pages = []
    for number in range(count):
        try:
            pages.append(page(document, number))
        except Exception:  # noqa: BLE001 - a tool may fail on a broken page
            pages.append("")
    return PAGE_END.join(pages)


TOOLS: dict[str, Callable[[], Tool]] = {
    "antiphon": _antiphon,
    "markitdown": _markitdown,
    "docling": _docling,
    "pdfium": _pdfium,
    "pypdf": _pypdf,
    "pdfminer": _pdfminer,
}


def main() -> None:
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    # Keeps the output of libraries from getting between the replies.
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    read = TOOLS[sys.argv[1]]()
    for line in sys.stdin:
        started = time.process_time()
        reply: dict[str, object] = {}
        try:
            reply["text"] = read(json.loads(line))
        except Exception as error:  # noqa: BLE001 - any error of a tool is its answer
            reply["refused"] = (
                f"{getattr(error, 'reason', None) or f'{type(error).__name__}: {error}'}"[
                    :300
                ]
            )
        reply["seconds"] = time.process_time() - started
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
