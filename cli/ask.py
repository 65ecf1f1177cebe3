"""`antiphon ask`: answers one question in this process, and shows the progress."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Annotated, Literal

import typer

from antiphon import api, service
from antiphon.cli.conversations import (
    Continue,
    Session,
    conversation_of,
    question_of,
)
from antiphon.cli.rendering import NOTABLE, describe, describe_recorded, show_answer
from antiphon.cli.session import (
    DataDir,
    Json,
    Model,
    Reasoner,
    opened,
    opening,
    require_index,
    settings_for_people,
    wish,
)
from antiphon.cli.terminal import err, print_json
from antiphon.vocabulary.errors import SlowReaderError
from antiphon.vocabulary.events import Recorded


def ask(
    question: Annotated[
        list[str] | None,
        typer.Argument(
            help="The question; quotes are optional. Without it, or with -, the command reads standard input."
        ),
    ] = None,
    session: Session = None,
    go_on: Continue = False,
    rounds: Annotated[int | None, wish("max_rounds", "--rounds")] = None,
    deadline: Annotated[float | None, wish("deadline_s", "--deadline")] = None,
    compression: Annotated[
        Literal["extractive", "model"] | None, wish("compression", "--compression")
    ] = None,
    max_tokens: Annotated[
        int | None, wish("max_total_tokens", "--max-total-tokens")
    ] = None,
    max_cost: Annotated[float | None, wish("max_cost_usd", "--max-cost-usd")] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with code 1 if no model answered."),
    ] = False,
    as_json: Json = False,
    events: Annotated[
        bool, typer.Option("--events", help="Show every event on standard error.")
    ] = False,
    data_dir: DataDir = None,
    reasoner: Reasoner = None,
    model: Model = None,
) -> None:
    """Asks a question, shows the progress on standard error, and prints the answer with its sources."""
    # This process opens the index and the reasoner itself: `ask` needs no running service.
    text = question_of(question or ())
    with opening():
        settings = settings_for_people(
            data_dir=data_dir, reasoner=reasoner, model=model
        )
        of_conversation = partial(
            service.Question,
            query=text,
            max_rounds=rounds,
            deadline_s=deadline,
            max_total_tokens=max_tokens,
            max_cost_usd=max_cost,
            compression=compression,
        )
        # The service checks it too, but only once it is open, which takes seconds.
        service.check_question(of_conversation(), settings)
        wishes = of_conversation(
            session_id=conversation_of(settings, session, go_on=go_on)
        )
        require_index(settings)

    def show(outcome: service.Outcome) -> None:
        if as_json:
            print_json(api.answer_of(outcome).model_dump_json(indent=2))
        else:
            show_answer(outcome)

    async def work() -> service.Outcome:
        async with opened(settings) as antiphon:
            return await watched(antiphon, wishes, show, every_event=events)

    outcome = asyncio.run(work())
    # The answer is printed in any case: a script reads the exit code, a person may still want the findings.
    if outcome.status == "failed" or (strict and not outcome.by_the_model):
        raise typer.Exit(1)


async def watched(
    antiphon: service.Antiphon,
    question: service.Question,
    show: Callable[[service.Outcome], None],
    *,
    every_event: bool,
) -> service.Outcome:
    """Asks a question and shows its progress on standard error, then the answer; on Ctrl-C, the findings so far."""
    query = await antiphon.start(question)
    try:
        await _show_events(query, every_event=every_event)
        outcome = await query.outcome()
    except asyncio.CancelledError:  # Ctrl-C
        query.cancel("interrupted")
        # Waits for the outcome, so that the trace records the end and findings that were paid for are not lost.
        show(await query.outcome())
        raise
    show(outcome)
    return outcome


async def _show_events(query: service.Query, *, every_event: bool) -> None:
    began_at: float | None = None
    try:
        async for streamed in query.follow():
            # Pieces of text are skipped, because the whole answer is printed with its sources.
            if not isinstance(streamed, Recorded):
                continue
            if began_at is None:
                began_at = streamed.at
            if every_event:
                err.print(
                    describe_recorded(streamed, began_at), style="dim", soft_wrap=True
                )
            elif type(streamed.event) in NOTABLE:
                err.print(
                    f"  {describe(streamed.event, 110)}", style="dim", soft_wrap=True
                )
    # The query does not wait for its followers, so it goes on although this one was cut off.
    except SlowReaderError:
        err.print(
            "  … (this terminal is too slow for the events; the answer comes)",
            style="dim",
        )
