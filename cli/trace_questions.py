"""`antiphon traces questions`: prints recorded questions in the form that `antiphon compare` and `make eval` read."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

import msgspec
import typer

from antiphon import service
from antiphon.cli.session import (
    DataDir,
    every_trace,
    open_store,
    settings_for_people,
)
from antiphon.cli.terminal import print_json, short_id
from antiphon.vocabulary.errors import NotFoundError
from antiphon.vocabulary.events import QueryReceived
from antiphon.vocabulary.feedback import Rating
from antiphon.vocabulary.ports import TraceFilter, TraceStore, TraceSummary


def questions(
    feedback: Annotated[
        Literal[Rating, "any", "none"],
        typer.Option("--feedback", help="Rating of the answers."),
    ] = "any",
    data_dir: DataDir = None,
) -> None:
    """Prints the questions whose answers were rated, one JSON object a line, for `antiphon compare --questions`.

    Add `needed` to a line to have its answers judged (samples/README.md).
    """
    settings = settings_for_people(data_dir=data_dir)
    asyncio.run(_print_all(settings, TraceFilter(feedback=feedback)))


async def _print_all(settings: service.Settings, where: TraceFilter) -> None:
    found = False
    async with open_store(settings) as store:
        async for line in every_trace(store, where):
            # Nobody asked the question of a fork.
            if line.parent is None:
                found = True
                print_json(await _question(store, line))
    if not found:
        raise NotFoundError(
            f"There is no answer with this feedback ({where.feedback}): give some on the page of a conversation."
        )


async def _question(store: TraceStore, line: TraceSummary) -> str:
    """Returns a line for a file of questions: the question, those before it, and the feedback on its answer."""
    question: dict[str, object] = {
        "id": short_id(line.query_id),
        "question": line.query,
    }
    first = (await store.read(line.query_id))[0].event
    if isinstance(first, QueryReceived) and first.history:
        question["earlier"] = [each.question for each in first.history]
    if line.feedback is not None:
        question["rating"] = line.feedback.rating
        question["note"] = line.feedback.note
    return msgspec.json.encode(question).decode()
