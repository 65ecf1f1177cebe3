"""The command's two ways out: results on standard output, all else on standard error.

What documents, models, tools and trace files wrote must not steer the terminal, so everything that a command prints
goes through a `Screen`; a test holds that nothing else in this program prints (tests/unit/house).
"""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from antiphon.vocabulary.access import without_keys
from antiphon.vocabulary.outside import (
    clean as clean,
)
from antiphon.vocabulary.outside import (
    escaped,
    without_controls,
    without_userinfo,
)
from antiphon.vocabulary.outside import (
    one_line as one_line,
)

SHOWN_ID = 12
"""Characters of an id that are shown: they are taken for the whole, and can be copied."""

_MOST_OF_A_CELL = 1000
"""Characters of a cell in a table for programs."""


def short_id(whole: str) -> str:
    """Returns as much of an id as people copy."""
    return clean(whole)[:SHOWN_ID]


def counted(number: int, thing: str) -> str:
    """Counts things in words, such as `1 round` or `2 rounds`."""
    if number == 1:
        return f"1 {thing}"
    if thing == "query":
        thing = "querie"
    return f"{number:,} {thing}s"


def new_table(*columns: Column | str, title: str | None = None) -> Table:
    """Returns a table without the lines that take width from its cells; `Screen.table` prints it."""
    return Table(
        *columns,
        title=title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )


def filling(text: str) -> Text:
    """Returns a cell on one line, cut if the table is as wide as the terminal."""
    return Text(one_line(text, _MOST_OF_A_CELL), no_wrap=True, overflow="ellipsis")


class Screen(Console):
    """A console on which text cannot steer the terminal, whoever wrote it and however deep in a table it is."""

    def __init__(self, *, stderr: bool = False) -> None:
        # Markup is off: square brackets in a document mean nothing.
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yields the segments of anything that is printed, their text without control characters.

        Rich adds its own colours and cursor movements only after this, or in segments marked as control.
        """
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(without_controls(segment.text), segment.style)

    def table(self, table: Table, width: int | None = None) -> None:
        """Prints a table for people; if no terminal is, a line a row with tabs between whole cells, for programs."""
        if self.is_terminal:
            self.print(table, width=width)
            return
        if table.title:
            self.print_line(str(table.title))
        columns: list[list[str]] = []
        for column in table.columns:
            cells = (column.header, *column.cells)
            columns.append([one_line(str(cell), _MOST_OF_A_CELL) for cell in cells])
        for row in zip(*columns, strict=True):
            self.print_line("\t".join(row))

    def print_line(self, text: str) -> None:
        """Prints one text as it is, clean, without rich's breaking of long lines."""
        self.file.write(f"{clean(text)}\n")

    def json(self, document: str) -> None:
        """Prints JSON; what could steer a terminal is escaped in it."""
        self.file.write(f"{escaped(document)}\n")


out = Screen()
"""Results."""

err = Screen(stderr=True)
"""Progress, and what went wrong."""


def print_json(document: str) -> None:
    """Prints JSON for programs on standard output."""
    out.json(document)


def complain(message: str) -> None:
    """Prints why the command failed, as one sentence; without the password of an address in it, and without a key."""
    err.print_line(f"antiphon: {without_keys(without_userinfo(message))}")
