"""The command's two ways out: results on standard output, all else on standard error.

What documents, models, tools and trace files wrote must not steer the terminal, so everything that a command prints
goes through a `Screen`; a test holds that nothing else in this program prints (tests/unit/house).
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

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


class Screen(Console):
    """A console on which text cannot steer the terminal, whoever wrote it and however deep in a table it stands."""

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

    def print_line(self, text: str) -> None:
        """Prints one text as it is, clean, without rich's breaking of long lines."""
        self.file.write(f"{clean(text)}\n")

    def json(self, document: str) -> None:
        """Prints JSON; what could steer a terminal stands escaped in it."""
        self.file.write(f"{escaped(document)}\n")


out = Screen()
"""Results."""

err = Screen(stderr=True)
"""Progress, and what went wrong."""


def print_json(document: str) -> None:
    """Prints JSON for programs on standard output."""
    out.json(document)


def complain(message: str) -> None:
    """Prints why the command failed, as one sentence; an address in it is shown without its password."""
    err.print_line(f"antiphon: {without_userinfo(message)}")
