"""`antiphon courses`: what can be asked about."""

from __future__ import annotations

import typer
from rich.table import Column, Table

from antiphon.cli.options import DataDir
from antiphon.cli.session import settings_for_people
from antiphon.cli.terminal import one_line, out
from antiphon.knowledge import overview


def add_to(app: typer.Typer) -> None:
    """Makes the command known."""
    app.command("courses")(courses)


def courses(data_dir: DataDir = None) -> None:
    """Lists the indexed courses."""
    indexed = overview(settings_for_people(data_dir=data_dir).data_dir)
    if indexed is None or not indexed.courses:
        out.print("Nothing is indexed yet: run `antiphon index PATH…` on a folder of course documents.")
        return
    table = Table("Course", "Instructor", "Lessons", Column("Link", overflow="fold"))
    for course in indexed.courses:
        row = (course.title, course.instructor or "", str(len(course.lessons)), course.link or "")
        table.add_row(*(one_line(cell) for cell in row))
    out.print(table)
