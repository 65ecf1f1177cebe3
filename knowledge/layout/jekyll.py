"""Jekyll: its collections, each of which may be a course, and the order of their pages."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence

from antiphon.knowledge.layout.entries import first_text, mapping
from antiphon.knowledge.layout.listing import Listing, is_about, stem_of
from antiphon.knowledge.layout.navigation import Entry, Navigation
from antiphon.knowledge.layout.ordered import position

# The names of collections of lessons; other collections hold staff, announcements or events.
_LESSONS = re.compile(
    r"lectures?|lessons?|episodes?|chapters?|modules?|units?|weeks?|notes|course|tutorials?|sessions?|classes"
    r"|([a-z]+[-_]?)?(19|20)\d{2}([-_]?[a-z]+)?"
)
_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")


def collections(listing: Listing, folder: str) -> list[Navigation]:
    """Returns the collections of a Jekyll website that are courses: `_lectures`, `_2026`, or dated posts."""
    config = mapping(listing.values(posixpath.join(folder, "_config.yml")))
    named = config.get("collections")
    names = list(map(str, named)) if isinstance(named, dict | list) else []
    where = posixpath.join(folder, first_text(config, "collections_dir"))
    courses = [name for name in names if _LESSONS.fullmatch(name.lower())]
    found: list[Navigation] = []
    for name in courses or ["posts"]:
        path = posixpath.normpath(posixpath.join(where, f"_{name}"))
        navigation = _collection(listing, path, first_text(config, "title"))
        if navigation is not None:
            found.append(navigation)
    return found


def _collection(listing: Listing, folder: str, site: str) -> Navigation | None:
    pages = [path for path in listing.documents(folder) if _is_page(listing, path)]
    if len(pages) < 2:
        return None
    about = listing.about(folder)
    own = listing.fields(about).get("title", "") if about else ""
    pages.sort(key=_place_in_collection(listing))
    return Navigation(
        source="_config.yml",
        folder=folder,
        entries=tuple([Entry(file=path) for path in pages]),
        title=": ".join(filter(None, [site, own])),
    )


def _is_page(listing: Listing, path: str) -> bool:
    if is_about(path) or not listing.may_be_lesson(path):
        return False
    return "redirect" not in listing.fields(path)


def _place_in_collection(
    listing: Listing,
) -> Callable[[str], tuple[str, float, str]]:
    def place(path: str) -> tuple[str, float, str]:
        fields = listing.fields(path)
        dated = _DATE.match(fields.get("date", "") or stem_of(path))
        date = f"{dated[1]}-{dated[2]:0>2}-{dated[3]:0>2}" if dated else ""
        return date, position(fields, stem_of(path)), path

    return place


def newest(folders: Sequence[str]) -> str:
    """Returns the newest of folders that are editions of one course, such as `_2019` and `_2026`; empty for others."""
    editions = [
        re.search(r"(19|20)\d{2}", posixpath.basename(each)) for each in folders
    ]
    if all(editions):
        return max(folders, key=lambda each: re.findall(r"(?:19|20)\d{2}", each)[-1])
    stems = {re.sub(r"[-_ ]*v?\d*$", "", each): each for each in folders}
    return min(folders, key=len) if len(stems) == 1 else ""
