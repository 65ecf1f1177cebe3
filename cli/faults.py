"""`antiphon faults run|list`: breaks the service on purpose, at every point, and checks that it keeps its promises."""

from __future__ import annotations

import importlib
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from antiphon import faults, service
from antiphon.cli.fault_worlds import opener, scratch_folder, world_of
from antiphon.cli.faults_showing import (
    progress,
    refuse_unwritable,
    show,
    show_pairs,
    show_run,
    write_report,
)
from antiphon.cli.session import DataDir, Json
from antiphon.cli.terminal import err, one_line, out, print_json
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.imports import needing_extra

Points = Annotated[
    str,
    typer.Option(
        "--points",
        help="Only these points, comma-separated; `tool.*` is all tools.",
    ),
]
Tools = Annotated[
    str,
    typer.Option(
        "--tools", help="Your own tools: package.module:name, comma-separated."
    ),
]
Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        help="Keep the traces on this NATS server (nats://host:4222), each run under its own prefix.",
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", help="Seed for the question and the order of queries.")
]
Html = Annotated[
    Path | None, typer.Option("--html", help="Write the report as an HTML page.")
]
JsonFile = Annotated[
    Path | None, typer.Option("--json-file", help="Write the report as JSON.")
]


def run(
    points: Points = "",
    kinds: Annotated[
        str, typer.Option("--kinds", help="Only these kinds, comma-separated.")
    ] = "",
    when: Annotated[
        str,
        typer.Option(
            "--when", help="Only in this part: start, round_1, round_2, final."
        ),
    ] = "",
    tools: Tools = "",
    fault: Annotated[
        list[str] | None,
        typer.Option(
            "--fault",
            help="Run one query with this fault, POINT:KIND[:WHEN]; repeatable.",
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", help="Run only this fault plan (YAML or JSON)."),
    ] = None,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Inject two faults at a time.")
    ] = False,
    most: Annotated[
        int,
        typer.Option(
            "--most",
            min=0,
            help="With --pairs: maximum number of pairs, chosen by the seed; 0: all.",
        ),
    ] = 0,
    seed: Seed = 0,
    store: Store = None,
    html: Html = None,
    json_file: JsonFile = None,
    keep: Annotated[
        bool,
        typer.Option(
            "--keep",
            help="Keep the report and the traces of its cells, for the page /faults.",
        ),
    ] = False,
    data_dir: DataDir = None,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Stop at the first failure.")
    ] = False,
    as_json_: Json = False,
) -> None:
    """Injects every single fault (or those named), each in its own query; exit code 1 if a promise breaks."""
    # The run provokes thousands of failures, each of which would be a line in the log.
    service.silence_logging()
    reports = [path for path in (html, json_file) if path is not None]
    is_filtered = (points, kinds, when) != ("", "", "")
    is_alone = plan is not None or bool(fault)
    _refuse_mixture(
        is_alone=is_alone, is_filtered=is_filtered, pairs=pairs, reports=reports
    )
    _refuse_keeping(keep=keep, is_matrix=not is_alone and not pairs)
    if is_alone:
        _run_experiment(_experiment_of(plan, fault or [], seed), tools, store)
        return
    # Checked before the run, which takes minutes.
    if html is not None:
        with needing_extra("reports", "`--html`"):
            importlib.import_module("antiphon.faults.report_page")
    for path in reports:
        refuse_unwritable(path)
    with world_of(tools, store) as world:
        if pairs:
            _run_pairs(world, seed, most, html, json_file)
        else:
            chosen = faults.Chosen(_split(points), _split(kinds), when)
            places = _Reports(html, json_file, _kept(data_dir, keep=keep))
            _run_singles(world, seed, chosen, places, as_json_, fail_fast=fail_fast)


def list_points(tools: Tools = "") -> None:
    """Lists every injection point and the kinds of fault it supports."""
    service.silence_logging()
    with world_of(tools) as world:
        for point in faults.all_points(world):
            out.print(
                f"{point}  {' '.join(faults.point_type(point).kinds)}", soft_wrap=True
            )
    for kind in faults.KINDS:
        err.print(f"{kind}: {faults.MEANING[kind]}", style="dim", soft_wrap=True)


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _refuse_mixture(
    *, is_alone: bool, is_filtered: bool, pairs: bool, reports: Sequence[Path]
) -> None:
    if is_alone and (is_filtered or pairs or reports):
        raise BadInputError(
            "A plan or a fault runs alone: without --points, --kinds, --when, --pairs and reports."
        )
    if pairs and is_filtered:
        raise BadInputError(
            "Pairs are chosen by --most and --seed, not by --points, --kinds or --when."
        )


class _Reports(NamedTuple):
    """The files to which the report of the matrix is written."""

    html: Path | None
    json_file: Path | None
    kept: service.KeptFaults | None

    def keep(self, run: faults.Run) -> None:
        if self.kept is not None:
            self.kept.add(run.trace)

    def write(self, report: faults.Report) -> None:
        if self.html is not None:
            write_report(self.html, faults.as_html(report).encode())
        if self.json_file is not None:
            write_report(self.json_file, faults.as_json(report))
        if self.kept is not None:
            self.kept.finish(faults.as_json(report))


def _refuse_keeping(*, keep: bool, is_matrix: bool) -> None:
    if keep and not is_matrix:
        raise BadInputError(
            "Only the matrix of single faults can be kept: leave out --plan, --fault and --pairs."
        )


def _kept(data_dir: Path | None, *, keep: bool) -> service.KeptFaults | None:
    if not keep:
        return None
    return service.KeptFaults(service.load_settings(data_dir=data_dir).data_dir)


def _run_singles(
    world: faults.World,
    seed: int,
    chosen: faults.Chosen,
    reports: _Reports,
    as_json_: bool,
    *,
    fail_fast: bool,
) -> None:
    began = time.monotonic()
    report = faults.run_singles(
        world, seed, chosen, progress("cells"), reports.keep, fail_fast=fail_fast
    )
    reports.write(report)
    if as_json_:
        print_json(faults.as_json(report).decode())
    else:
        show(report)
    err.print(f"{time.monotonic() - began:.0f} s", style="dim")
    # A filter that leaves nothing must not look like a success.
    if not report.verdicts:
        why = "no such cell"
        if report.not_applicable:
            why, _ = faults.reasons(report.not_applicable)[0]
        err.print(f"✗ Nothing was tried: {why}.", style="red", soft_wrap=True)
        raise typer.Exit(1)
    if report.failures:
        raise typer.Exit(1)


def _run_pairs(
    world: faults.World, seed: int, most: int, html: Path | None, json_file: Path | None
) -> None:
    began = time.monotonic()
    verdicts = faults.run_pairs(world, seed, progress("pairs"), most)
    if html is not None:
        write_report(html, faults.pairs_as_html(verdicts, seed).encode())
    if json_file is not None:
        write_report(json_file, faults.pairs_as_json(verdicts, seed))
    show_pairs(verdicts, time.monotonic() - began)
    for verdict in verdicts:
        if verdict.result != "kept":
            raise typer.Exit(1)


def _experiment_of(plan: Path | None, named: list[str], seed: int) -> faults.Experiment:
    """Reads the experiment in a file, or makes one of the named faults."""
    if plan is not None:
        return faults.read_experiment(plan)
    parsed = tuple(map(faults.parse_fault, named))
    return faults.Experiment.of(faults.Plan(faults=parsed, seed=seed))


def _run_experiment(
    experiment: faults.Experiment, tools: str, store: str | None
) -> None:
    # A mistyped point would never fire, which the other faults of a run could hide.
    with world_of(tools) as world:
        unknown = faults.unknown_points(world, experiment)
    if unknown:
        raise BadInputError(
            f"There is no point {unknown[0]!r}: `antiphon faults list` names them."
        )
    with scratch_folder():
        # Runs twice, because the same plan must lead to the same events.
        steps, broken = faults.run_experiment(
            opener(tools, store), experiment, twice=True
        )
    runs = list(chain.from_iterable(steps))
    for number, each in enumerate(runs, start=1):
        if len(runs) > 1:
            out.print(f"query {number}: {each.plan.scenario}", style="bold")
        show_run(each)
    for wrong in broken:
        err.print(f"✗ {one_line(wrong, 300)}", style="red", soft_wrap=True)
    if _is_idle(runs):
        err.print("✗ No fault fired: nothing was tested.", style="red")
        raise typer.Exit(1)
    if broken:
        raise typer.Exit(1)


def _is_idle(runs: list[faults.Run]) -> bool:
    """Returns True if there were faults and none of them fired."""
    has_faults = any(each.plan.faults for each in runs)
    return has_faults and not any(each.fired for each in runs)
