"""`antiphon traces delete|prune`: deletes traces, and proves that they are gone."""

from __future__ import annotations

import asyncio
import math
import sys
import time
from collections.abc import Sequence
from typing import Annotated

import typer

from antiphon import service
from antiphon.cli.conversations import whole_conversation
from antiphon.cli.session import (
    DataDir,
    every_trace,
    open_store,
    settings_for_people,
)
from antiphon.cli.terminal import clean, counted, err, one_line, out, short_id
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.ports import TraceFilter, TraceSummary

Yes = Annotated[bool, typer.Option("--yes", help="Delete without asking.")]
MOST_DAYS = 36_500.0
SHOWN_ROWS = 5


def delete(
    query_id: Annotated[
        str | None, typer.Argument(help="The trace's id.", show_default=False)
    ] = None,
    conversation: Annotated[
        str | None,
        typer.Option("--conversation", help="Delete all traces of this conversation."),
    ] = None,
    holding: Annotated[
        str | None,
        typer.Option(
            "--holding",
            help="Delete all traces that contain these words anywhere: a name, an address.",
        ),
    ] = None,
    proof: Annotated[
        bool,
        typer.Option(
            "--proof",
            help="Search all files for what was deleted, and print the result.",
        ),
    ] = False,
    yes: Yes = False,
    data_dir: DataDir = None,
) -> None:
    """Deletes a trace, a conversation, or all traces that contain a text, and the texts only they use; asks first.

    Exit code 1 if the proof finds something.
    """
    if [query_id, conversation, holding].count(None) != 2:
        raise BadInputError(
            "Name either a trace, a conversation with --conversation, or a text with --holding."
        )
    settings = settings_for_people(data_dir=data_dir)
    if settings.nats_url is not None and (proof or holding is not None):
        raise BadInputError(
            "--proof and --holding search the files of the data folder, and these traces are on NATS: delete without "
            "them, and search the folders of its servers."
        )
    if conversation is not None:
        conversation = asyncio.run(whole_conversation(settings, conversation))
    where = TraceFilter(session_id=conversation)
    found = asyncio.run(_found(settings, query_id, where, holding))
    _ask_first(found, yes=yes)
    ids = [row.query_id for row in found]

    async def work() -> int:
        async with open_store(settings) as store:
            if conversation is not None:
                return await store.delete_conversation(conversation)
            return await store.delete(ids)

    async def work_with_proof() -> service.DeletionProof:
        async with open_store(settings) as store:
            return await service.delete_with_proof(
                store, settings.data_dir, ids, conversation, settings.store_key
            )

    if proof:
        _show_proof(asyncio.run(work_with_proof()))
    else:
        out.print(f"{asyncio.run(work())} deleted")


def _show_proof(proof: service.DeletionProof) -> None:
    """Prints the deleted traces, the extent of the search for their texts, and its findings.

    Raises:
        Exit: The search found something, or could not be complete.
    """
    deleted = f"{counted(proof.traces, 'trace')}, {counted(proof.events, 'event')}"
    out.print(f"deleted: {deleted}")
    out.print(
        f"searched for: {counted(proof.searched, 'text')} (questions, answers, arguments, ids), "
        f"in {proof.bytes_searched:,} bytes: every file of the data folder, and every row of the store",
        soft_wrap=True,
    )
    if proof.nothing_is_left:
        out.print("found: nothing")
        return
    for file, count in proof.still_found:
        out.print(f"found: {counted(count, 'text')} in {clean(file)}", soft_wrap=True)
    for query_id in proof.other_traces:
        out.print(f"found: in the trace {query_id}, which is another's or a fork's")
    if not proof.log_emptied:
        out.print("the log of the store is in use: stop the service and search again")
    raise typer.Exit(1)


def prune(
    older_than_days: Annotated[
        float | None,
        typer.Option(
            "--older-than-days",
            min=0.0,
            max=MOST_DAYS,
            help="Delete traces that are older than this.",
        ),
    ] = None,
    most_mb: Annotated[
        float | None,
        typer.Option(
            "--most-mb", min=0.0, help="Delete until the store uses at most this much."
        ),
    ] = None,
    yes: Yes = False,
    data_dir: DataDir = None,
) -> None:
    """Deletes the oldest finished traces, by age or by size; asks first."""
    if older_than_days is None and most_mb is None:
        raise BadInputError("Say what to delete: --older-than-days or --most-mb.")
    older_than = (
        None if older_than_days is None else time.time() - older_than_days * 86_400
    )
    most_bytes = None if most_mb is None else _bytes_of(most_mb)
    settings = settings_for_people(data_dir=data_dir)
    # Nobody knows beforehand which traces a limit of size takes, so all that may go are counted.
    where = TraceFilter(until=older_than if most_bytes is None else None)
    _ask_first(asyncio.run(_found(settings, None, where)), yes=yes, at_most=True)

    async def work() -> int:
        async with open_store(settings) as store:
            return await store.prune(older_than=older_than, most_bytes=most_bytes)

    out.print(f"{asyncio.run(work())} deleted")


def _bytes_of(megabytes: float) -> int:
    if not math.isfinite(megabytes):
        raise BadInputError("--most-mb wants a number of megabytes.")
    return int(megabytes * 1_000_000)


async def _found(
    settings: service.Settings,
    wanted: str | None,
    where: TraceFilter,
    holding: str | None = None,
) -> list[TraceSummary]:
    """Lists the traces that would be deleted, the newest first: the one that is wanted, or those that pass a filter.

    Raises:
        NotFoundError: There is no such trace.
        BadInputError: Several ids begin so.
    """
    found: list[TraceSummary] = []
    async with open_store(settings) as store:
        query_id: str | None = None
        if holding is not None:
            ids = await service.ids_holding(
                settings.data_dir, holding, settings.store_key
            )
            return [row async for row in every_trace(store) if row.query_id in ids]
        if wanted is not None:
            query_id = await service.whole_id(store, wanted)
        async for row in every_trace(store, where):
            if row.query_id == query_id:
                return [row]
            if query_id is None:
                found.append(row)
    return found


def _ask_first(
    found: Sequence[TraceSummary], *, yes: bool, at_most: bool = False
) -> None:
    """Shows the traces that would be deleted, and asks for confirmation.

    Raises:
        BadInputError: Standard input is not a terminal, so there is nobody to ask.
    """
    if yes or not found:
        return
    for row in found[:SHOWN_ROWS]:
        err.print(
            one_line(f"  {short_id(row.query_id)}  {row.query}", 110), soft_wrap=True
        )
    if len(found) > SHOWN_ROWS:
        err.print(f"  … and {len(found) - SHOWN_ROWS} more")
    traces = counted(len(found), "trace")
    many = f"at most {traces}" if at_most else traces
    if not sys.stdin.isatty():
        raise BadInputError(
            f"Nothing is deleted yet: this would delete {many} for good. Say --yes to do so."
        )
    typer.confirm(f"Delete {many} for good?", abort=True, err=True)
