"""The layer of reasoning: what the model said between its tool calls, per round; its thinking is never kept."""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.synthesizer.shortening import shorten
from antiphon.vocabulary.events import Event, ReasoningCompleted
from antiphon.vocabulary.values import Value

NEWEST_CHARS = 600
OLDER_CHARS = 160
KEPT_CHARS = 4_000


class Note(Value, frozen=True, kw_only=True):
    """What was said in one round before its tools ran."""

    round: int
    text: str


class Reasoning(Value, frozen=True, kw_only=True):
    """The notes so far, oldest first."""

    notes: tuple[Note, ...] = ()


def fold(reasoning: Reasoning, event: Event) -> Reasoning:
    """The layer after `event`: only replies that ask for tools leave a note, the others are the answer."""
    if not isinstance(event, ReasoningCompleted) or not event.tool_calls:
        return reasoning
    text = event.text.text.strip()[:KEPT_CHARS]
    return replace(reasoning, notes=(*reasoning.notes, Note(round=event.round, text=text))) if text else reasoning


def lines(reasoning: Reasoning) -> list[tuple[int, str]]:
    """Each note's round and its line: the newest at some length, older ones shrunk."""
    newest = max((note.round for note in reasoning.notes), default=0)
    return [
        (note.round, f"Round {note.round}: {shorten(note.text, NEWEST_CHARS if note.round == newest else OLDER_CHARS)}")
        for note in reasoning.notes
    ]
