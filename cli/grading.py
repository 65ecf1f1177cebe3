"""`antiphon eval`: asks files of questions and judges the answers by what stands in them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from statistics import median_high
from typing import Annotated, Any, NamedTuple

import msgspec
import typer

from antiphon import service
from antiphon.cli.eval_figures import (
    Figures,
    Grade,
    Share,
    Targets,
    by_kind,
    figures_of,
    first_of,
    shortfalls,
)
from antiphon.cli.eval_plot import as_svg
from antiphon.cli.judging import (
    common_phrases,
    judge,
    passages_of,
    places_cited,
    wrong_citations,
)
from antiphon.cli.questions import SampleQuestion, read_questions
from antiphon.cli.session import (
    DataDir,
    Json,
    Model,
    Reasoner,
    opened,
    settings_to_ask,
)
from antiphon.cli.terminal import (
    err,
    new_table,
    one_line,
    out,
    print_json,
    short_id,
)
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.values import Passage

DEFAULTS = Targets()


def _share(what: str) -> Any:
    """Returns the option for a share that is wanted."""
    return typer.Option(min=0, max=1, help=what)


def evaluate(
    files: Annotated[
        list[Path],
        typer.Argument(help="Questions as JSON lines, such as samples/open.jsonl."),
    ],
    as_json: Json = False,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Draw kinds and calibration into an SVG file."),
    ] = None,
    least_answered: Annotated[
        float, _share("Share whose answer holds what answers the question.")
    ] = DEFAULTS.least_answered,
    least_first: Annotated[
        float, _share("Share whose first cited lesson is a right one.")
    ] = DEFAULTS.least_first,
    least_two_step: Annotated[
        float, _share("Share of questions in two steps that are answered.")
    ] = DEFAULTS.least_two_step,
    least_catalogue: Annotated[
        float, _share("Share of questions about the catalogue that are answered.")
    ] = DEFAULTS.least_catalogue,
    least_said_so: Annotated[
        float, _share("Share of unanswerable questions of which the answer says so.")
    ] = DEFAULTS.least_said_so,
    most_refused: Annotated[
        float, _share("Share of answerable questions said to have no answer.")
    ] = DEFAULTS.most_refused,
    least_high: Annotated[
        float, _share("Share of answers labelled high that answer the question.")
    ] = DEFAULTS.least_high,
    least_medium: Annotated[
        float, _share("Share of answers labelled medium that answer the question.")
    ] = DEFAULTS.least_medium,
    most_rounds: Annotated[
        int, typer.Option(help="Most rounds a question may take.")
    ] = DEFAULTS.most_rounds,
    most_calls: Annotated[
        int, typer.Option(help="Most reasoning calls a question may take.")
    ] = DEFAULTS.most_calls,
    at_once: Annotated[
        int, typer.Option(min=1, help="How many questions are asked at once.")
    ] = 2,
    data_dir: DataDir = None,
    reasoner: Reasoner = None,
    model: Model = None,
) -> None:
    """Asks every question of the files and judges the answers; exit code 1 below the targets."""
    targets = Targets(
        least_answered=least_answered,
        least_first=least_first,
        least_two_step=least_two_step,
        least_catalogue=least_catalogue,
        least_said_so=least_said_so,
        most_refused=most_refused,
        least_high=least_high,
        least_medium=least_medium,
        most_rounds=most_rounds,
        most_calls=most_calls,
    )
    questions: list[SampleQuestion] = []
    for file in files:
        questions += read_questions(_lines(file), str(file))
    settings = settings_to_ask(data_dir=data_dir, reasoner=reasoner, model=model)
    asked = asyncio.run(_ask_all(settings, questions, at_once))
    grades = grades_of(asked)
    figures = figures_of(grades)
    short = shortfalls(grades, targets)
    if as_json:
        report = {"grades": grades, "figures": figures, "shortfalls": short}
        print_json(msgspec.json.encode(report).decode())
    else:
        show(grades, figures)
    if plot is not None:
        _write(plot, as_svg(grades, figures, targets))
    for sentence in short:
        err.print(one_line(sentence, 300), style="red", soft_wrap=True)
    if short:
        raise typer.Exit(1)


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(
            f"{file} cannot be read ({error}): name a file of questions in UTF-8."
        ) from error


def _write(path: Path, drawing: str) -> None:
    try:
        path.write_text(drawing, encoding="utf-8")
    except OSError as error:
        raise BadInputError(
            f"{path} cannot be written ({error}): name another file."
        ) from error


class Asked(NamedTuple):
    """A question with what came of it."""

    question: SampleQuestion
    outcome: service.Outcome
    passages: dict[str, Passage]


async def _ask_all(
    settings: service.Settings, questions: Sequence[SampleQuestion], at_once: int
) -> list[Asked]:
    # More at once would only wait for one another's processor time, and their latencies would mean nothing.
    turns = asyncio.Semaphore(at_once)
    async with opened(settings) as antiphon:
        asking = [_ask(antiphon, question, turns) for question in questions]
        return await asyncio.gather(*asking)


async def _ask(
    antiphon: service.Antiphon, question: SampleQuestion, turns: asyncio.Semaphore
) -> Asked:
    async with turns:
        session_id = None
        for earlier in question.earlier:
            before = await antiphon.ask(
                service.Question(query=earlier, session_id=session_id)
            )
            session_id = before.session_id
        outcome = await antiphon.ask(
            service.Question(query=question.question, session_id=session_id)
        )
    trace = await antiphon.store.read(outcome.query_id)
    err.print(
        f"{question.id} {one_line(question.question, 80)}", style="dim", soft_wrap=True
    )
    return Asked(question, outcome, passages_of(trace))


def grades_of(asked: Sequence[Asked]) -> list[Grade]:
    """Grades all answers of a run; which phrases say nothing is known from all that it found."""
    found: list[Passage] = []
    for each in asked:
        found += each.passages.values()
    common = common_phrases([each.question for each in asked], found)
    return [_graded(each, common) for each in asked]


def grade(
    question: SampleQuestion, outcome: service.Outcome, trace: Iterable[Recorded[Event]]
) -> Grade:
    """Grades one answer by itself; its citations are checked against the passages in the trace."""
    return _graded(Asked(question, outcome, passages_of(trace)), frozenset())


def _graded(asked: Asked, common: AbstractSet[str]) -> Grade:
    question, outcome = asked.question, asked.outcome
    response = outcome.response
    judgement = judge(question, response, common)
    cited = [f"{place.course} {place.part}" for place in places_cited(response)]
    return Grade(
        id=question.id,
        kind=question.kind,
        forms=question.forms,
        question=question.question,
        verdict=judgement.verdict,
        parts=judgement.parts,
        parts_found=judgement.parts_found,
        right_lesson_first=judgement.right_lesson_first,
        says_so=judgement.says_so,
        confidence=response.confidence,
        rounds=response.rounds,
        calls=response.calls,
        answer=response.answer,
        cited=tuple(cited),
        wrong_citations=wrong_citations(outcome, asked.passages),
        reasoner=response.reasoner,
        duration_ms=outcome.duration_ms,
        query_id=outcome.query_id,
    )


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
    parts = parts_found = most_rounds = most_calls = 0
    for each in grades:
        parts += each.parts
        parts_found += each.parts_found
        most_rounds = max(most_rounds, each.rounds)
        most_calls = max(most_calls, each.calls)
    verdicts = Counter(each.verdict for each in grades)
    return (
        str(len(grades)),
        str(verdicts["answered"]),
        str(verdicts["in_part"]),
        str(verdicts["failed"]),
        _of(Share(count=parts_found, of=parts)),
        _of(first_of(grades)),
        str(sum(each.says_so for each in grades)),
        str(most_rounds),
        str(most_calls),
        f"{median_high(len(each.answer) for each in grades):.0f}",
        f"{median_high(each.duration_ms for each in grades):.0f}",
    )


def _of(share: Share) -> str:
    # Empty where there is nothing to find: 0/0 would look like a failure.
    if not share.of:
        return ""
    return f"{share.count}/{share.of}"


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
    for label, share in figures.by_label.items():
        table.add_row(f"labelled {label}, and answers the question", str(share))
    out.table(table)
    out.print_line("")
