"""`antiphon index` and `antiphon courses`: index course documents, and list, show and remove the courses."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import Annotated, ClassVar

import msgspec
import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column

from antiphon import service
from antiphon.cli.index_preview import show_by_reason, show_preview
from antiphon.cli.session import (
    ChromaUrl,
    DataDir,
    Embedder,
    Json,
    nothing_indexed,
    settings_for_people,
)
from antiphon.cli.terminal import counted, err, new_table, one_line, out, print_json

NICENESS = 5
"""The niceness of an indexing run, so that a service on the same machine goes first."""


def index(
    paths: Annotated[
        list[Path], typer.Argument(help="Files or folders of course documents.")
    ],
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Embed every document again.")
    ] = False,
    only: Annotated[
        bool,
        typer.Option(
            "--only", help="Remove all documents that are not in these paths."
        ),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Exit with code 1 if any file could not be indexed."
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Show the courses and lessons that would be indexed, and index nothing.",
        ),
    ] = False,
    include: Annotated[
        list[str] | None,
        typer.Option(
            "--include",
            metavar="GLOB",
            help="Read only files of folders that fit, such as '*.md'; repeatable.",
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            "--exclude",
            metavar="GLOB",
            help="Read no files of folders that fit, such as 'drafts/*'; repeatable.",
        ),
    ] = None,
    data_dir: DataDir = None,
    embedder: Embedder = None,
    chroma_url: ChromaUrl = None,
) -> None:
    """Indexes course documents; skips files that did not change and removes those that are gone.

    It may run while the service does, and you may interrupt it at any moment: the old index stays until the new one
    is complete. A file that cannot be indexed is named, and the others are indexed. Exit code 1 if nothing is indexed
    then, or if a path that you named is among those files.
    """
    settings = settings_for_people(
        data_dir=data_dir, embedder=embedder, chroma_url=chroma_url
    )
    service.use_readers(settings.readers)
    choice = service.Choice(include=tuple(include or ()), exclude=tuple(exclude or ()))
    if dry_run:
        stored = service.stored_layouts(settings.data_dir)
        show_preview(service.preview_paths(paths, choice, stored))
        return
    # Checked before an embedder is loaded, which takes seconds; but not for a rebuild, which also repairs an index with
    # an unreadable catalogue.
    if not rebuild:
        service.check_paths(paths, settings.data_dir, only=only, choice=choice)
    service.check_server(settings.chroma_url)
    let_others_go_first()
    # Loads only once there is something to embed: a run that finds no change does not need it.
    loaded = service.late_embedder_of(settings)
    with _Bar() as bar:
        summary = service.index_paths(
            paths,
            settings.data_dir,
            loaded,
            chroma_url=settings.chroma_url,
            rebuild=rebuild,
            only=only,
            choice=choice,
            progress=bar.show,
        )
    show_summary(summary)
    _show_size(settings.data_dir)
    unusable = {path for path, _ in summary.failed}
    named = set(map(os.path.realpath, paths))
    if unusable and (strict or not summary.chunks or unusable & named):
        raise typer.Exit(1)


def let_others_go_first() -> None:
    """Lowers the priority of this process, once."""
    now = os.getpriority(os.PRIO_PROCESS, 0)
    os.setpriority(os.PRIO_PROCESS, 0, max(now, NICENESS))


def _show_size(data_dir: Path) -> None:
    """Prints the size of the index in use, and the run's peak memory."""
    size_mb = service.index_size(data_dir) / 1_000_000
    # Linux reports the peak in units of 1,024 bytes.
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1_024 / 1_000_000
    err.print(f"The index takes {size_mb:,.0f} MB; the run took {memory_mb:,.0f} MB.")


class _Bar:
    """A progress bar on standard error, with a line each for reading, embedding and building the vector index."""

    _TITLES: ClassVar[dict[str, str]] = {
        "files": "Reading",
        "documents": "Embedding",
        "vectors": "Building the vector index",
    }

    def __init__(self) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
        )
        self._progress = Progress(
            *columns, TextColumn("{task.fields[about]}", markup=False), console=err
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> _Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, now: service.IndexProgress) -> None:
        """Moves the bar to the run's progress."""
        if now.stage not in self._tasks:
            self._tasks[now.stage] = self._progress.add_task(
                self._TITLES[now.stage], total=now.total, about=""
            )
        # Within a large document the bar moves with its passages.
        done: float = now.done
        if now.chunks:
            done += now.chunks_done / now.chunks
        about = one_line(Path(now.path).name, 40)
        self._progress.update(
            self._tasks[now.stage], completed=done, total=now.total, about=about
        )


def show_summary(summary: service.IndexSummary) -> None:
    """Prints the counts of a run, the files that it skipped, and each file that it could not use with the reason."""
    if summary.skipped:
        err.print(
            f"not read, as no reader knows the format: {service.counted_by_ending(summary.skipped)}",
            style="yellow",
            soft_wrap=True,
        )
    if summary.left_out:
        files = counted(len(summary.left_out), "file")
        path, reason = summary.left_out[0]
        err.print(
            f"left out: {files}, such as {one_line(path, 300)} ({reason}); `antiphon index --dry-run` names all",
            style="yellow",
            soft_wrap=True,
        )
    table = new_table(
        "Added",
        "Changed",
        "Unchanged",
        "Removed",
        "Failed",
        "Passages",
        "Index",
        "Seconds",
    )
    counts = (
        summary.added,
        summary.changed,
        summary.unchanged,
        summary.removed,
        len(summary.failed),
        summary.chunks,
    )
    table.add_row(*map(str, counts), str(summary.generation), f"{summary.seconds:.1f}")
    out.table(table)
    show_by_reason("not all of it is indexed", summary.losses, style="yellow")
    show_by_reason("not indexed", summary.failed, style="red")


def courses(
    context: typer.Context, as_json: Json = False, data_dir: DataDir = None
) -> None:
    """Lists the indexed courses, shows or removes one, or corrects how one is laid out."""
    if context.invoked_subcommand is not None:
        return
    settings = settings_for_people(data_dir=data_dir)
    indexed = service.overview(settings.data_dir)
    if indexed is None or not indexed.courses:
        out.print(nothing_indexed(settings), soft_wrap=True)
        return
    if as_json:
        print_json(msgspec.json.encode(indexed.courses).decode())
        return
    table = new_table(
        "Course", "Instructor", "Lessons", Column("Link", overflow="fold")
    )
    for course in indexed.courses:
        lessons = str(len(course.lessons))
        instructor = one_line(course.instructor or "")
        table.add_row(
            one_line(course.title), instructor, lessons, one_line(course.link or "")
        )
    out.table(table)


def show(
    title: Annotated[str, typer.Argument(help="The course's title, in quotes.")],
    as_json: Json = False,
    data_dir: DataDir = None,
) -> None:
    """Shows a course: its file, language, lessons, and what of its files could not be read."""
    settings = settings_for_people(data_dir=data_dir)
    course = service.course_called(title, settings.data_dir)
    if as_json:
        print_json(msgspec.json.encode(course).decode())
        return
    facts = {
        "Instructor": course.instructor,
        "Link": course.link,
        "File": service.document_paths(settings.data_dir).get(course.title),
        "Language": course.language and service.language_name(course.language),
    }
    out.print(one_line(course.title, 300), style="bold", markup=False, soft_wrap=True)
    for name, value in facts.items():
        if value:
            out.print(f"{name}: {one_line(value, 300)}", markup=False, soft_wrap=True)
    for lesson in course.lessons:
        out.print(
            f"{lesson.number:>4}  {one_line(lesson.title, 300)}",
            markup=False,
            soft_wrap=True,
        )
    for loss in course.losses:
        err.print(f"not read: {one_line(loss, 300)}", style="yellow", soft_wrap=True)


def remove(
    title: Annotated[str, typer.Argument(help="The course's title, in quotes.")],
    data_dir: DataDir = None,
    chroma_url: ChromaUrl = None,
) -> None:
    """Removes a course from the index. Its file stays, and indexing it again brings the course back."""
    settings = settings_for_people(data_dir=data_dir, chroma_url=chroma_url)
    service.check_server(settings.chroma_url)
    with _Bar() as bar:
        summary = service.remove_course(
            title,
            settings.data_dir,
            chroma_url=settings.chroma_url,
            progress=bar.show,
        )
    show_summary(summary)
