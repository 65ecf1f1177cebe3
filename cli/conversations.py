"""Finds the conversation and question that a command line names: by the last one, part of an id, or standard input."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from antiphon import service
from antiphon.cli.session import every_trace, may_hold_traces, open_store
from antiphon.cli.terminal import clean
from antiphon.vocabulary.errors import BadInputError, NotFoundError
from antiphon.vocabulary.ports import TraceStore

Session = Annotated[
    str | None,
    typer.Option(
        "--session", help="Continue this conversation: its id, or the beginning of it."
    ),
]
Continue = Annotated[
    bool, typer.Option("--continue", "-c", help="Continue the last conversation.")
]


def conversation_of(
    settings: service.Settings, session: str | None, *, go_on: bool
) -> str | None:
    """Returns the whole id of the conversation that the options name; None begins one.

    Raises:
        BadInputError: Both options are given, or several conversations begin so.
        NotFoundError: There is no conversation to continue.
    """
    if session is not None and go_on:
        raise BadInputError("Say either --continue or --session, not both.")
    if go_on:
        return asyncio.run(_last(settings))
    if session is None:
        return None
    return asyncio.run(whole_conversation(settings, session))


async def _last(settings: service.Settings) -> str:
    if may_hold_traces(settings):
        async with open_store(settings) as store:
            async for row in every_trace(store):
                # A fork is not an exchange of its parent's conversation.
                if row.parent is None and await _is_there(store, row.session_id):
                    return row.session_id
    raise NotFoundError("There is no conversation to go on with: ask without -c.")


async def _is_there(store: TraceStore, session_id: str) -> bool:
    """Returns False for a conversation that is not in the store: of an imported trace, or deleted."""
    try:
        await store.exchanges(session_id, 1)
    except NotFoundError:
        return False
    return True


async def whole_conversation(settings: service.Settings, wanted: str) -> str:
    """Returns the id of the one conversation whose id begins so; the given text itself if none does.

    Raises:
        BadInputError: Several ids begin so.
    """
    found: set[str] = set()
    if wanted and may_hold_traces(settings):
        async with open_store(settings) as store:
            # With a whole id there is no need to read every trace.
            if await _is_there(store, wanted):
                return wanted
            async for row in every_trace(store):
                if row.session_id.startswith(wanted):
                    found.add(row.session_id)
    if wanted in found or not found:
        return wanted
    if len(found) > 1:
        raise BadInputError(
            f"{len(found)} conversations begin with {clean(wanted)}: give more of the id."
        )
    return found.pop()


def question_of(words: Sequence[str]) -> str:
    """Returns the question from the command line, in quotes or without; `-` or no word at all means standard input.

    Raises:
        BadInputError: There is no word, and standard input is a terminal; or the question is not in UTF-8.
    """
    if list(words) not in ([], ["-"]):
        return in_utf8(lambda: " ".join(words))
    if not words and sys.stdin.isatty():
        raise BadInputError(
            "What is the question? `antiphon ask What is BM25`, or `antiphon chat`."
        )
    return in_utf8(sys.stdin.read).strip()


def in_utf8(read: Callable[[], str]) -> str:
    """Returns a typed or piped text.

    Raises:
        BadInputError: Its bytes are not UTF-8; depending on the locale, Python reads these as half surrogate pairs or
            not at all.
    """
    try:
        text = read()
        text.encode()
    except UnicodeError as error:
        raise BadInputError(
            "The question is not in UTF-8: convert it, such as with `iconv -f LATIN1 -t UTF-8`, "
            "or set the terminal to UTF-8."
        ) from error
    return text
