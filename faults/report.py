"""What came of a run, for people (a table of points by kinds), for programs (JSON), and for a browser (HTML)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

import msgspec

from antiphon.faults.cells import NotApplicable
from antiphon.faults.kinds import KINDS, MEANING
from antiphon.faults.matrix import Report, Verdict
from antiphon.faults.pairs import PairVerdict

SIGNS = {"kept": "✓", "broken": "✗", "not fired": "?"}
_STYLE = (
    "body{font:14px system-ui;margin:2em}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:2px 6px;"
    "text-align:center}th.p,td.p{text-align:left;font-family:monospace}.kept{background:#dfd}.broken{background:#fbb}"
    ".notfired{background:#fe9}.na{color:#bbb}"
)


def counts(report: Report) -> dict[str, int]:
    """Cells run, fired, kept, broken, not fired, and not applicable."""
    results = Counter(verdict.result for verdict in report.verdicts)
    return {
        "run": len(report.verdicts),
        "fired": len(report.verdicts) - results["not fired"],
        "kept": results["kept"],
        "broken": results["broken"],
        "not_fired": results["not fired"],
        "not_applicable": len(report.not_applicable),
    }


def as_json(report: Report) -> bytes:
    """The whole report."""
    failures = [{"command": v.command, "result": v.result, "broken": v.broken} for v in report.failures]
    return msgspec.json.encode(
        {
            "seed": report.seed,
            "counts": counts(report),
            "failures": failures,
            "cells": report.verdicts,
            "not_applicable": report.not_applicable,
        }
    )


def table(report: Report) -> list[tuple[str, dict[str, str]]]:
    """A row for each point: for each kind a sign for every part that was tried, `·` where none makes sense."""
    rows: dict[str, dict[str, str]] = {}
    for each in report.not_applicable:
        rows.setdefault(each.point, {}).setdefault(each.kind, "·")
    for verdict in report.verdicts:
        row = rows.setdefault(verdict.cell.point, {})
        row[verdict.cell.kind] = row.get(verdict.cell.kind, "").replace("·", "") + SIGNS[verdict.result]
    return list(rows.items())


def as_html(report: Report) -> str:
    """One page, with the reason of each empty cell to be read by pointing at it."""
    why: dict[tuple[str, str], str] = {(each.point, each.kind): each.why for each in report.not_applicable}
    kinds: tuple[str, ...] = ("none", *KINDS)
    head = "".join(f"<th title='{escape(_meaning(kind))}'>{kind}</th>" for kind in kinds)
    body = "".join(
        f"<tr><td class=p>{escape(point)}</td>"
        + "".join(_td(row.get(kind, "·"), why.get((point, kind), "")) for kind in kinds)
        + "</tr>"
        for point, row in table(report)
    )
    grid = f"<table><tr><th class=p>point</th>{head}</tr>{body}</table>"
    return _page(report.seed, counts(report), report.failures, grid)


def _meaning(kind: str) -> str:
    return next((told for name, told in MEANING.items() if name == kind), "a scenario by itself")


def _page(seed: int, numbers: Mapping[str, int], failures: Sequence[Verdict | PairVerdict], rest: str) -> str:
    told = ", ".join(f"{name.replace('_', ' ')} {number:,}" for name, number in numbers.items())
    return (
        f"<!doctype html><meta charset=utf-8><title>Faults</title><style>{_STYLE}</style><h1>Faults</h1>"
        f"<p>Seed {seed}: {told}.</p>{_failures(failures)}{rest}"
    )


def pair_counts(verdicts: Sequence[PairVerdict]) -> dict[str, int]:
    """Pairs run; those of which both, one or no fault fired; and broken ones."""
    fired = Counter(verdict.fired for verdict in verdicts)
    return {
        "run": len(verdicts),
        "both_fired": fired[2],
        "one_fired": fired[1],
        "none_fired": fired[0],
        "broken": sum(verdict.result == "broken" for verdict in verdicts),
    }


def pairs_as_json(verdicts: Sequence[PairVerdict], seed: int) -> bytes:
    """The whole report of pairs."""
    failures = [verdict for verdict in verdicts if verdict.result != "kept"]
    told = {"seed": seed, "counts": pair_counts(verdicts), "failures": failures, "pairs": verdicts}
    return msgspec.json.encode(told)


def pairs_as_html(verdicts: Sequence[PairVerdict], seed: int) -> str:
    """One page: the counts, and each failing pair with the command that tries it alone."""
    return _page(seed, pair_counts(verdicts), [verdict for verdict in verdicts if verdict.result != "kept"], "")


def _td(signs: str, why: str) -> str:
    if signs == "·":
        return f"<td class=na title='{escape(why)}'>·</td>"
    kind = "broken" if "✗" in signs else "notfired" if "?" in signs else "kept"
    return f"<td class={kind}>{signs}</td>"


def _failures(failures: Sequence[Verdict | PairVerdict]) -> str:
    items = (f"<li><code>{escape(v.command)}</code>: {escape('; '.join(v.broken) or v.result)}</li>" for v in failures)
    return f"<ul>{''.join(items)}</ul>"


def reasons(not_applicable: Sequence[NotApplicable]) -> list[tuple[str, int]]:
    """Why cells make no sense, with how many of them."""
    return Counter(each.why for each in not_applicable).most_common()
