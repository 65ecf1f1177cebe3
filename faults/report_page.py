"""The reports of the matrix and of pairs as pages; the only user of Jinja2 in this folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from antiphon.faults.plan import KINDS, MEANING
from antiphon.faults.report import Row, counts, failing, pair_counts, table
from antiphon.faults.results import PairVerdict, Report, Verdict

_TEMPLATE = "report.html.j2"


def as_html(report: Report) -> str:
    """Writes one page; the reason of each empty cell appears when the reader points at it."""
    why: dict[tuple[str, str], str] = {
        (cell.point, cell.kind): cell.why for cell in report.not_applicable
    }
    return _page(report.seed, counts(report), report.failures, table(report), why)


def pairs_as_html(verdicts: Sequence[PairVerdict], seed: int) -> str:
    """Writes one page: the counts, and each failing pair with the command that reruns it."""
    return _page(seed, pair_counts(verdicts), failing(verdicts))


def _page(
    seed: int,
    numbers: Mapping[str, int],
    failures: Sequence[Verdict | PairVerdict],
    rows: Sequence[tuple[str, Row]] = (),
    why: Mapping[tuple[str, str], str] | None = None,
) -> str:
    # Always escaped, because the page contains messages of exceptions from users' tools.
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True
    )
    return environment.get_template(_TEMPLATE).render(
        seed=seed,
        counts=numbers,
        failures=failures,
        rows=rows,
        kinds=("none", *KINDS),
        meaning=MEANING,
        why=why or {},
    )
