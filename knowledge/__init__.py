"""Course documents: read, cut, embedded, kept and searched."""

from antiphon.knowledge.course import Course, CourseMatch, Lesson, LibraryState
from antiphon.knowledge.embedders import installed_embedders, load_embedder
from antiphon.knowledge.indexing import index_paths
from antiphon.knowledge.library import Library
from antiphon.knowledge.loading import load_document
from antiphon.knowledge.overview import Overview, overview
from antiphon.knowledge.progress import IndexProgress, IndexSummary

__all__ = [
    "Course",
    "CourseMatch",
    "IndexProgress",
    "IndexSummary",
    "Lesson",
    "Library",
    "LibraryState",
    "Overview",
    "index_paths",
    "installed_embedders",
    "load_document",
    "load_embedder",
    "overview",
]
