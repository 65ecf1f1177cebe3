"""The layer of the model's own words: its texts and thoughts between tool calls, and its summary of older rounds.

Newer models think between tool calls instead of writing text. A summary is kept with the sentences that it covers, and
a briefing shows it as a note: escaped, bounded, and not as a source.
"""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.language.lengths import BYTES_A_TOKEN, shorten, tokens_of
from antiphon.language.markup import NoteLine, wrap
from antiphon.vocabulary.events import (
    Event,
    ReasoningCompleted,
    SummaryCompleted,
    SummaryFailed,
    SummarySkipped,
    SummaryWanted,
)
from antiphon.vocabulary.values import ShownSource, Value

NEWEST_CHARS = 600
OLDER_CHARS = 160
KEPT_CHARS = 4_000
SUMMARY_SHARE = 1 / 8
"""The largest share of a briefing's budget that the summary may take."""
SUMMARY_TOKENS = 300
INTRODUCTION = (
    "A model's note on what earlier rounds found and is not shown; no source:"
)


class Note(Value, frozen=True, kw_only=True):
    """The words of one round before its tools ran.

    Attributes:
        newest_line: The line that a briefing shows until a later round has words of its own.
        older_line: The shorter line that it shows afterwards.
    """

    round: int
    text: str
    newest_line: str
    older_line: str


class Summary(Value, frozen=True, kw_only=True):
    """A summarising call's words.

    Attributes:
        call_id: The call: its request and its reply are in the trace.
        of: The sentences that it covers.
    """

    call_id: str
    of: tuple[ShownSource, ...]
    text: str


class Reasoning(Value, frozen=True, kw_only=True):
    """All of the model's own words.

    Attributes:
        notes: Its words between tool calls, oldest first.
        summary: The newest summary; None if compression is extractive.
        wanted: The summary under way.
        notes_thoughts: True if thoughts count as words; False in traces of rules 1.
    """

    notes: tuple[Note, ...] = ()
    summary: Summary | None = None
    wanted: SummaryWanted | None = None
    notes_thoughts: bool = False


def fold(reasoning: Reasoning, event: Event) -> Reasoning:
    """Returns the layer after `event`; it ignores a summary for a call that no longer waits."""
    if isinstance(event, ReasoningCompleted):
        return _with_note(reasoning, event)
    if isinstance(event, SummaryWanted):
        return replace(reasoning, wanted=event)
    if isinstance(event, (SummaryCompleted, SummaryFailed, SummarySkipped)):
        return _with_summary(reasoning, event)
    return reasoning


def _with_summary(
    reasoning: Reasoning, event: SummaryCompleted | SummaryFailed | SummarySkipped
) -> Reasoning:
    """Ends the wait for a summary; a failed or unusable one leaves the previous one in place."""
    wanted = reasoning.wanted
    if wanted is None or wanted.call_id != event.for_call:
        return reasoning
    if isinstance(event, SummaryCompleted) and event.is_usable:
        summary = Summary(call_id=event.call_id, of=wanted.of, text=event.text.text)
        return replace(reasoning, summary=summary, wanted=None)
    return replace(reasoning, wanted=None)


def _with_note(reasoning: Reasoning, event: ReasoningCompleted) -> Reasoning:
    """Notes the words of a reply that asks for tools; the words of other replies are the answer."""
    words = [event.text.text.strip()]
    if reasoning.notes_thoughts:
        words.append(event.thought)
    text = "\n\n".join(filter(None, words))[:KEPT_CHARS]
    if not event.tool_calls or not text:
        return reasoning
    note = Note(
        round=event.round,
        text=text,
        newest_line=f"Round {event.round}: {shorten(text, NEWEST_CHARS)}",
        older_line=f"Round {event.round}: {shorten(text, OLDER_CHARS)}",
    )
    return replace(reasoning, notes=(*reasoning.notes, note))


def lines(reasoning: Reasoning) -> list[NoteLine]:
    """Returns a line for each note: the newest at some length, older ones shortened."""
    newest = newest_round(reasoning)
    shown: list[NoteLine] = []
    for note in reasoning.notes:
        line = note.newest_line if note.round == newest else note.older_line
        shown.append(NoteLine(note.round, line))
    return shown


def newest_round(reasoning: Reasoning) -> int:
    """Returns the round of the newest note; 0 if there is none."""
    return max([note.round for note in reasoning.notes], default=0)


def most_summary_tokens(budget: int) -> int:
    """Returns the most tokens of a briefing's budget that the summary may take."""
    return min(SUMMARY_TOKENS, int(budget * SUMMARY_SHARE))


def summary_tag(reasoning: Reasoning, room: int) -> str:
    """Returns the summary in its tag, of at most `room` tokens; empty if there is none, or no room for it."""
    if reasoning.summary is None:
        return ""
    chars = room * BYTES_A_TOKEN
    while chars > len(INTRODUCTION):
        text = shorten(reasoning.summary.text, chars - len(INTRODUCTION))
        tag = wrap("summary", f"{INTRODUCTION}\n{text}")
        if tokens_of(tag) <= room:
            return tag
        # Escaping and other scripts take more bytes a character, so the first cut may be too long.
        chars = chars * 4 // 5
    return ""
