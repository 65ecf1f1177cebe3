"""The target of an indexing run: the documents of the next generation, from the files found and the known documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from antiphon.knowledge.finding import FoundFiles, is_under
from antiphon.knowledge.layout import PlannedCourse
from antiphon.knowledge.loading import stamp_of
from antiphon.knowledge.reading_process import ReadsDocuments
from antiphon.knowledge.titles import Titles
from antiphon.knowledge.values import KnownDocument
from antiphon.vocabulary.errors import DocumentError
from antiphon.vocabulary.values import Value

ReportFile = Callable[[int, str], None]


class Target(Value, frozen=True, kw_only=True):
    """The documents of the next generation.

    Attributes:
        hashes: Each document's content hash, by path.
        fresh: Paths of those to read from their files; the others are known.
        failed: Paths that could not be read, with the reason; their known documents stay.
        skipped: Files in no readable format.
        left_out: Files that belong to no course, each with the reason.
    """

    hashes: dict[str, str]
    fresh: frozenset[str]
    added: int
    unchanged: int
    changed: int
    removed: int
    failed: tuple[tuple[str, str], ...]
    skipped: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def differs(self) -> bool:
        """Returns True if the library changes."""
        return bool(self.fresh or self.removed)


def set_target(
    found: FoundFiles,
    known: Mapping[str, KnownDocument],
    reader: ReadsDocuments,
    report: ReportFile = lambda _, __: None,
) -> Target:
    """Reads the files and decides which documents are added, changed, kept and removed.

    A course title belongs to one document: a second file with the same title gets a distinguishing one, and a second
    file with the same content is refused.

    Args:
        report: Called before each file, with the number of files read so far and its path.
    """
    files = _Files(found.failed, reader)
    courses = {course.path: course for course in found.courses}
    for done, path in enumerate(found.files):
        report(done, path)
        files.read(path, known.get(path), courses.get(path))
    kept = _keep(found, known, files)
    titles = Titles(known, kept, files.fresh, reader)
    taken: dict[str, KnownDocument] = {}
    # Known files first, so that a new file does not take a title from them.
    for path in sorted(files.fresh, key=lambda path: path not in known):
        document = files.fresh[path]
        original = titles.copy_of(path, document)
        if original is None:
            taken[path] = titles.take(path, document)
        else:
            files.failed.append((path, f"it is a copy of {original}"))
            titles.keep_old(path, known.get(path))
    return _target(known, kept, taken, files, found)


def _keep(
    found: FoundFiles, known: Mapping[str, KnownDocument], files: _Files
) -> dict[str, KnownDocument]:
    """Returns the known documents that are neither changed nor gone."""
    return {
        path: document
        for path, document in known.items()
        if path not in files.fresh and not _is_gone(path, found)
    }


class _Files:
    """The files read so far: unchanged, fresh and failed ones."""

    def __init__(
        self, failed: Iterable[tuple[str, str]], reader: ReadsDocuments
    ) -> None:
        self.unchanged = 0
        self.fresh: dict[str, KnownDocument] = {}
        self.failed = list(failed)
        self._reader = reader

    def read(
        self, path: str, known: KnownDocument | None, course: PlannedCourse | None
    ) -> None:
        """Reads a document, unless the size and times of its files show that nobody has written to them."""
        known_hash = None
        if known is not None:
            known_hash = known.content_hash
            if known.stamp and known.stamp == stamp_of(path, course):
                self.unchanged += 1
                return
        try:
            read = self._reader.read(path, known_hash, course)
        except DocumentError as error:
            self.failed.append((error.path, error.reason))
            return
        self.failed += read.unread
        if read.document is None:
            self.unchanged += 1
        else:
            self.fresh[path] = read.document


def _is_gone(path: str, found: FoundFiles) -> bool:
    """Returns True if the run looked at a known document's place and did not find it."""
    if path in found.files:
        return False
    for failed, _ in found.failed:
        if is_under(path, [failed]):
            return False
    return found.only or is_under(path, found.roots)


def _target(
    known: Mapping[str, KnownDocument],
    kept: Mapping[str, KnownDocument],
    taken: Mapping[str, KnownDocument],
    files: _Files,
    found: FoundFiles,
) -> Target:
    documents = {**kept, **taken}
    # In order of path, so that two runs over the same files build equal indexes.
    hashes = {path: documents[path].content_hash for path in sorted(documents)}
    return Target(
        hashes=hashes,
        fresh=frozenset(taken),
        added=len(taken.keys() - known.keys()),
        unchanged=files.unchanged,
        changed=len(taken.keys() & known.keys()),
        removed=len(known.keys() - documents.keys()),
        failed=tuple(files.failed),
        skipped=found.skipped,
        left_out=found.left_out,
    )
