"""`antiphon chat`: one question after another, in one conversation."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Annotated

import typer

from antiphon import service
from antiphon.cli.ask import watched
from antiphon.cli.conversations import Continue, Session, conversation_of, in_utf8
from antiphon.cli.rendering import show_answer
from antiphon.cli.session import (
    DataDir,
    Model,
    Reasoner,
    opened,
    opening,
    require_index,
    settings_for_people,
    wish,
)
from antiphon.cli.terminal import complain, err, out
from antiphon.vocabulary.errors import BadInputError

# Importing it is enough: from then on `input` can edit lines, and remembers them.
with suppress(ImportError):
    import readline  # noqa: F401 - see above

PROMPT = "> "


def chat(
    session: Session = None,
    go_on: Continue = False,
    rounds: Annotated[int | None, wish("max_rounds", "--rounds")] = None,
    deadline: Annotated[float | None, wish("deadline_s", "--deadline")] = None,
    events: Annotated[
        bool, typer.Option("--events", help="Show every event on standard error.")
    ] = False,
    data_dir: DataDir = None,
    reasoner: Reasoner = None,
    model: Model = None,
) -> None:
    """Answers one question after another in the same conversation, until an empty line or Ctrl-D.

    You can also pipe questions in, one per line. `antiphon chat -c` continues the last conversation.
    """
    with opening():
        settings = settings_for_people(
            data_dir=data_dir, reasoner=reasoner, model=model
        )
        # Checked with a dummy question, so that a bad option is refused before anything is opened.
        of_words = partial(service.Question, max_rounds=rounds, deadline_s=deadline)
        service.check_question(of_words(query="?"), settings)
        conversation = conversation_of(settings, session, go_on=go_on)
        require_index(settings)
    asyncio.run(_converse(settings, conversation, of_words, every_event=events))


async def _converse(
    settings: service.Settings,
    conversation: str | None,
    of_words: Callable[..., service.Question],
    *,
    every_event: bool,
) -> None:
    async with opened(settings) as antiphon:
        while (text := await _next_question()) is not None:
            question = of_words(query=text, session_id=conversation)
            try:
                service.check_question(question, settings)
            except BadInputError as error:
                # The conversation goes on: the next question may be fine.
                complain(str(error))
                continue
            outcome = await watched(
                antiphon, question, show_answer, every_event=every_event
            )
            conversation = outcome.session_id
            out.print_line("")


async def _next_question() -> str | None:
    """Reads a question; returns None after the last."""
    is_typed = sys.stdin.isatty()
    while True:
        # In a thread, so that the service goes on meanwhile and Ctrl-C works.
        line = await asyncio.to_thread(_line, is_typed=is_typed)
        if line.strip():
            return line.strip()
        # An empty line ends a typed conversation, but not piped questions.
        if is_typed or not line:
            return None


def _line(*, is_typed: bool) -> str:
    if not is_typed:
        return in_utf8(sys.stdin.readline)
    try:
        if sys.stdout.isatty():
            return in_utf8(lambda: input(PROMPT))
        err.print(PROMPT, end="")
        return in_utf8(input)
    except EOFError:
        err.print()
        return ""
