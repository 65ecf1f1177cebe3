"""`antiphon eval`: asks files of questions and judges the answers by what stands in them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
import typer

from antiphon import service
from antiphon.cli.eval_figures import Grade, Targets, figures_of, shortfalls
from antiphon.cli.eval_plot import as_svg
from antiphon.cli.eval_table import show
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
from antiphon.cli.terminal import err, one_line, print_json
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
        typer.Option("--plot", help="Plot kinds and calibration into an SVG file."),
    ] = None,
    least_answered: Annotated[
        float, _share("Share of answers that contain the answering sentence.")
    ] = DEFAULTS.least_answered,
    least_first: Annotated[
        float, _share("Share of answers whose first cited lesson is right.")
    ] = DEFAULTS.least_first,
    least_two_step: Annotated[
        float, _share("Share of two-step questions that are answered.")
    ] = DEFAULTS.least_two_step,
    least_catalogue: Annotated[
        float, _share("Share of catalogue questions that are answered.")
    ] = DEFAULTS.least_catalogue,
    least_said_so: Annotated[
        float, _share("Share of unanswerable questions whose answer says so.")
    ] = DEFAULTS.least_said_so,
    most_refused: Annotated[
        float,
        _share("Share of answerable questions whose answer says there is none."),
    ] = DEFAULTS.most_refused,
    least_high: Annotated[
        float, _share("Share of answers labelled high that are right.")
    ] = DEFAULTS.least_high,
    least_medium: Annotated[
        float, _share("Share of answers labelled medium that are right.")
    ] = DEFAULTS.least_medium,
    most_rounds: Annotated[
        int, typer.Option(help="Maximum rounds that a question may take.")
    ] = DEFAULTS.most_rounds,
    most_calls: Annotated[
        int, typer.Option(help="Maximum reasoning calls that a question may take.")
    ] = DEFAULTS.most_calls,
    at_once: Annotated[
        int, typer.Option(min=1, help="How many questions to ask at once.")
    ] = 2,
    data_dir: DataDir = None,
    reasoner: Reasoner = None,
    model: Model = None,
) -> None:
    """Asks every question of the files and grades the answers; exit code 1 if a target is missed."""
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
        empty=judgement.empty,
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
