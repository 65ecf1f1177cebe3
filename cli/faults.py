"""`antiphon faults`: breaks the service on purpose, at every door, and sees whether its promises hold."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from cli.options import Json
from cli.terminal import err, one_line, out, print_json
from dispatcher import Tool, load_tools
from faults import (
    KINDS,
    MEANING,
    Chosen,
    Judge,
    Report,
    Verdict,
    World,
    all_points,
    as_html,
    as_json,
    counts,
    read_plan,
    reasons,
    run_pairs,
    run_singles,
    seam_of,
    table,
)
from faults.pairs import PairVerdict
from service import silence_logging

EVERY = 100
"""A line of progress after so many cells."""

Points = Annotated[str, typer.Option("--points", help="Only these points, with commas between; `tool.*` is all tools.")]
Tools = Annotated[str, typer.Option("--tools", help="Tools of your own: package.module:name, with commas between.")]


def add_to(app: typer.Typer) -> None:
    """Makes the commands known."""
    group = typer.Typer(no_args_is_help=True, help="Break the service on purpose and check its promises.")
    group.command("run")(run)
    group.command("list")(list_points)
    app.add_typer(group, name="faults")


def run(
    points: Points = "",
    kinds: Annotated[str, typer.Option("--kinds", help="Only these kinds, with commas between.")] = "",
    when: Annotated[str, typer.Option("--when", help="Only in this part: start, round_1, round_2, final.")] = "",
    tools: Tools = "",
    plan: Annotated[Path | None, typer.Option("--plan", help="Run this fault plan alone (YAML or JSON).")] = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Two faults at a time.")] = False,
    most: Annotated[int, typer.Option("--most", help="With --pairs: at most so many, chosen by the seed.")] = 0,
    seed: Annotated[int, typer.Option("--seed", help="Chooses the question and the order of queries.")] = 0,
    html: Annotated[Path | None, typer.Option("--html", help="Write the report as a page.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json-file", help="Write the report as JSON.")] = None,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="End at the first failure.")] = False,
    as_json_: Json = False,
) -> None:
    """Tries every single fault (or those named), each in a query of its own; exit code 1 where a promise breaks."""
    silence_logging()
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), _tools(tools))
        if plan is not None:
            _run_plan(world, plan)
        elif pairs:
            _run_pairs(world, seed, most)
        else:
            _run_singles(
                world, seed, Chosen(_split(points), _split(kinds), when), html, json_file, as_json_, fail_fast=fail_fast
            )


def list_points(tools: Tools = "") -> None:
    """Names every point and the kinds that it knows."""
    silence_logging()
    with tempfile.TemporaryDirectory() as folder:
        for point in all_points(World(Path(folder), _tools(tools))):
            out.print(f"{point}  [dim]{' '.join(seam_of(point).kinds)}[/]", soft_wrap=True)
    for kind in KINDS:
        err.print(f"{kind}: {MEANING[kind]}", style="dim", soft_wrap=True)


def _tools(names: str) -> Sequence[Tool]:
    return load_tools(names)


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _run_singles(
    world: World,
    seed: int,
    chosen: Chosen,
    html: Path | None,
    json_file: Path | None,
    as_json_: bool,
    *,
    fail_fast: bool,
) -> None:
    began = time.monotonic()
    report = run_singles(world, seed, chosen, _progress(), fail_fast=fail_fast)
    if html is not None:
        html.write_text(as_html(report), encoding="utf-8")
    if json_file is not None:
        json_file.write_bytes(as_json(report))
    if as_json_:
        print_json(as_json(report).decode())
    else:
        _show(report)
    err.print(f"{time.monotonic() - began:.0f} s", style="dim")
    if report.failures or not report.verdicts:
        raise typer.Exit(1)


def _progress() -> Callable[[Verdict], None]:
    done = 0

    def told(verdict: Verdict) -> None:
        nonlocal done
        done += 1
        if verdict.result != "kept":
            _show_failure(verdict)
        elif done % EVERY == 0:
            err.print(f"  {done} cells …", style="dim")

    return told


def _show_failure(verdict: Verdict) -> None:
    what = "; ".join(verdict.broken) or "the fault never fired"
    err.print(f"✗ {one_line(what, 300)}\n    {verdict.cell.command}", style="red", soft_wrap=True)


def _show(report: Report) -> None:
    shown: list[str] = ["none"] * any(verdict.cell.kind == "none" for verdict in report.verdicts) + [
        kind for kind in KINDS if any(verdict.cell.kind == kind for verdict in report.verdicts)
    ]
    grid = Table("point", *(kind.replace("_", "\n") for kind in shown), padding=(0, 0))
    for point, row in table(report):
        grid.add_row(point, *(row.get(kind, "·") for kind in shown))
    out.print(grid)
    for why, number in reasons(report.not_applicable):
        out.print(f"· {number}: {why}", style="dim", soft_wrap=True)
    told = counts(report)
    out.print(
        f"cells run {told['run']}, fired {told['fired']}, kept {told['kept']}, broken {told['broken']}, "
        f"never fired {told['not_fired']}, not applicable {told['not_applicable']}",
        soft_wrap=True,
    )


def _run_plan(world: World, path: Path) -> None:
    run, broken = Judge(world, 0).judge(read_plan(path), twice=True)
    for fired in run.fired:
        out.print(f"fired: {fired.kind} at {fired.point} in {fired.when}", soft_wrap=True)
    if run.outcome is not None:
        doubts = ", ".join(doubt.kind for doubt in run.outcome.response.indicators) or "no doubts"
        out.print(f"{run.outcome.status}, {run.outcome.response.confidence} ({doubts})", soft_wrap=True)
        out.print(run.outcome.response.answer, soft_wrap=True, markup=False)
    for wrong in broken:
        err.print(f"✗ {wrong}", style="red", soft_wrap=True)
    if broken or not run.fired:
        raise typer.Exit(1)


def _run_pairs(world: World, seed: int, most: int) -> None:
    began = time.monotonic()
    verdicts = run_pairs(world, seed, _tell_pair, most)
    broken = [verdict for verdict in verdicts if verdict.result == "broken"]
    both = sum(verdict.fired == 2 for verdict in verdicts)
    idle = sum(verdict.fired == 0 for verdict in verdicts)
    out.print(
        f"pairs run {len(verdicts)}, both fired {both}, one kept the other from firing "
        f"{len(verdicts) - both - idle}, none fired {idle}, broken {len(broken)}, {time.monotonic() - began:.0f} s",
        soft_wrap=True,
    )
    if broken or idle:
        raise typer.Exit(1)


def _tell_pair(verdict: PairVerdict) -> None:
    if verdict.result != "kept":
        names = " and ".join(f"{c.kind} at {c.point} in {c.when}" for c in (verdict.first, verdict.second))
        err.print(f"✗ {names}: {one_line('; '.join(verdict.broken), 300)}", style="red", soft_wrap=True)
