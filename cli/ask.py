"""`antiphon ask`: one question, watched and answered in this process."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

import typer

from antiphon.api import answer_of
from antiphon.cli.answers import show_answer
from antiphon.cli.options import DataDir, Json, Model, Reasoner, wish
from antiphon.cli.session import opened, settings_for_people
from antiphon.cli.telling import NOTABLE, tell, tell_recorded
from antiphon.cli.terminal import err, print_json
from antiphon.service import Antiphon, Outcome, QueryHandle, Question
from antiphon.vocabulary.errors import SlowReaderError
from antiphon.vocabulary.events import Recorded


def add_to(app: typer.Typer) -> None:
    """Makes the command known."""
    app.command("ask")(ask)


def ask(
    question: Annotated[str, typer.Argument(help="The question, in quotes.")],
    session: Annotated[str | None, typer.Option("--session", help="Go on with this conversation.")] = None,
    rounds: Annotated[int | None, wish("max_rounds", "--rounds")] = None,
    deadline: Annotated[float | None, wish("deadline_s", "--deadline")] = None,
    compression: Annotated[Literal["extractive", "model"] | None, wish("compression", "--compression")] = None,
    max_tokens: Annotated[int | None, wish("max_total_tokens", "--max-total-tokens")] = None,
    max_cost: Annotated[float | None, wish("max_cost_usd", "--max-cost-usd")] = None,
    as_json: Json = False,
    events: Annotated[bool, typer.Option("--events", help="Show every event on standard error.")] = False,
    data_dir: DataDir = None,
    reasoner: Reasoner = None,
    model: Model = None,
) -> None:
    """Asks a question, shows on standard error how it is worked out, and prints the answer with its sources."""
    settings = settings_for_people(data_dir=data_dir, reasoner=reasoner, model=model)

    async def work() -> Outcome:
        async with opened(settings) as service:
            wishes = Question(
                query=question,
                session_id=session,
                max_rounds=rounds,
                deadline_s=deadline,
                max_total_tokens=max_tokens,
                max_cost_usd=max_cost,
                compression=compression,
            )
            return await _watched(service, wishes, every_event=events)

    outcome = asyncio.run(work())
    if as_json:
        print_json(answer_of(outcome).model_dump_json(indent=2))
    else:
        show_answer(outcome)
    if outcome.status == "failed":
        raise typer.Exit(1)


async def _watched(service: Antiphon, question: Question, *, every_event: bool) -> Outcome:
    running = await service.start(question)
    try:
        await _show_events(running, every_event=every_event)
        return await running.outcome()
    except asyncio.CancelledError:  # Ctrl-C
        running.cancel("interrupted")
        await running.outcome()  # so that the trace ends with it
        raise


async def _show_events(running: QueryHandle, *, every_event: bool) -> None:
    began_at: float | None = None
    try:
        async for told in running.follow():
            if not isinstance(told, Recorded):
                continue
            began_at = told.at if began_at is None else began_at
            if every_event:
                err.print(tell_recorded(told, began_at), style="dim", soft_wrap=True)
            elif type(told.event) in NOTABLE:
                err.print(f"  {tell(told.event, 110)}", style="dim", soft_wrap=True)
    except SlowReaderError:
        err.print("  … (this terminal is too slow for the events; the answer comes)", style="dim")
