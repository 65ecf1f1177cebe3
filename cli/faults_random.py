"""`antiphon faults random`: random runs of several faults from one seed; shrinks a failing one and writes it down."""

from __future__ import annotations

import importlib
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from antiphon import faults, service
from antiphon.cli.fault_worlds import opener, scratch_folder
from antiphon.cli.faults_showing import refuse_unwritable, write_report
from antiphon.cli.terminal import counted, err, one_line, out
from antiphon.vocabulary.imports import needing_extra

EVERY = 20
"""Experiments between two lines of progress."""
DEFAULT_EXAMPLES = 100
"""Experiments, if neither their number nor a time is given."""


def run_random(
    seed: Annotated[
        int, typer.Option("--seed", help="The same seed gives the same experiments.")
    ] = 0,
    minutes: Annotated[
        float,
        typer.Option(
            "--minutes", min=0, help="Start no new experiments after this many minutes."
        ),
    ] = 0.0,
    examples: Annotated[
        int,
        typer.Option(
            "--examples", min=0, help="Number of experiments; 100 by default."
        ),
    ] = 0,
    tools: Annotated[
        str,
        typer.Option(
            "--tools", help="Your own tools: package.module:name, comma-separated."
        ),
    ] = "",
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan",
            help="Where to write a failing plan.",
            show_default="faults-SEED.yaml",
        ),
    ] = None,
) -> None:
    """Injects random plans of several faults over several queries; exit code 1 if a promise breaks.

    The smallest plan that breaks a promise is then printed and written to a file.
    """
    service.silence_logging()
    path = plan or Path(f"faults-{seed}.yaml")
    # Checked before the run, which takes minutes.
    refuse_unwritable(path)
    began = time.monotonic()
    number = examples if examples or minutes else DEFAULT_EXAMPLES
    # Only the random mode needs hypothesis.
    with needing_extra("faults", "`antiphon faults random`"):
        random_runs = importlib.import_module("antiphon.faults.runs.random_runs")
    with scratch_folder():
        done: faults.RandomReport = random_runs.run_random(
            opener(tools),
            seed,
            examples=number,
            minutes=minutes,
            on_experiment=_progress(began),
        )
    _show(done, seed, time.monotonic() - began)
    if done.failing is not None:
        _show_failure(done, path, tools)
        raise typer.Exit(1)


def _progress(began: float) -> Callable[[faults.RandomReport], None]:
    def show_progress(done: faults.RandomReport) -> None:
        if done.experiments % EVERY == 0:
            err.print(
                f"  {counted(done.experiments, 'experiment')}, {counted(done.queries, 'query')}, "
                f"{counted(done.fired, 'fault')} fired of {counted(len(done.sorts), 'sort')}, "
                f"{time.monotonic() - began:.0f} s …",
                style="dim",
            )

    return show_progress


def _show(done: faults.RandomReport, seed: int, took_s: float) -> None:
    kept = "every promise kept" if done.failing is None else "a promise broke"
    out.print(
        f"seed {seed}: {counted(done.experiments, 'experiment')}, {counted(done.queries, 'query')}, "
        f"{counted(done.faults, 'fault')} put in, {done.fired} fired ({counted(len(done.sorts), 'sort')}), "
        f"{kept}, {took_s:.0f} s",
        soft_wrap=True,
    )


def _show_failure(done: faults.RandomReport, path: Path, tools: str) -> None:
    assert done.failing is not None
    written = faults.write_experiment(done.failing)
    for wrong in done.broken:
        err.print(f"✗ {one_line(wrong, 300)}", style="red", soft_wrap=True)
    if not done.reproduced:
        err.print(
            "✗ By itself it did not fail again: what came before it matters.",
            style="red",
            soft_wrap=True,
        )
    out.print(written, soft_wrap=True)
    write_report(path, written.encode())
    command = ["antiphon", "faults", "run", "--plan", str(path)]
    if tools:
        command += ["--tools", tools]
    err.print(f"    {shlex.join(command)}", style="red", soft_wrap=True)
