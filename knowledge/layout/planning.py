"""Plans the layout of a folder: its courses, its separate documents, and the files left out with the reasons."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from antiphon.knowledge.layout.contents import contents_of
from antiphon.knowledge.layout.folders import with_folders
from antiphon.knowledge.layout.furniture import (
    is_language,
    translated,
    why_not_anywhere,
    why_not_at_the_top,
    why_not_in,
)
from antiphon.knowledge.layout.jekyll import collections, newest
from antiphon.knowledge.layout.leaving_out import is_left_out, why_not, why_not_listed
from antiphon.knowledge.layout.listing import Listing, is_about, is_in, is_text, stem_of
from antiphon.knowledge.layout.navigation import Navigation, lessons_of
from antiphon.knowledge.layout.ordered import ordered
from antiphon.knowledge.layout.own import COURSE_FILE, own_flaw, stored_navigation
from antiphon.knowledge.layout.readme import from_contents
from antiphon.knowledge.layout.tools import from_tool
from antiphon.knowledge.layout.values import Layout, PlannedCourse, PlannedLesson

_MOST_DEPTH = 12


def plan(listing: Listing) -> Layout:
    """Decides which courses and documents the files of a folder make up."""
    planning = _Planning(listing)
    planning.folder("", 0)
    return planning.layout()


class _Planning:
    """The decisions so far."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing
        self._courses: list[PlannedCourse] = []
        self._documents: list[str] = []
        self._left_out: dict[str, str] = {}
        self._failed: dict[str, str] = {}

    def layout(self) -> Layout:
        return Layout(
            courses=tuple(self._courses),
            documents=tuple(self._documents),
            left_out=tuple(sorted(self._left_out.items())),
            failed=tuple(sorted(self._failed.items())),
        )

    def folder(self, folder: str, depth: int) -> None:
        """Plans a folder that belongs to no course so far."""
        if depth > _MOST_DEPTH:
            self._documents += self._listing.documents(folder)
            return
        found = self._own(folder, is_published=False)
        if found and not found[0].beside:
            self._published(folder, found)
        elif self._listing.is_repository(folder):
            self._published(folder, self._below(folder, depth))
        else:
            self._files_of(folder, found)
            for name in self._listing.folders(folder):
                self.folder(posixpath.join(folder, name), depth + 1)

    def _own(self, folder: str, is_published: bool) -> list[Navigation]:
        """Returns the courses that this folder itself describes."""
        flaw = own_flaw(self._listing, folder)
        if flaw:
            self._failed[posixpath.join(folder, COURSE_FILE)] = flaw
        tool = from_tool(self._listing, folder)
        if tool is not None:
            return [tool]
        found = collections(self._listing, folder)
        if found:
            return found
        order = ordered(self._listing, folder, is_published)
        contents = contents_of(self._listing, folder)
        order = from_contents(self._listing, folder, contents, order)
        return [order] if order else []

    def _below(self, folder: str, depth: int) -> list[Navigation]:
        """Returns the courses of a repository: of its own folder, or of its subfolders."""
        found = self._own(folder, is_published=True)
        if found or depth > _MOST_DEPTH:
            return found
        below: list[Navigation] = []
        for name in _in_one_language(self._listing.folders(folder)):
            path = posixpath.join(folder, name)
            if not why_not_in(name) and self._listing.documents(path):
                below += self._below(path, depth + 1)
        if len(below) == 1 and depth and self._listing.about(folder):
            # The folder's own page describes the only course in it.
            below = [_lifted(below[0], folder)]
        return below

    def _files_of(self, folder: str, found: Sequence[Navigation]) -> None:
        """Plans the files of a folder without its subfolders: a course of numbered files, and documents."""
        taken: set[str] = set()
        for navigation in found:
            taken = self._course(navigation, folder, self._listing.abouts(folder)[:1])
        for name in self._listing.names(folder):
            path = posixpath.join(folder, name)
            if path in taken or not self._listing.is_document(path):
                continue
            reason = why_not_anywhere(stem_of(name))
            if reason:
                self._left_out[path] = reason
            else:
                self._documents.append(path)

    def _published(self, top: str, found: Sequence[Navigation]) -> None:
        """Plans a repository, or another folder with a description of the whole."""
        tools = [each for each in found if each.is_whole]
        if len(tools) == 1:
            # The course is what the tool publishes, and numbered notebooks beside it belong to it.
            found = tools
        if not found:
            self._without_order(top)
        elif len(found) == 1:
            self._one(top, found[0])
        else:
            self._several(top, found)

    def _one(self, top: str, navigation: Navigation) -> None:
        """Makes one course of everything in a folder."""
        own_page = self._listing.about(navigation.folder)
        about = [own_page] if own_page else []
        about += [page for page in self._listing.abouts(top) if page != own_page]
        title = navigation.title or self._title_of(top)
        navigation = navigation._replace(title=title)
        taken = self._course(navigation, top, about)
        self._materials(top, navigation, taken)

    def _several(self, top: str, found: Sequence[Navigation]) -> None:
        """Makes a course of each of several; pages about all of them go to the newest edition, or become documents."""
        pages = self._pages(top)
        title = self._title_of(top)
        folders = [navigation.folder for navigation in found]
        last = newest(folders)
        for navigation in map(self._corrected, found):
            about = self._listing.abouts(navigation.folder)[:1]
            if navigation.folder == last:
                about += pages
            if not about:
                navigation = _named_after(navigation, title)
            taken = self._course(navigation, navigation.folder, about)
            self._materials(navigation.folder, navigation, taken)
        if not last:
            self._documents += pages
        for path in self._listing.documents(top):
            is_taken = any(is_in(path, folder) for folder in folders)
            if not is_taken and path not in pages:
                self._beside(path, top)

    def _corrected(self, navigation: Navigation) -> Navigation:
        """Returns the owner's stored navigation for a course's folder, if there is one, else the given one."""
        if navigation.folder in self._listing.stored:
            return stored_navigation(self._listing, navigation.folder)
        return navigation

    def _beside(self, path: str, top: str) -> None:
        """Decides on a file of a repository that belongs to none of its courses."""
        reason = why_not(self._listing, path, top)
        if not reason and (is_text(path) or self._listing.may_be_lesson(path)):
            reason = "beside the courses of the repository"
        if reason:
            self._left_out[path] = reason
        else:
            self._documents.append(path)

    def _pages(self, top: str) -> list[str]:
        """Returns the pages of a repository of several courses that are about all of them."""
        own = self._listing.about(top)
        pages = [own] if own else []
        for name in self._listing.names(top):
            path = posixpath.join(top, name)
            # If a website has its own page, the README only explains how to build it.
            if is_about(name) or not self._listing.may_be_lesson(path):
                continue
            stem = stem_of(name)
            if not why_not_at_the_top(stem) and not translated(stem):
                pages.append(path)
        return pages

    def _title_of(self, top: str) -> str:
        """Returns the title in a repository's README."""
        return contents_of(self._listing, top).title

    def _without_order(self, top: str) -> None:
        """Plans a repository without any order: its README may hold the lessons; otherwise it is an ordinary folder."""
        contents = contents_of(self._listing, top)
        if contents.holds_lectures:
            navigation = Navigation("README", top, (), title=contents.title)
            taken = self._course(navigation, top, self._listing.abouts(top))
            self._materials(top, navigation, taken)
            return
        for path in self._listing.documents(top):
            reason = why_not(self._listing, path, top)
            if reason:
                self._left_out[path] = reason
            else:
                self._documents.append(path)

    def _course(
        self, navigation: Navigation, top: str, about: Sequence[str]
    ) -> set[str]:
        """Makes the course of a table of contents, and returns its files; the caller adds the materials afterwards."""
        lessons, outside = lessons_of(
            with_folders(self._listing, navigation), self._listing
        )
        taken = {file for lesson in lessons for file in lesson.files}
        described = [
            path
            for path in about
            if path not in taken and not is_left_out(path, navigation)
        ]
        taken.update(described)
        others = [path for path in outside if path not in taken]
        taken.update(others)
        course = PlannedCourse(
            path=os.path.normpath(os.path.join(self._listing.root, top)),
            title=navigation.title,
            link=navigation.link,
            instructor=navigation.instructor,
            about=_within(top, described),
            lessons=tuple([_lesson_within(top, lesson) for lesson in lessons]),
            materials=_within(top, others),
        )
        self._courses.append(course)
        return taken

    def _materials(self, top: str, navigation: Navigation, taken: set[str]) -> None:
        """Adds the files beside the lessons of the last course to its materials, or leaves them out."""
        materials: list[str] = []
        for path in self._listing.documents(top):
            if path in taken:
                continue
            reason = why_not(self._listing, path, top)
            reason = reason or why_not_listed(self._listing, path, navigation)
            if reason:
                self._left_out[path] = reason
            else:
                materials.append(path)
        course = self._courses[-1]
        every = (*course.materials, *_within(top, materials))
        self._courses[-1] = replace(course, materials=every)


def _lifted(navigation: Navigation, folder: str) -> Navigation:
    """Makes a folder the folder of the only course in it, unless a tool publishes that course."""
    return navigation if navigation.is_whole else navigation._replace(folder=folder)


def _named_after(navigation: Navigation, repository: str) -> Navigation:
    """Titles one of several courses by its repository and its folder's name."""
    if navigation.title or not repository:
        return navigation
    name = posixpath.basename(navigation.folder)
    return navigation._replace(title=f"{repository} ({name})")


def _within(top: str, paths: Iterable[str]) -> tuple[str, ...]:
    """Returns paths relative to a course's folder."""
    return tuple([posixpath.relpath(path, top or ".") for path in paths])


def _lesson_within(top: str, lesson: PlannedLesson) -> PlannedLesson:
    return replace(lesson, files=_within(top, lesson.files))


def _in_one_language(names: Sequence[str]) -> list[str]:
    """Keeps one of several folders that are translations of one another: the English one, or the first."""
    languages = [name for name in names if is_language(name)]
    if len(languages) < 2:
        return list(names)
    kept = "en" if "en" in languages else languages[0]
    return [name for name in names if name not in languages or name == kept]
