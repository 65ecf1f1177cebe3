"""The results of the library's own search on open question sets, by budget of characters.

chunking_evaluation: recall, precision and IoU over the characters of the answering excerpts, as that project defines
them, at several budgets. hotpotqa_100: the passages that a two-hop question needs, found by one search and by two; the
second search joins the question with the first passage found. It writes a JSON file and a plot, prints a table, and
lists the missed goals.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from antiphon.knowledge import Library, Tuning, index_paths, load_embedder
from antiphon.vocabulary.ports import Embedder
from antiphon.vocabulary.values import Value
from benchmarks.retrieval.absence import Absence, measure_absence
from benchmarks.retrieval.plot import Point, plot
from benchmarks.retrieval.sets import (
    CHUNKING_EVALUATION,
    HOTPOTQA,
    Coverage,
    ExcerptQuestion,
    HopQuestion,
    Places,
    corpora,
    coverage,
    excerpt_questions,
    hop_passages,
    hop_questions,
    write_corpora,
    write_passages,
)

DATA = Path("../shared/data")
# Budgets of characters, with the recall in per cent to reach within each.
GOALS = {1_000: 65.0, 2_000: 79.0, 3_800: 90.0, 5_400: 94.0}
HOPS_IN_FIVE = 85.0
ALL_IN_TWO_ROUNDS = 94.0
# More passages than fit into any budget, so that the budget is the limit.
PASSAGES = 20
# Characters of the first search's best passage that the second search includes.
_TOLD = 300
# The values to try when measuring a fit; all other parameters are the product's.
GRID = tuple(
    Tuning(words=words, saturation=saturation)
    for words in (0.75, 1.0, 1.25)
    for saturation in (0.2, 0.4, 0.6)
)


class Excerpts(Value, frozen=True, kw_only=True):
    """Means over the questions of chunking_evaluation at one budget, in per cent."""

    budget: int
    recall: float
    precision: float
    iou: float
    characters: float


class Hops(Value, frozen=True, kw_only=True):
    """Per cent of the needed passages that were found, and of the questions with all of theirs."""

    search: str
    found: float
    all_found: float


class Fitted(Value, frozen=True, kw_only=True):
    """The best parameters on some corpora, and the results of these and of the product's own on the others."""

    fitted_on: tuple[str, ...]
    shown_on: tuple[str, ...]
    words: float
    saturation: float
    recall: float
    unfitted_recall: float


class Report(Value, frozen=True, kw_only=True):
    """All measurements with one embedder."""

    embedder: str
    excerpts: tuple[Excerpts, ...] = ()
    hops: tuple[Hops, ...] = ()
    fitted: tuple[Fitted, ...] = ()
    absence: tuple[Absence, ...] = ()

    def shortfalls(self) -> list[str]:
        """Lists the missed goals."""
        missed = []
        for one in self.excerpts:
            if one.recall < GOALS[one.budget]:
                missed.append(
                    f"recall {one.recall:.1f} at {one.characters:,.0f} characters, goal {GOALS[one.budget]:.0f}"
                )
        for hops in self.hops:
            if hops.search == "5 passages" and hops.found < HOPS_IN_FIVE:
                missed.append(f"R@5 {hops.found:.1f}, goal {HOPS_IN_FIVE:.0f}")
            if hops.search == "5 + 5" and hops.all_found < ALL_IN_TWO_ROUNDS:
                missed.append(
                    f"all in two rounds {hops.all_found:.0f}, goal {ALL_IN_TWO_ROUNDS:.0f}"
                )
        return missed


class KeepingEmbedder:
    """An embedder that embeds each question only once for all budgets and parameters."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: dict[str, list[float]] = {}
        self.name = embedder.name
        self.dimensions = embedder.dimensions
        self.max_tokens = embedder.max_tokens

    def count_tokens(self, text: str) -> int:
        return self._embedder.count_tokens(text)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        for text in texts:
            if text not in self._kept:
                self._kept[text] = self._embedder.embed([text])[0]
        return [self._kept[text] for text in texts]


class ExcerptSet:
    """The indexed corpora of chunking_evaluation."""

    def __init__(self, data: Path, folder: Path, embedder: Embedder) -> None:
        texts = corpora(data)
        write_corpora(texts, folder / "corpora")
        index_paths([folder / "corpora"], folder / "data", embedder)
        self._folder = folder / "data"
        self._embedder = KeepingEmbedder(embedder)
        self._places = {name: Places(text) for name, text in texts.items()}
        self._questions = excerpt_questions(data)

    def measure(self, tuning: Tuning, budget: int) -> list[Coverage]:
        """Searches for every question."""
        library = Library.open(self._folder, self._embedder, tuning=tuning)
        found = []
        for question in self._questions:
            passages = library.search(question.text, limit=PASSAGES, characters=budget)
            found.append(coverage(question, passages, self._places))
        library.close()
        return found

    def fit(self, budget: int) -> list[Fitted]:
        """Fits the parameters on some corpora and tests them on the others, in both directions."""
        names = sorted(self._places)
        half = len(names) // 2
        parts = (tuple(names[:half]), tuple(names[half:]))
        plain = self.measure(Tuning(), budget)
        tried = {tuning: self.measure(tuning, budget) for tuning in GRID}
        results = []
        for fitted_on, shown_on in (parts, parts[::-1]):
            chosen = max(
                GRID,
                key=lambda tuning: _recall(self._questions, tried[tuning], fitted_on),
            )
            result = Fitted(
                fitted_on=fitted_on,
                shown_on=shown_on,
                words=chosen.words,
                saturation=chosen.saturation,
                recall=_recall(self._questions, tried[chosen], shown_on),
                unfitted_recall=_recall(self._questions, plain, shown_on),
            )
            results.append(result)
        return results


def _recall(
    questions: Sequence[ExcerptQuestion],
    found: Sequence[Coverage],
    names: Sequence[str],
) -> float:
    """Returns the mean recall over the questions about some corpora, in per cent."""
    recalls = []
    for question, one in zip(questions, found, strict=True):
        if question.corpus in names:
            recalls.append(one.recall)
    return 100 * sum(recalls) / len(recalls)


def mean(found: Sequence[Coverage], budget: int) -> Excerpts:
    """Averages over questions."""
    count = len(found)
    return Excerpts(
        budget=budget,
        recall=100 * sum(one.recall for one in found) / count,
        precision=100 * sum(one.precision for one in found) / count,
        iou=100 * sum(one.iou for one in found) / count,
        characters=sum(one.characters for one in found) / count,
    )


def measure_hops(data: Path, folder: Path, embedder: Embedder) -> list[Hops]:
    """Searches hotpotqa_100 once and twice."""
    write_passages(hop_passages(data), folder / "passages")
    index_paths([folder / "passages"], folder / "data", embedder)
    library = Library.open(folder / "data", KeepingEmbedder(embedder))
    questions = hop_questions(data)
    results = []
    for limit in (2, 5, 10):
        shares = [_one_round(library, question, limit) for question in questions]
        results.append(_hops(f"{limit} passages", shares))
    shares = [_two_rounds(library, question) for question in questions]
    results.append(_hops("5 + 5", shares))
    library.close()
    return results


def _one_round(library: Library, question: HopQuestion, limit: int) -> float:
    found = {one.course for one in library.search(question.text, limit=limit)}
    return len(question.titles & found) / len(question.titles)


def _two_rounds(library: Library, question: HopQuestion) -> float:
    first = library.search(question.text)
    best = first[0]
    query = f"{question.text} {best.course} {best.text.text[:_TOLD]}"
    second = library.search(query, known=first)
    found = {one.course for one in (*first, *second)}
    return len(question.titles & found) / len(question.titles)


def _hops(search: str, shares: Sequence[float]) -> Hops:
    whole = sum(share == 1.0 for share in shares)
    return Hops(
        search=search,
        found=100 * sum(shares) / len(shares),
        all_found=100 * whole / len(shares),
    )


def run(data: Path, folder: Path, embedder: Embedder, console: Console) -> Report:
    """Measures on the available sets, and loudly names the missing ones."""
    report = Report(embedder=embedder.name)
    if (data / CHUNKING_EVALUATION).is_dir():
        excerpts = ExcerptSet(data, folder / CHUNKING_EVALUATION, embedder)
        means = [mean(excerpts.measure(Tuning(), budget), budget) for budget in GOALS]
        report = msgspec.structs.replace(
            report, excerpts=tuple(means), fitted=tuple(excerpts.fit(3_800))
        )
    else:
        console.print(f"[bold red]SKIPPED[/]: {data / CHUNKING_EVALUATION} is missing")
    if (data / HOTPOTQA).is_dir():
        hops = measure_hops(data, folder / HOTPOTQA, embedder)
        report = msgspec.structs.replace(report, hops=tuple(hops))
    else:
        console.print(f"[bold red]SKIPPED[/]: {data / HOTPOTQA} is missing")
    if report.excerpts and report.hops:
        questions = {
            CHUNKING_EVALUATION: [one.text for one in excerpt_questions(data)],
            HOTPOTQA: [one.text for one in hop_questions(data)],
        }
        folders = {name: folder / name / "data" for name in questions}
        absence = measure_absence(folders, questions, KeepingEmbedder(embedder))
        report = msgspec.structs.replace(report, absence=tuple(absence))
    return report


def show_excerpts(report: Report, console: Console) -> None:
    """Prints the results on chunking_evaluation."""
    table = Table(title=f"chunking_evaluation, {report.embedder}")
    for column in ("budget", "recall", "precision", "IoU", "characters", "goal"):
        table.add_column(column, justify="right")
    for one in report.excerpts:
        table.add_row(
            f"{one.budget:,}",
            f"{one.recall:.1f}",
            f"{one.precision:.1f}",
            f"{one.iou:.1f}",
            f"{one.characters:,.0f}",
            f"{GOALS[one.budget]:.0f}",
        )
    console.print(table)
    for fitted in report.fitted:
        console.print(
            f"fitted on {', '.join(fitted.fitted_on)} (words {fitted.words}, saturation {fitted.saturation}), "
            f"shown on {', '.join(fitted.shown_on)}: recall {fitted.recall:.1f}; "
            f"the product's figures there: {fitted.unfitted_recall:.1f}"
        )


def show_hops(report: Report, console: Console) -> None:
    """Prints the results on hotpotqa_100."""
    table = Table(title=f"hotpotqa_100, {report.embedder}")
    for column in ("search", "found", "all found"):
        table.add_column(column, justify="right")
    for hops in report.hops:
        table.add_row(hops.search, f"{hops.found:.1f}", f"{hops.all_found:.0f}")
    console.print(table)


def show_absence(report: Report, console: Console) -> None:
    """Prints how well the threshold recognises questions without an answer."""
    for absence in report.absence:
        console.print(
            f"unanswerable below a likeness of {absence.threshold:.2f} (fitted on {absence.fitted_on}): "
            f"on {absence.shown_on} {absence.recognised:.0f} % recognised, "
            f"{absence.refused:.0f} % of the answerable refused"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--embedder", default="onnx")
    parser.add_argument("--folder", type=Path, help="keeps the indexes, for next time")
    parser.add_argument("--out", type=Path, default=Path("build/retrieval"))
    arguments = parser.parse_args()
    console = Console(width=120)
    embedder = load_embedder(arguments.embedder)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        report = run(arguments.data, folder, embedder, console)
    if report.excerpts:
        show_excerpts(report, console)
    if report.hops:
        show_hops(report, console)
    show_absence(report, console)
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "retrieval.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2))
    points = [
        Point(characters=one.characters, recall=one.recall) for one in report.excerpts
    ]
    (arguments.out / "retrieval.svg").write_text(plot(points, GOALS))
    console.print(f"written: {path} and {path.with_suffix('.svg')}")
    missed = report.shortfalls()
    for line in missed:
        console.print(f"[bold red]missed[/]: {line}")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
