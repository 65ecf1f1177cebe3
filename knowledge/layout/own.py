"""Reads our own table of contents, `course.yaml`, and reports the parts of it that cannot be followed."""

from __future__ import annotations

import posixpath

from antiphon.knowledge.layout.entries import Entries, first_text, mapping, persons
from antiphon.knowledge.layout.leaving_out import is_left_out
from antiphon.knowledge.layout.listing import Listing
from antiphon.knowledge.layout.navigation import Navigation
from antiphon.knowledge.readers.yaml_values import flaw_in, parsed

COURSE_FILE = "course.yaml"
STORED = "in the layout that is stored for its folder: "
_MOST_NAMED = 5


def own(listing: Listing, folder: str) -> Navigation:
    """Reads the `course.yaml` of a folder: title, link, instructor, lessons, outside, leave_out."""
    return _navigation(listing, folder, _text(listing, folder), COURSE_FILE)


def stored_navigation(listing: Listing, folder: str) -> Navigation:
    """Returns the stored table of contents of a folder, written by its owner."""
    return _navigation(listing, folder, listing.stored[folder], "its layout")


def _text(listing: Listing, folder: str) -> str:
    return listing.text(posixpath.join(folder, COURSE_FILE))


def _navigation(listing: Listing, folder: str, text: str, source: str) -> Navigation:
    fields = mapping(parsed(text))
    leave_out = fields.get("leave_out")
    patterns = leave_out if isinstance(leave_out, list) else [leave_out]
    reading = Entries(listing, folder, keeps_folders=True)
    said = Navigation(
        source=source,
        folder=folder,
        entries=reading.entries(fields.get("lessons")),
        title=first_text(fields, "title"),
        link=first_text(fields, "link", "url"),
        instructor=persons(fields.get("instructor")),
        groups_are_lessons=True,
        is_own=True,
        leave_out=tuple([each for each in patterns if isinstance(each, str)]),
    )
    outside = [
        each._replace(is_outside=True)
        for each in reading.entries(fields.get("outside"))
        if not is_left_out(each.file, said)
    ]
    return said._replace(entries=(*said.entries, *outside))


def own_flaw(listing: Listing, folder: str) -> str:
    """Describes the parts of a folder's `course.yaml`, or of the stored one, that cannot be followed."""
    if folder in listing.stored:
        flaw = _flaw_of(listing, folder, listing.stored[folder])
        return flaw and f"{STORED}{flaw}"
    if listing.has(posixpath.join(folder, COURSE_FILE)):
        return _flaw_of(listing, folder, _text(listing, folder))
    return ""


def _flaw_of(listing: Listing, folder: str, text: str) -> str:
    flaw = flaw_in(text)
    if flaw:
        return f"it is not well-formed YAML ({flaw}); docs/documents.md shows one"
    lessons = mapping(parsed(text)).get("lessons")
    if not isinstance(lessons, list) or not lessons:
        return "it has no list `lessons`, which names the files in their order"
    reading = Entries(listing, folder, keeps_folders=True)
    reading.entries(lessons)
    missing = reading.missing
    if not missing:
        return ""
    named = ", ".join(repr(each) for each in missing[:_MOST_NAMED])
    more = f" and {len(missing) - _MOST_NAMED} more" if missing[_MOST_NAMED:] else ""
    return f"its `lessons` name what is no document of its folder: {named}{more}"
