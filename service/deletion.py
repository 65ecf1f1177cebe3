"""Deletes somebody's questions and answers, and proves it by searching the data folder for each deleted text."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from antiphon.traces import STORE_FILE, empty_log, files_holding, traces_holding
from antiphon.vocabulary.errors import NotFoundError
from antiphon.vocabulary.ports import TraceStore
from antiphon.vocabulary.values import Value

LEAST_CHARS = 8
"""Shorter texts occur anywhere by chance, so finding one would prove nothing."""

# Fields of events that hold the asker's words, or those of an answer to them.
_WORDS_IN = {
    "query_received": ("query", "history"),
    "tool_requested": ("call",),
    "reasoning_completed": ("text",),
    "summary_completed": ("text",),
    "response_assembled": ("answer",),
}
# Not searched in tool calls, because others' traces name the same tools.
_NO_WORDS = ("id", "name")


class DeletionProof(Value, frozen=True, kw_only=True):
    """The result of a deletion: the deleted, the searched and the found.

    Attributes:
        searched: The number of texts and ids that were searched for.
        bytes_searched: The size of all files of the data folder.
        log_emptied: False if another process holds the log of the store, which may contain deleted bytes.
        still_found: The files that still hold some of the texts, with the number of these.
        other_traces: Remaining traces that hold one of the texts.
    """

    traces: int
    events: int
    searched: int
    bytes_searched: int
    log_emptied: bool
    still_found: tuple[tuple[str, int], ...]
    other_traces: tuple[str, ...]

    @property
    def nothing_is_left(self) -> bool:
        """True if none of the texts is left anywhere."""
        return self.log_emptied and not self.still_found and not self.other_traces


async def delete_with_proof(
    store: TraceStore,
    data_dir: Path,
    query_ids: Sequence[str],
    session_id: str | None = None,
    key: str | None = None,
) -> DeletionProof:
    """Deletes traces, or a whole conversation, and searches every file of the data folder for their texts.

    Args:
        session_id: The conversation to delete with its traces; None: only the traces.
        key: The key of the store.

    Raises:
        NotFoundError: No such conversation or trace.
        TraceError: The store cannot be read or written.
    """
    texts: set[str] = set(query_ids)
    events = 0
    for query_id in query_ids:
        lines = await store.lines(query_id)
        events += len(lines)
        texts.update(_said(lines))
        feedback = await store.annotations.feedback(query_id)
        if feedback is not None and feedback.note is not None:
            texts.add(feedback.note)
    if session_id is not None:
        texts.add(session_id)
        for named in await store.conversations(1, session_id=session_id):
            texts.add(named.title)
        deleted = await store.delete_conversation(session_id)
    else:
        deleted = await store.delete(query_ids)
    path = data_dir / STORE_FILE
    wanted = sorted(text for text in texts if len(text) >= LEAST_CHARS)
    log_emptied = await asyncio.to_thread(empty_log, path, key)
    found = await asyncio.to_thread(files_holding, data_dir, wanted)
    others: set[str] = set()
    # In an encrypted file a byte search finds nothing, so the rows are searched too.
    for text in wanted:
        others |= await asyncio.to_thread(traces_holding, path, text, key)
    still_found = [
        (str(file.relative_to(data_dir)), count) for file, count in found.items()
    ]
    return DeletionProof(
        traces=deleted,
        events=events,
        searched=len(wanted),
        bytes_searched=_size_of(data_dir),
        log_emptied=log_emptied,
        still_found=tuple(still_found),
        other_traces=tuple(sorted(others)),
    )


async def ids_holding(data_dir: Path, text: str, key: str | None = None) -> list[str]:
    """Returns the traces that hold a text anywhere: a name, an address, a number.

    Raises:
        NotFoundError: No trace does.
    """
    found = await asyncio.to_thread(traces_holding, data_dir / STORE_FILE, text, key)
    if not found:
        raise NotFoundError("No trace holds that text, letter by letter.")
    return sorted(found)


def _said(lines: Iterable[bytes]) -> set[str]:
    """Returns the texts in the fields that hold somebody's words."""
    found: set[str] = set()
    for line in lines:
        event = msgspec.json.decode(line)["event"]
        for field in _WORDS_IN.get(event.get("kind", ""), ()):
            found.update(_texts_in(event.get(field)))
    return found


def _texts_in(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            if name not in _NO_WORDS:
                yield from _texts_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts_in(each)


def _size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
