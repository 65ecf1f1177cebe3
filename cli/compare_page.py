"""The comparison of `antiphon compare` as an HTML page; the only module here that needs Jinja2."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from antiphon.cli.comparing import MEANING, Compared, Sum, run_rows, sum_rows
from antiphon.cli.terminal import clean

TEMPLATES = Path(__file__).parent / "templates"


def as_page(compared: Sequence[Compared], sums: Sequence[Sum]) -> str:
    """Renders the comparison as one HTML page, which loads nothing and holds documents' and models' words as text."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("compare.html")
    return page.render(
        compared=compared,
        sums=sums,
        sum_rows=sum_rows(sums),
        run_rows=run_rows,
        meaning=MEANING,
    )


def _printable(value: object) -> str:
    """Removes control characters from a value that the template inserts."""
    return clean(str(value))
