"""Fits the likelihood that an answer without a key is right, and shows the worth of its labels.

It asks the indexes of the courses those sample questions that one search answers, or that nothing answers. It fits the
weights on the questions about the seven sample courses, and prints them beside those of engine/offline/likelihood.py;
the curve shows the latter on the recorded courses, which played no part in fitting them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from math import log, log1p
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from antiphon import service
from antiphon.cli.phrases import stands_in
from antiphon.cli.questions import UNANSWERABLE, SampleQuestion
from antiphon.engine.offline.likelihood import FOUND, REFUSED, Fit, fit_of
from antiphon.engine.offline.task import Source
from antiphon.engine.offline.windows import look
from antiphon.knowledge import Library
from antiphon.language.evidence import Measures
from benchmarks.evaluation.samples import read_samples

SAMPLES = Path("samples")
FITTED_ON = ("open", "blind-z", "sealed")
KINDS = ("fact", "definition", "how", "why", "number", "yes_no", "false_premise")
PENALTY = 1 / 3
"""The penalty on the squares of all weights but the intercept."""
BY_MEANING = (
    "beyond",
    "share",
    "terms",
    "lead",
    "unknown",
    "interaction",
    "names",
    "lacks",
)
BY_WORDS = ("share", "terms", "unknown", "names", "lacks")
THRESHOLDS = (0.2, 0.3, 0.4, REFUSED, 0.6, 0.7, FOUND, 0.8, 0.9)


Model = Literal["right", "answerable"]


class Row(NamedTuple):
    """An asked question: how well its best window fits, and the value that each model should predict."""

    fit: Fit
    answerable: bool
    right: bool


def main() -> None:
    """Asks, fits and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("data"))
    data: Path = parser.parse_args().data
    out = Console(width=120)
    rows: list[Row] = []
    for name in FITTED_ON:
        rows += _ask(SAMPLES / f"{name}.jsonl", data / "eval")
    out.print(f"Fitted on {len(rows)} questions over the sample courses:")
    by_meaning = Fit(beyond=0.0)
    out.print(_weights("right", rows, BY_MEANING, by_meaning))
    out.print(_weights("answerable", rows, BY_MEANING, by_meaning))
    out.print(_weights("answerable", rows, BY_WORDS, Fit()))
    recorded: list[Row] = []
    for path in sorted((SAMPLES / "recorded").glob("*.jsonl")):
        recorded += _ask(path, data / f"eval-{path.stem}")
    out.print(f"Shown on {len(recorded)} questions over the recorded courses:")
    out.print(_curve(recorded))


def _ask(path: Path, data_dir: Path) -> list[Row]:
    """Asks the questions of a file; leaves out those without a result."""
    settings = service.load_settings(data_dir=data_dir)
    library = Library.open(data_dir, service.embedder_of(settings))
    measures = Measures(library.weight, library.likeness)
    rows: list[Row] = []
    for each in read_samples(path):
        # A follow-up cannot be looked up by itself.
        if each.kind not in (*KINDS, UNANSWERABLE) or each.earlier:
            continue
        looked = look(each.question, _found(library, each.question), measures)
        if looked.windows:
            shown = "\n".join([window.text for window in looked.windows])
            fit = fit_of(each.question, looked, measures)
            rows.append(Row(fit, each.kind != UNANSWERABLE, _answers(shown, each)))
    library.close()
    return rows


def _found(library: Library, question: str) -> list[Source]:
    sources: list[Source] = []
    for found in library.search(question, limit=5):
        blocks = [found.sentence(at) for at in range(len(found.starts))]
        sources.append(Source(None, found.source, found.title or "", tuple(blocks)))
    return sources


def _answers(shown: str, question: SampleQuestion) -> bool:
    """Returns True if the shown text contains a phrase of each part of the answer."""
    parts: list[bool] = []
    for part in question.needed:
        parts.append(any(stands_in(phrase, shown) for phrase in part))
    return bool(parts) and all(parts)


def _weights(
    model: Model, rows: Sequence[Row], names: Sequence[str], zero: Fit
) -> Table:
    """Lists the best-fitting weights and the product's, derived from fits with a single non-zero feature."""
    table = Table(model, "fitted", "in likelihood.py")
    at_zero = _log_odds(zero, model)
    intercept, *weights = _fitted(rows, names, model)
    table.add_row("intercept", f"{intercept:.2f}", f"{at_zero:.2f}")
    for name, weight in zip(names, weights, strict=True):
        one = Fit(**zero._asdict() | {name: 1})
        shipped = (_log_odds(one, model) - at_zero) / _features(one, [name])[1]
        table.add_row(name, f"{weight:.2f}", f"{shipped:.2f}")
    return table


def _log_odds(fit: Fit, model: Model) -> float:
    chance: float = getattr(fit, model)
    return log(chance / (1 - chance))


def _fitted(rows: Sequence[Row], names: Sequence[str], model: Model) -> list[float]:
    """Fits a logistic model by Newton's method (Hastie et al., The Elements of Statistical Learning, 4.4.1)."""
    features = np.array([_features(row.fit, names) for row in rows])
    told = np.array([float(getattr(row, model)) for row in rows])
    penalty = PENALTY * np.diag([0.0, *[1.0] * len(names)])
    weights = np.zeros(len(names) + 1)
    for _ in range(30):
        likely = 1 / (1 + np.exp(-features @ weights))
        slope = features.T @ (told - likely) - penalty @ weights
        curvature = (features.T * (likely * (1 - likely))) @ features + penalty
        weights = weights + np.linalg.solve(curvature, slope)
    return [float(weight) for weight in weights]


def _features(fit: Fit, names: Sequence[str]) -> list[float]:
    """Returns a one for the intercept, and the features."""
    known = fit._asdict() | {"terms": log1p(fit.terms)}
    return [1.0, *[float(known[name]) for name in names]]


def _curve(rows: Sequence[Row]) -> Table:
    """Lists the effect of each threshold: the share it would label as found, and the share it would refuse."""
    table = Table("from", "found, of answerable", "right, of found")
    table.add_column("refused, of answerable")
    table.add_column("refused, of unanswerable")
    for bar in THRESHOLDS:
        table.add_row(f"{bar:.2f}", *map(_share, _flags(rows, bar)))
    return table


def _flags(rows: Sequence[Row], bar: float) -> Iterator[list[bool]]:
    """Yields for one threshold the found, the right among them, and the refused: answerable and unanswerable ones."""
    found = [row for row in rows if row.fit.right >= bar]
    yield [row in found for row in rows if row.answerable]
    yield [row.right for row in found]
    for answerable in (True, False):
        asked = [row for row in rows if row.answerable is answerable]
        yield [row.fit.answerable < bar for row in asked]


def _share(flags: Sequence[bool]) -> str:
    return f"{sum(flags)} of {len(flags)} ({sum(flags) / max(len(flags), 1):.1%})"


if __name__ == "__main__":
    main()
