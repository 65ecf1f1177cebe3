"""Course documents: read, cut, embedded, stored and searched."""

from antiphon.knowledge.catalogue_file import Overview, document_paths, overview
from antiphon.knowledge.checking import check_paths, check_server
from antiphon.knowledge.embedders import (
    LateEmbedder,
    check_weights,
    embedder_when_used,
    installed_embedders,
    load_embedder,
)
from antiphon.knowledge.finding import Choice, counted_by_ending
from antiphon.knowledge.generations import generation_in_use, index_size
from antiphon.knowledge.indexing import index_paths, remove_course
from antiphon.knowledge.layout import COURSE_FILE, PlannedLesson
from antiphon.knowledge.layout_store import (
    MOST_LAYOUT_BYTES,
    CourseLayout,
    LeftOutFile,
    corrected_layout,
    course_layout,
    drop_layout,
    forget_layout,
    save_layout,
    show_layout,
    store_layout,
    stored_layouts,
)
from antiphon.knowledge.lesson_texts import LessonText, lesson_text
from antiphon.knowledge.lessons import resolve_lesson
from antiphon.knowledge.library import Library
from antiphon.knowledge.loading import load_document
from antiphon.knowledge.named import course_called
from antiphon.knowledge.preview import (
    Preview,
    PreviewCourse,
    PreviewLesson,
    preview_paths,
)
from antiphon.knowledge.readers import Format, add_formats, formats, use_readers
from antiphon.knowledge.removing import files_of_document
from antiphon.knowledge.scoring import Tuning
from antiphon.knowledge.values import (
    Course,
    CourseMatch,
    IndexProgress,
    IndexSummary,
    Lesson,
    LessonMatch,
    LibraryState,
)

__all__ = [
    "COURSE_FILE",
    "MOST_LAYOUT_BYTES",
    "Choice",
    "Course",
    "CourseLayout",
    "CourseMatch",
    "Format",
    "IndexProgress",
    "IndexSummary",
    "LateEmbedder",
    "LeftOutFile",
    "Lesson",
    "LessonMatch",
    "LessonText",
    "Library",
    "LibraryState",
    "Overview",
    "PlannedLesson",
    "Preview",
    "PreviewCourse",
    "PreviewLesson",
    "Tuning",
    "add_formats",
    "check_paths",
    "check_server",
    "check_weights",
    "corrected_layout",
    "counted_by_ending",
    "course_called",
    "course_layout",
    "document_paths",
    "drop_layout",
    "embedder_when_used",
    "files_of_document",
    "forget_layout",
    "formats",
    "generation_in_use",
    "index_paths",
    "index_size",
    "installed_embedders",
    "lesson_text",
    "load_document",
    "load_embedder",
    "overview",
    "preview_paths",
    "remove_course",
    "resolve_lesson",
    "save_layout",
    "show_layout",
    "store_layout",
    "stored_layouts",
    "use_readers",
]
