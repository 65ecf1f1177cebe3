"""Finds the order of a course from the names of its files and folders, or from their front matter."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from antiphon.knowledge.layout.entries import first_text, mapping
from antiphon.knowledge.layout.furniture import translated, why_not_anywhere, why_not_in
from antiphon.knowledge.layout.listing import Listing, is_about, stem_of
from antiphon.knowledge.layout.navigation import MOST_LESSONS, Entry, Navigation
from antiphon.knowledge.layout.numbers import Numbered, number_of_name
from antiphon.knowledge.naming import is_name

_SHARE = 0.75
"""Least share of a published course's files that must have a number; in other folders all must."""
_SHARE_OF_FOLDERS = 0.5
"""Lower for folders, because others beside the numbered ones are usual, such as appendices."""
_COURSE_HEADER = re.compile(r"course title\s*:", re.IGNORECASE)
_ORDER_FIELDS = ("sidebar_position", "nav_order", "weight", "order", "lesson")
_MOST_DEPTH = 6
_LAST = float("inf")


class _Candidate(NamedTuple):
    """A file or folder with a number in its name, which may be a lesson."""

    path: str
    stem: str
    number: Numbered


def ordered(listing: Listing, folder: str, is_published: bool) -> Navigation | None:
    """Returns the order in a folder; None if there is none.

    Args:
        is_published: True for a repository, whose README describes the whole.
    """
    for find in (numbered_folders, numbered_files, by_front_matter):
        found = find(listing, folder, is_published)
        if found is not None:
            return found
    return None


def numbered_files(
    listing: Listing, folder: str, is_published: bool
) -> Navigation | None:
    """Finds files with names that begin with numbers, from 0 or 1 on, in a folder without other possible lessons."""
    paths = _files(listing, folder)
    numbered = _numbered(paths, False)
    share = _SHARE if is_published else 1
    if len(numbered) < share * len(paths):
        return None
    groups = _by_number(numbered, _says_what_it_is(listing, folder, is_published))
    if not groups or _is_script(listing, groups[min(groups)][0].path):
        return None
    entries = [_entry(groups[number]) for number in sorted(groups)]
    return Navigation(
        source="the names of its files",
        folder=folder,
        entries=tuple(_flat(entries)),
        beside=not is_published,
    )


def _is_script(listing: Listing, path: str) -> bool:
    """Returns True for a course script, which is a whole course by itself."""
    return _COURSE_HEADER.search(listing.head(path)[:4_096]) is not None


def _files(listing: Listing, folder: str) -> list[str]:
    """Returns the files that may be lessons; other formats, such as PDF, only if the name says so."""
    found: list[str] = []
    for name in listing.names(folder):
        path = posixpath.join(folder, name)
        if not listing.is_document(path) or _is_no_lesson(name):
            continue
        number = number_of_name(stem_of(name))
        says_so = number is not None and bool(number.word)
        if listing.may_be_lesson(path) or says_so:
            found.append(path)
    return found


def _is_no_lesson(name: str) -> bool:
    """Returns True for a file that is about its folder, without a name, furniture, or a translation."""
    stem = stem_of(name)
    if is_about(name) or not is_name(stem):
        return True
    return bool(why_not_anywhere(stem) or translated(stem))


def numbered_folders(
    listing: Listing, folder: str, is_published: bool
) -> Navigation | None:
    """Finds folders with names that begin with numbers, in a folder that describes the whole."""
    if not _says_what_it_is(listing, folder, is_published):
        return None
    paths = _folders(listing, folder)
    numbered = _numbered(paths, True)
    files = _numbered(_files(listing, folder), False)
    if len(numbered) < max(len(files), _SHARE_OF_FOLDERS * len(paths)):
        return None
    groups = _by_number([*numbered, *files], begins_anywhere=True)
    if not groups:
        return None
    return Navigation(
        source="the names of its folders",
        folder=folder,
        entries=tuple([_entry(groups[number]) for number in sorted(groups)]),
        takes_folders=True,
    )


def _folders(listing: Listing, folder: str) -> list[str]:
    """Returns the folders in a folder that hold documents."""
    found: list[str] = []
    for name in listing.folders(folder):
        path = posixpath.join(folder, name)
        if not why_not_in(name) and listing.documents(path):
            found.append(path)
    return found


def _numbered(paths: Sequence[str], is_folder: bool) -> list[_Candidate]:
    found: list[_Candidate] = []
    for path in paths:
        stem = posixpath.basename(path).strip() if is_folder else stem_of(path)
        number = number_of_name(stem)
        if number is not None:
            found.append(_Candidate(path, stem, number))
    return found


def _says_what_it_is(listing: Listing, folder: str, is_published: bool) -> bool:
    return is_published or bool(listing.about(folder))


def _by_number(
    candidates: Sequence[_Candidate], begins_anywhere: bool
) -> dict[int, list[_Candidate]]:
    """Groups candidates by number; empty if these cannot be the numbers of lessons.

    Args:
        begins_anywhere: True if they may be a part of a course, such as lessons 5 to 8, with few missing.
    """
    groups: dict[int, list[_Candidate]] = defaultdict(list)
    for each in candidates:
        groups[each.number.number].append(each)
    if not 2 <= len(groups) <= MOST_LESSONS:
        return {}
    are_close = max(groups) - min(groups) < 2 * len(groups)
    if min(groups) > 1 and not (begins_anywhere and are_close):
        return {}
    for group in groups.values():
        group.sort(key=lambda each: (each.number.place, each.path))
        if len(group) > 1 and not _is_one_lesson(group):
            return {}
    return dict(groups)


def _is_one_lesson(group: Sequence[_Candidate]) -> bool:
    """Returns True for parts of one lesson: "6A" and "6B", "1.0" and "1.1", slides and text of one name."""
    numbers = [each.number for each in group]
    if len({each.stem.lower() for each in group}) == 1:
        return True
    if all(number.word for number in numbers):
        return True
    return all(number.letter or number.more for number in numbers)


def _entry(group: Sequence[_Candidate]) -> Entry:
    below = tuple([Entry(file=each.path) for each in group])
    if len(below) == 1:
        return below[0]
    labels = "; ".join([_label(each.number) for each in group])
    title = labels if any(each.number.letter for each in group) else ""
    return Entry(title=title, file=below[0].file, entries=below[1:])


def _label(number: Numbered) -> str:
    return f"{number.number}{number.letter.upper()} {number.name}".strip()


def _flat(entries: Sequence[Entry]) -> list[Entry]:
    """Makes each file a lesson if most groups such as "1.1" and "1.2" lack a "1.0" that opens them."""
    opened = [each for each in entries if each.entries and _opens(each)]
    dotted = [each for each in entries if each.entries and _is_dotted(each)]
    if not dotted or 2 * len(opened) >= len(dotted):
        return list(entries)
    flat: list[Entry] = []
    for each in entries:
        flat += [Entry(file=each.file), *each.entries]
    return flat


def _is_dotted(entry: Entry) -> bool:
    number = number_of_name(stem_of(entry.entries[-1].file))
    return number is not None and bool(number.more)


def _opens(entry: Entry) -> bool:
    number = number_of_name(stem_of(entry.file))
    return number is not None and _is_dotted(entry) and not any(number.more)


def by_front_matter(
    listing: Listing, folder: str, is_published: bool
) -> Navigation | None:
    """Finds pages whose front matter gives them a place: `sidebar_position`, `nav_order`, `weight`, `order`."""
    found = _pages(listing, folder, 0)
    placed, pages = _counted(found)
    if placed < 2 or placed < _SHARE * pages:
        return None
    if not _says_what_it_is(listing, folder, is_published):
        return None
    return Navigation(
        source="the order that its pages give",
        folder=folder,
        entries=tuple([page.entry for page in found]),
    )


class _Page(NamedTuple):
    """A page, or a folder of pages, in the order of a folder.

    Attributes:
        placed: The number of its pages with a place of their own.
        pages: The number of its pages.
    """

    place: tuple[float, str]
    entry: Entry
    placed: int
    pages: int


def _pages(listing: Listing, folder: str, depth: int) -> list[_Page]:
    """Returns the pages of a folder and its subfolders, in order."""
    found: list[_Page] = []
    for name in listing.names(folder):
        path = posixpath.join(folder, name)
        if listing.may_be_lesson(path) and not _is_no_lesson(name):
            fields = listing.fields(path)
            place = position(fields, stem_of(name)), name
            has_place = position(fields, "") < _LAST
            found.append(_Page(place, Entry(file=path), int(has_place), 1))
    for path in _folders(listing, folder) if depth < _MOST_DEPTH else ():
        below = _pages(listing, path, depth + 1)
        entry, at = _category(listing, path, [page.entry for page in below])
        placed, pages = _counted(below)
        found.append(_Page((at, path), entry, placed, pages))
    return sorted(found, key=lambda page: page.place)


def _counted(pages: Sequence[_Page]) -> tuple[int, int]:
    return sum(page.placed for page in pages), sum(page.pages for page in pages)


def _category(
    listing: Listing, folder: str, below: Sequence[Entry]
) -> tuple[Entry, float]:
    """Returns a folder of pages as an entry, by its `_category_.json` or the page about it."""
    category = mapping(listing.values(posixpath.join(folder, "_category_.json")))
    about = listing.about(folder)
    fields = listing.fields(about) if about else {}
    place = _number(first_text(category, "position"))
    if place == _LAST:
        place = position(fields, posixpath.basename(folder))
    title = first_text(category, "label") or fields.get("title", "")
    first = [Entry(file=about)] if about else []
    return Entry(title=title, entries=(*first, *below)), place


def position(fields: dict[str, str], stem: str) -> float:
    """Returns a page's place from its front matter, or else from its name; the last place if neither gives one."""
    for name in _ORDER_FIELDS:
        place = _number(fields.get(name, ""))
        if place < _LAST:
            return place
    number = number_of_name(stem)
    return _LAST if number is None else float(number.number)


def _number(text: str) -> float:
    is_number = re.fullmatch(r"-?[0-9]{1,6}(\.[0-9]{1,3})?", text)
    return float(text) if is_number else _LAST
