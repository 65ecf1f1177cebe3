"""What came of a run, for people (a table of points by kinds), for programs (JSON), and for a browser (HTML)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

import msgspec

from faults.cells import NotApplicable
from faults.kinds import KINDS, MEANING
from faults.matrix import Report, Verdict

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
    failures = [{"command": v.cell.command, "result": v.result, "broken": v.broken} for v in report.failures]
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
    why = {(each.point, each.kind): each.why for each in report.not_applicable}
    head = "".join(f"<th title='{escape(MEANING[kind])}'>{kind}</th>" for kind in KINDS)
    body = "".join(
        f"<tr><td class=p>{escape(point)}</td>"
        + "".join(_td(row.get(kind, "·"), why.get((point, kind), "")) for kind in KINDS)
        + "</tr>"
        for point, row in table(report)
    )
    told = ", ".join(f"{name.replace('_', ' ')} {number:,}" for name, number in counts(report).items())
    return (
        f"<!doctype html><meta charset=utf-8><title>Faults</title><style>{_STYLE}</style><h1>Faults</h1>"
        f"<p>Seed {report.seed}: {told}.</p>{_failures(report.failures)}"
        f"<table><tr><th class=p>point</th>{head}</tr>{body}</table>"
    )


def _td(signs: str, why: str) -> str:
    if signs == "·":
        return f"<td class=na title='{escape(why)}'>·</td>"
    kind = "broken" if "✗" in signs else "notfired" if "?" in signs else "kept"
    return f"<td class={kind}>{signs}</td>"


def _failures(failures: Sequence[Verdict]) -> str:
    items = (
        f"<li><code>{escape(v.cell.command)}</code>: {escape('; '.join(v.broken) or v.result)}</li>" for v in failures
    )
    return f"<ul>{''.join(items)}</ul>"


def reasons(not_applicable: Sequence[NotApplicable]) -> list[tuple[str, int]]:
    """Why cells make no sense, with how many of them."""
    return Counter(each.why for each in not_applicable).most_common()
