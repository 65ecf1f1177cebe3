"""Makes titles from the names of files and folders, and recognises texts that are no titles."""

from __future__ import annotations

import re

from antiphon.knowledge.readers.content import LONGEST_TITLE

_NO_NAMES = frozenset(["readme", "index", "_index", "untitled", "default", "output"])
_NO_TITLES = _NO_NAMES | frozenset(
    [
        "document",
        "robots",
        "slides",
        "slide",
        "presentation",
        "requirements",
        "home",
        "page",
        "title",
        "none",
        "null",
    ]
)
# Titles that programs write if nobody did: "Microsoft Word - Document1", "PowerPoint Presentation".
_OF_PROGRAMS = re.compile(
    r"(microsoft (word|powerpoint|excel)\b.{0,20}|powerpoint[- ]pr[a-zäé]{1,3}sentation"
    r"|pr[a-zäé]{1,3}sentation powerpoint|untitled( document)?[ _-]?\d{0,3}|(document|presentation|slide) ?\d{1,3}"
    r"|no title|layout 1|.{0,80}\.(dvi|indd|qxd)|[a-z]:[\\/].{0,300}|/(home|users|tmp|var|mnt)/.{0,300}|file:.{0,300})",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(r"\{\{|\{%|<%|\$\{")
# The prefix that a program puts before a file's name: "Microsoft Word - Chapter 3.doc".
_PREFIX = re.compile(r"microsoft (word|powerpoint) - ", re.IGNORECASE)
_ENDING = re.compile(r"\.(docx?|pptx?|rtf|odt|tex|pdf|html?|md)$", re.IGNORECASE)
# The remains of translation tools before a title.
_ORDER = re.compile(r"!translate\s+")
# Pandoc's attributes of a heading: "Joins {#sec-joins .unnumbered}".
_ATTRIBUTES = re.compile(r"\s{0,20}\{[#.-][^{}]{0,200}\}$")

# Other texts in the title field of a file's properties: "(anonymous)", "Binder1.pdf", "report_final_2".
_FILES = "pdf|docx?|pptx?|xlsx?|od[tps]|rtf|txt|tex|dvi|e?ps|indd|qxd|pub|html?|png|jpe?g|tiff?|exe|dwg|vsdx?|md"
_NO_TITLE = re.compile(
    r"\(?(?:anonymous|untitled|no title|title)\)?|[^\w]+|(?:book|binder) ?[0-9]{0,3}"
    rf"|(?!microsoft )[^ ].{{0,200}}\.(?:{_FILES})|/.{{0,300}}|\S{{0,200}}_\S{{0,200}}|[0-9 .,;:_-]{{6,100}}",
    re.IGNORECASE,
)


def plain_name(name: str) -> str:
    """Returns a name as words."""
    return " ".join(name.replace("_", " ").replace("-", " ").split())


def is_name(stem: str) -> bool:
    """Returns False for a file's name, without its ending, that says nothing about the content: "Untitled"."""
    plain = stem.strip().casefold()
    return plain not in _NO_NAMES and _OF_PROGRAMS.fullmatch(plain) is None


def is_title(text: str) -> bool:
    """Returns False for a text in place of a title that says nothing: "README", "{{ page.title }}"."""
    plain = text.strip().casefold()
    if not plain or plain in _NO_TITLES or _TEMPLATE.search(plain):
        return False
    return _OF_PROGRAMS.fullmatch(plain) is None


def is_no_title(text: str) -> bool:
    """Returns True for a title that a program wrote into a file's properties: a file's name, or "untitled".

    Titles on the page are written by people, sometimes like these, so for them only `is_title` decides.
    """
    plain = text.strip()
    is_written = len(plain) <= LONGEST_TITLE and _NO_TITLE.fullmatch(plain) is None
    return not is_written or not as_title(plain)


def as_title(text: str) -> str:
    """Returns a text as a title, without the additions of programs; empty if nothing is left."""
    plain = _ORDER.sub("", " ".join(text.split()), count=1)
    plain = _ATTRIBUTES.sub("", plain)
    found = _PREFIX.match(plain)
    if found is not None:
        plain = _ENDING.sub("", plain[found.end() :])
    return plain if is_title(plain) else ""


def first_title(*texts: str | None) -> str:
    """Returns the first of the texts that is a title; empty if none is."""
    return next(filter(None, [as_title(text) for text in texts if text]), "")
