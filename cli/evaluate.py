"""`antiphon eval`: asks a file of questions and grades the answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.table import Table

from antiphon.cli.grading import Grade, SampleQuestion, Targets, grade, read_questions, share, shortfalls
from antiphon.cli.options import DataDir, Json, Model, Reasoner
from antiphon.cli.session import opened, settings_for_people
from antiphon.cli.terminal import err, one_line, out, print_json
from antiphon.service import Antiphon, Question, Settings
from antiphon.vocabulary.errors import BadInputError

DEFAULTS = Targets()


def add_to(app: typer.Typer) -> None:
    """Makes the command known."""
    app.command("eval")(evaluate)


def evaluate(
    file: Annotated[Path, typer.Argument(help="Questions as JSON lines, such as samples/questions.jsonl.")],
    as_json: Json = False,
    least_right: Annotated[
        float, typer.Option(help="Share of answerable questions whose right lesson must be cited.")
    ] = DEFAULTS.least_right,
    least_said_so: Annotated[
        float, typer.Option(help="Share of unanswerable questions of which the answer must say so.")
    ] = DEFAULTS.least_said_so,
    most_rounds: Annotated[int, typer.Option(help="Most rounds a question may take.")] = DEFAULTS.most_rounds,
    most_calls: Annotated[int, typer.Option(help="Most reasoning calls a question may take.")] = DEFAULTS.most_calls,
    at_once: Annotated[int, typer.Option(min=1, help="How many questions are asked at once.")] = 2,
    data_dir: DataDir = None,
    reasoner: Reasoner = None,
    model: Model = None,
) -> None:
    """Asks every question of a file and grades the answers by their citations; exit code 1 below the targets."""
    targets = Targets(
        least_right=least_right, least_said_so=least_said_so, most_rounds=most_rounds, most_calls=most_calls
    )
    questions = _questions(file)
    settings = settings_for_people(data_dir=data_dir, reasoner=reasoner, model=model)
    grades = asyncio.run(_ask_all(settings, questions, at_once))
    short = shortfalls(grades, targets)
    if as_json:
        print_json(msgspec.json.encode({"grades": grades, "shortfalls": short}).decode())
    else:
        show_grades(grades)
    for sentence in short:
        err.print(one_line(sentence, 300), style="red", soft_wrap=True)
    if short:
        raise typer.Exit(1)


def _questions(file: Path) -> list[SampleQuestion]:
    try:
        return read_questions(file.read_text(encoding="utf-8").splitlines(), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"{file} cannot be read ({error}): name a file of questions in UTF-8.") from error


async def _ask_all(settings: Settings, questions: Sequence[SampleQuestion], at_once: int) -> list[Grade]:
    turns = asyncio.Semaphore(at_once)
    async with opened(settings) as service:

        async def graded(question: SampleQuestion) -> Grade:
            async with turns:
                return await _graded(service, question)

        return await asyncio.gather(*map(graded, questions))


async def _graded(service: Antiphon, question: SampleQuestion) -> Grade:
    outcome = await service.ask(Question(query=question.question))
    found = grade(question, outcome, await service.store.read(outcome.query_id))
    mark = "✓" if found.right else "✗"
    err.print(f"{mark} {found.id} {one_line(found.question, 80)}", style="dim", soft_wrap=True)
    return found


def show_grades(grades: Sequence[Grade]) -> None:
    """Prints a line for each kind of question, and each answer that is not right."""
    table = Table("Kind", "Asked", "Right", "All lessons", "Phrases", "Most rounds", "Most calls", "ms (median)")
    for kind in dict.fromkeys(each.kind for each in grades):
        table.add_row(kind, *_row([each for each in grades if each.kind == kind]))
    table.add_row("all", *_row(grades), style="bold")
    out.print(table)
    for each in grades:
        if not each.right:
            out.print(f"✗ {each.id} {one_line(each.question, 120)}", soft_wrap=True)
            out.print(f"    {one_line(each.note, 200)} ({each.query_id})", soft_wrap=True)


def _row(grades: Sequence[Grade]) -> tuple[str, ...]:
    phrases = sum(each.facts for each in grades)
    times = sorted(each.duration_ms for each in grades)
    return (
        str(len(grades)),
        f"{share(grades):.0%}",
        str(sum(each.complete for each in grades)),
        f"{sum(each.facts_found for each in grades)}/{phrases}" if phrases else "",
        str(max(each.rounds for each in grades)),
        str(max(each.calls for each in grades)),
        f"{times[len(times) // 2]:.0f}",
    )
