"""The printed report of a run: a line for each kind of question, the shares, and the answers that failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median_high

from antiphon.cli.terminal import new_table, one_line, out, short_id
from benchmarks.evaluation.figures import Figures, Share, by_kind, first_of
from benchmarks.evaluation.grading import Grade


def show(grades: Sequence[Grade], figures: Figures) -> None:
    """Prints a line for each kind of question, the shares, and each answer that is not right."""
    table = new_table(
        "Kind",
        "Asked",
        "Answered",
        "In part",
        "Failed",
        "Parts",
        "Right lesson first",
        "Said so",
        "Most rounds",
        "Most calls",
        "Characters (median)",
        "ms (median)",
    )
    for kind, of_kind in by_kind(grades).items():
        table.add_row(kind, *_row(of_kind))
    for form, of_form in _by_form(grades).items():
        table.add_row(f"form: {form}", *_row(of_form), style="dim")
    table.add_row("all", *_row(grades), style="bold")
    out.table(table)
    out.print_line("")
    _show_shares(figures)
    for each in grades:
        if not each.right:
            _show_failure(each)


def _show_failure(grade: Grade) -> None:
    verdict = grade.verdict.replace("_", " ")
    question = one_line(grade.question, 120)
    cited = one_line(", ".join(grade.cited), 200) or "nothing"
    answer = one_line(grade.answer, 300)
    out.print(f"✗ {grade.id} {verdict}, {grade.confidence}: {question}", soft_wrap=True)
    out.print(
        f"    cited {cited}: {answer} ({short_id(grade.query_id)})", soft_wrap=True
    )


def _by_form(grades: Sequence[Grade]) -> dict[str, list[Grade]]:
    forms: dict[str, list[Grade]] = {}
    for each in grades:
        for form in each.forms:
            forms.setdefault(form, []).append(each)
    return forms


def _row(grades: Sequence[Grade]) -> tuple[str, ...]:
    verdicts = Counter(each.verdict for each in grades)
    return (
        str(len(grades)),
        str(verdicts["answered"]),
        str(verdicts["in_part"]),
        str(verdicts["failed"]),
        _of(_parts(grades)),
        _of(first_of(grades)),
        str(sum(each.says_so for each in grades)),
        str(max(each.rounds for each in grades)),
        str(max(each.calls for each in grades)),
        f"{median_high(len(each.answer) for each in grades):.0f}",
        f"{median_high(each.duration_ms for each in grades):.0f}",
    )


def _parts(grades: Sequence[Grade]) -> Share:
    return Share(
        count=sum(each.parts_found for each in grades),
        of=sum(each.parts for each in grades),
    )


def _of(share: Share) -> str:
    # Empty if nothing was to be found, because 0/0 would look like a failure.
    return f"{share.count}/{share.of}" if share.of else ""


def _show_shares(figures: Figures) -> None:
    table = new_table("Share", "")
    table.add_row(
        "what answers the question stands in the answer", str(figures.answered)
    )
    table.add_row("right lesson first", str(figures.first))
    table.add_row("two steps", str(figures.two_step))
    table.add_row("catalogue", str(figures.catalogue))
    table.add_row("unanswerable, and said so", str(figures.said_so))
    table.add_row("answerable, and said to have no answer", str(figures.refused))
    table.add_row("answerable, and nothing is shown", str(figures.empty))
    for label, share in figures.by_label.items():
        table.add_row(f"labelled {label}, and answers the question", str(share))
    out.table(table)
    out.print_line("")
