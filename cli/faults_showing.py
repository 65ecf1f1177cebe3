"""Output of `antiphon faults`: progress, a table of points by kinds, each failure with the command that repeats it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from antiphon import faults
from antiphon.cli.terminal import err, one_line, out
from antiphon.vocabulary.errors import BadInputError

EVERY = 100
"""Cells between two lines of progress."""


def progress(what: str) -> Callable[[faults.Verdict | faults.PairVerdict, int], None]:
    """Prints each failure at once, and now and then the progress of the run."""
    done = failed = 0

    def show_progress(verdict: faults.Verdict | faults.PairVerdict, total: int) -> None:
        nonlocal done, failed
        done += 1
        if verdict.result != "kept":
            failed += 1
            show_failure(verdict)
        if done % EVERY == 0:
            err.print(f"  {done} of {total} {what}, {failed} failed …", style="dim")

    return show_progress


def show_failure(verdict: faults.Verdict | faults.PairVerdict) -> None:
    """Prints the broken promises, and the command that repeats the failure."""
    wrong = "; ".join(verdict.broken) or "the fault never fired"
    err.print(
        f"✗ {one_line(wrong, 300)}\n    {one_line(verdict.command, 1_000)}",
        style="red",
        soft_wrap=True,
    )


def show(report: faults.Report) -> None:
    """Prints a line for each point, the reasons why cells do not apply, and the counts."""
    rows = faults.table(report)
    width = max((len(point) for point, _ in rows), default=0)
    for point, row in rows:
        ran = [kind for kind in ("none", *faults.KINDS) if row.get(kind, "·") != "·"]
        signs = [f"{kind} {row[kind]}" for kind in ran]
        if signs:
            out.print(f"{point:<{width}}  {'  '.join(signs)}", soft_wrap=True)
    for why, cells in faults.reasons(report.not_applicable):
        out.print(f"· {cells}: {why}", style="dim", soft_wrap=True)
    number = faults.counts(report)
    out.print(
        f"cells run {number['run']}, fired {number['fired']}, kept {number['kept']}, broken {number['broken']}, "
        f"never fired {number['not_fired']}, not applicable {number['not_applicable']}",
        soft_wrap=True,
    )


def show_run(run: faults.Run) -> None:
    """Prints the faults of one query that fired, and its answer."""
    for fired in run.fired:
        out.print(
            f"fired: {fired.kind} at {fired.point} in {fired.when}", soft_wrap=True
        )
    for fault in run.idle:
        out.print(f"never fired: {fault.kind} at {fault.point}", soft_wrap=True)
    if run.refused:
        out.print(f"refused: {one_line(run.refused, 300)}", soft_wrap=True)
    if run.outcome is not None:
        response = run.outcome.response
        doubts = ", ".join(doubt.kind for doubt in response.indicators) or "no doubts"
        out.print(
            f"{run.outcome.status}, {response.confidence} ({doubts})", soft_wrap=True
        )
        out.print(one_line(response.answer, 2_000), soft_wrap=True)


def write_report(path: Path, content: bytes) -> None:
    """Writes a report.

    Raises:
        BadInputError: The file cannot be written.
    """
    try:
        path.write_bytes(content)
    except OSError as error:
        raise BadInputError(
            f"{path} cannot be written: {error.strerror or error}."
        ) from error


def refuse_unwritable(path: Path) -> None:
    """Refuses, before a long run, a file for the report that cannot be written; an old report stays until the new one.

    Raises:
        BadInputError: The file cannot be written.
    """
    is_there = path.exists()
    # Opening to append changes nothing in an old report.
    try:
        with path.open("ab"):
            pass
    except OSError as error:
        raise BadInputError(
            f"{path} cannot be written: {error.strerror or error}."
        ) from error
    if not is_there:
        path.unlink()


def show_pairs(verdicts: Sequence[faults.PairVerdict], took_s: float) -> None:
    """Prints the outcome of pairs of faults, in one line."""
    number = faults.pair_counts(verdicts)
    out.print(
        f"pairs run {number['run']}, both fired {number['both_fired']}, one kept the other from firing "
        f"{number['one_fired']}, none fired {number['none_fired']}, broken {number['broken']}, {took_s:.0f} s",
        soft_wrap=True,
    )
