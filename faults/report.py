"""Reports of the matrix and of pairs, for people (a table of points by kinds) and for programs (JSON)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from antiphon.faults.plan import MEANING
from antiphon.faults.results import NotApplicable, PairVerdict, Report

SIGNS = {"kept": "✓", "broken": "✗", "not fired": "?"}
NOTHING_TRIED = "·"
UNBROKEN = "a scenario by itself"
"""The meaning of a cell without a fault."""

Row = dict[str, str]
"""By kind, a sign for each part of a query that was tried."""


def counts(report: Report) -> dict[str, int]:
    """Counts cells run, fired, kept, broken, not fired, and not applicable."""
    results = Counter(verdict.result for verdict in report.verdicts)
    return {
        "run": len(report.verdicts),
        "fired": len(report.verdicts) - results["not fired"],
        "kept": results["kept"],
        "broken": results["broken"],
        "not_fired": results["not fired"],
        "not_applicable": len(report.not_applicable),
    }


def pair_counts(verdicts: Sequence[PairVerdict]) -> dict[str, int]:
    """Counts pairs run; pairs of which both, one or no fault fired; and broken ones."""
    fired = Counter(verdict.fired for verdict in verdicts)
    results = Counter(verdict.result for verdict in verdicts)
    return {
        "run": len(verdicts),
        "both_fired": fired[2],
        "one_fired": fired[1],
        "none_fired": fired[0],
        "broken": results["broken"],
    }


def reasons(not_applicable: Sequence[NotApplicable]) -> list[tuple[str, int]]:
    """Counts the cells that make no sense, by reason."""
    return Counter(cell.why for cell in not_applicable).most_common()


def table(report: Report) -> list[tuple[str, Row]]:
    """Makes a row for each point; `·` marks a kind that makes no sense there in any part of a query."""
    rows: dict[str, Row] = {}
    for cell in report.not_applicable:
        rows.setdefault(cell.point, {}).setdefault(cell.kind, NOTHING_TRIED)
    for verdict in report.verdicts:
        row = rows.setdefault(verdict.cell.point, {})
        kind = verdict.cell.kind
        # A kind that makes sense in only one part of a query still counts as tried.
        tried = row.get(kind, "").replace(NOTHING_TRIED, "")
        row[kind] = tried + SIGNS[verdict.result]
    return list(rows.items())


def as_json(report: Report) -> bytes:
    """Writes the whole report."""
    failures = [
        {
            "command": verdict.command,
            "result": verdict.result,
            "broken": verdict.broken,
        }
        for verdict in report.failures
    ]
    return msgspec.json.encode(
        {
            "seed": report.seed,
            "counts": counts(report),
            "kinds": {"none": UNBROKEN} | MEANING,
            "failures": failures,
            "cells": report.verdicts,
            "not_applicable": report.not_applicable,
        }
    )


def pairs_as_json(verdicts: Sequence[PairVerdict], seed: int) -> bytes:
    """Writes the whole report of pairs."""
    return msgspec.json.encode(
        {
            "seed": seed,
            "counts": pair_counts(verdicts),
            "failures": failing(verdicts),
            "pairs": verdicts,
        }
    )


def failing(verdicts: Sequence[PairVerdict]) -> list[PairVerdict]:
    """Returns the pairs that broke a promise or had a fault that did not fire."""
    return [verdict for verdict in verdicts if verdict.result != "kept"]
