"""Course documents: read, cut, embedded, stored and searched."""

from antiphon.knowledge.building import IndexProgress
from antiphon.knowledge.embedders import installed_embedders, load_embedder
from antiphon.knowledge.indexing import IndexSummary, index_paths
from antiphon.knowledge.library import Library, Overview, document_paths, overview
from antiphon.knowledge.loading import load_document
from antiphon.knowledge.values import Course, CourseMatch, Lesson, LibraryState

__all__ = [
    "Course",
    "CourseMatch",
    "IndexProgress",
    "IndexSummary",
    "Lesson",
    "Library",
    "LibraryState",
    "Overview",
    "document_paths",
    "index_paths",
    "installed_embedders",
    "load_document",
    "load_embedder",
    "overview",
]
