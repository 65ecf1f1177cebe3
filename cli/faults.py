"""`antiphon faults`: breaks the service on purpose, at every door, and sees whether its promises hold."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from antiphon.cli.faults_random import run_random
from antiphon.cli.faults_showing import progress, refuse_unwritable, show, show_pairs, show_run, write_report
from antiphon.cli.faults_worlds import opener, world_of
from antiphon.cli.options import Json
from antiphon.cli.terminal import err, one_line, out, print_json
from antiphon.faults import (
    KINDS,
    MEANING,
    Chosen,
    Experiment,
    Plan,
    World,
    all_points,
    as_html,
    as_json,
    pairs_as_html,
    pairs_as_json,
    parse_fault,
    point_type,
    read_experiment,
    reasons,
    run_experiment,
    run_pairs,
    run_singles,
    unknown_points,
)
from antiphon.service import silence_logging
from antiphon.vocabulary.errors import BadInputError

Points = Annotated[str, typer.Option("--points", help="Only these points, with commas between; `tool.*` is all tools.")]
Tools = Annotated[str, typer.Option("--tools", help="Tools of your own: package.module:name, with commas between.")]
Seed = Annotated[int, typer.Option("--seed", help="Chooses the question and the order of queries.")]
Html = Annotated[Path | None, typer.Option("--html", help="Write the report as a page.")]
JsonFile = Annotated[Path | None, typer.Option("--json-file", help="Write the report as JSON.")]


def add_to(app: typer.Typer) -> None:
    """Makes the commands known."""
    group = typer.Typer(no_args_is_help=True, help="Break the service on purpose and check its promises.")
    group.command("run")(run)
    group.command("list")(list_points)
    group.command("random")(run_random)
    app.add_typer(group, name="faults")


def run(
    points: Points = "",
    kinds: Annotated[str, typer.Option("--kinds", help="Only these kinds, with commas between.")] = "",
    when: Annotated[str, typer.Option("--when", help="Only in this part: start, round_1, round_2, final.")] = "",
    tools: Tools = "",
    fault: Annotated[
        list[str] | None, typer.Option("--fault", help="Run one query with this fault, POINT:KIND[:WHEN]; repeatable.")
    ] = None,
    plan: Annotated[Path | None, typer.Option("--plan", help="Run this fault plan alone (YAML or JSON).")] = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Two faults at a time.")] = False,
    most: Annotated[int, typer.Option("--most", help="With --pairs: at most so many, chosen by the seed.")] = 0,
    seed: Seed = 0,
    html: Html = None,
    json_file: JsonFile = None,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="End at the first failure.")] = False,
    as_json_: Json = False,
) -> None:
    """Tries every single fault (or those named), each in a query of its own; exit code 1 where a promise breaks."""
    silence_logging()
    _refuse_mixture(
        alone=bool(plan or fault), chosen=bool(points or kinds or when), pairs=pairs, report=html or json_file
    )
    for path in filter(None, (html, json_file)):
        refuse_unwritable(path)
    if plan is not None or fault:
        _run_experiment(read_experiment(plan) if plan else _experiment_of(fault or [], seed), tools)
        return
    with world_of(tools) as world:
        if pairs:
            _run_pairs(world, seed, most, html, json_file)
        else:
            wanted = Chosen(_split(points), _split(kinds), when)
            _run_singles(world, seed, wanted, html, json_file, as_json_, fail_fast=fail_fast)


def list_points(tools: Tools = "") -> None:
    """Names every point and the kinds that it knows."""
    silence_logging()
    with world_of(tools) as world:
        for point in all_points(world):
            out.print(f"{point}  {' '.join(point_type(point).kinds)}", soft_wrap=True)
    for kind in KINDS:
        err.print(f"{kind}: {MEANING[kind]}", style="dim", soft_wrap=True)


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _refuse_mixture(*, alone: bool, chosen: bool, pairs: bool, report: Path | None) -> None:
    if alone and (chosen or pairs or report):
        raise BadInputError("A plan or a fault runs alone: without --points, --kinds, --when, --pairs and reports.")
    if pairs and chosen:
        raise BadInputError("Pairs are chosen by --most and --seed, not by --points, --kinds or --when.")


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
    report = run_singles(world, seed, chosen, progress("cells"), fail_fast=fail_fast)
    if html is not None:
        write_report(html, as_html(report).encode())
    if json_file is not None:
        write_report(json_file, as_json(report))
    if as_json_:
        print_json(as_json(report).decode())
    else:
        show(report)
    err.print(f"{time.monotonic() - began:.0f} s", style="dim")
    if not report.verdicts:
        why = next(iter(reasons(report.not_applicable)), ("no such cell", 0))[0]
        err.print(f"✗ Nothing was tried: {why}.", style="red", soft_wrap=True)
    if report.failures or not report.verdicts:
        raise typer.Exit(1)


def _run_pairs(world: World, seed: int, most: int, html: Path | None, json_file: Path | None) -> None:
    began = time.monotonic()
    verdicts = run_pairs(world, seed, progress("pairs"), most)
    if html is not None:
        write_report(html, pairs_as_html(verdicts, seed).encode())
    if json_file is not None:
        write_report(json_file, pairs_as_json(verdicts, seed))
    show_pairs(verdicts, time.monotonic() - began)
    if any(verdict.result != "kept" for verdict in verdicts):
        raise typer.Exit(1)


def _experiment_of(faults: list[str], seed: int) -> Experiment:
    return Experiment.of(Plan(faults=tuple(map(parse_fault, faults)), seed=seed))


def _run_experiment(experiment: Experiment, tools: str) -> None:
    open_world = opener(tools)
    with world_of(tools) as world:
        for point in unknown_points(world, experiment):
            raise BadInputError(f"There is no point {point!r}: `antiphon faults list` names them.")
    steps, broken = run_experiment(open_world, experiment, twice=True)
    runs = [each for step in steps for each in step]
    for number, each in enumerate(runs, start=1):
        if len(runs) > 1:
            out.print(f"query {number}: {each.plan.scenario}", style="bold")
        show_run(each)
    for wrong in broken:
        err.print(f"✗ {one_line(wrong, 300)}", style="red", soft_wrap=True)
    idle = any(each.plan.faults for each in runs) and not any(each.fired for each in runs)
    if idle:
        err.print("✗ No fault fired: nothing was tested.", style="red")
    if broken or idle:
        raise typer.Exit(1)
