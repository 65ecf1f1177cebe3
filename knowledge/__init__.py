"""Course documents: read, cut, embedded, kept and searched."""

from knowledge.course import Course, CourseMatch, Lesson, LibraryState
from knowledge.embedders import installed_embedders, load_embedder
from knowledge.indexing import index_paths
from knowledge.library import Library
from knowledge.loading import load_document
from knowledge.overview import Overview, overview
from knowledge.progress import IndexProgress, IndexSummary

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
