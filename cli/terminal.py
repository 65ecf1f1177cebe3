"""The command's two outputs: results on standard output, everything else on standard error.

Text from documents, models, tools and trace files must not control the terminal, so everything that a command prints
goes through a `Screen`; a test checks that nothing else in this program prints (tests/unit/house).
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
"""Characters of an id that commands print, and accept in place of the whole."""

_MOST_OF_A_CELL = 1000
"""The most characters of a cell in a table for programs."""


def short_id(whole: str) -> str:
    """Returns the beginning of an id, the part that people see and copy."""
    return clean(whole)[:SHOWN_ID]


def counted(number: int, thing: str) -> str:
    """Counts things in words, such as `1 round` or `2 rounds`."""
    if number == 1:
        return f"1 {thing}"
    # The one irregular plural that commands need.
    if thing == "query":
        thing = "querie"
    return f"{number:,} {thing}s"


def new_table(*columns: Column | str, title: str | None = None) -> Table:
    """Returns a table without lines between cells, which would cost width; `Screen.table` prints it."""
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
    """A console on which no text can control the terminal, not even deep inside a table."""

    def __init__(self, *, stderr: bool = False) -> None:
        # Without markup: square brackets in a document are only text.
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yields the segments of everything printed, with control characters removed from their text.

        Rich adds its own colours and cursor movements only after this, or in segments marked as control.
        """
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(without_controls(segment.text), segment.style)

    def table(self, table: Table, width: int | None = None) -> None:
        """Prints a table for people; without a terminal a line for each row, with tabs between cells, for programs."""
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
        """Prints one text without control characters; unlike rich it breaks no long lines."""
        self.file.write(f"{clean(text)}\n")

    def json(self, document: str) -> None:
        """Prints JSON, with characters escaped that could control a terminal."""
        self.file.write(f"{escaped(document)}\n")


out = Screen()
"""Results."""

err = Screen(stderr=True)
"""Progress and errors."""


def print_json(document: str) -> None:
    """Prints JSON for programs on standard output."""
    out.json(document)


def complain(message: str) -> None:
    """Prints the error of a command as one sentence, without passwords of addresses and without keys."""
    err.print_line(f"antiphon: {without_keys(without_userinfo(message))}")
