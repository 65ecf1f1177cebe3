"""The summary of older rounds: how it is kept, and how it stands in the notes: escaped, bounded, and named a note."""

from __future__ import annotations

from antiphon.language.markup import wrap
from antiphon.synthesizer.shortening import shorten
from antiphon.synthesizer.tokens import BYTES_A_TOKEN, tokens_of
from antiphon.vocabulary.events import Event, SummaryCompleted, SummaryFailed, SummarySkipped, SummaryWanted
from antiphon.vocabulary.values import ShownSource, Value

MOST_SHARE = 1 / 8
"""The summary's most share of a briefing's budget."""
MOST_TOKENS = 300
INTRODUCED = "A model's note on what earlier rounds found and is not shown; no source:"


class Summary(Value, frozen=True, kw_only=True):
    """What a summarising call brought, and of what.

    Attributes:
        call_id: The call: its request and its reply stand in the trace.
        of: The sentences that it was shown.
    """

    call_id: str
    of: tuple[ShownSource, ...]
    text: str


class Summaries(Value, frozen=True, kw_only=True):
    """The newest summary, and the one that is waited for."""

    newest: Summary | None = None
    wanted: SummaryWanted | None = None


def fold(summaries: Summaries, event: Event) -> Summaries:
    """The layer after `event`; a reply for a call that no longer waits is kept out."""
    if isinstance(event, SummaryWanted):
        return Summaries(newest=summaries.newest, wanted=event)
    if not isinstance(event, SummaryCompleted | SummaryFailed | SummarySkipped):
        return summaries
    wanted = summaries.wanted
    if wanted is None or wanted.call_id != event.for_call:
        return summaries
    if isinstance(event, SummaryCompleted) and event.is_usable:
        return Summaries(newest=Summary(call_id=event.call_id, of=wanted.of, text=event.text.text))
    return Summaries(newest=summaries.newest)


def covers(summary: Summary | None, of: tuple[ShownSource, ...]) -> bool:
    """Whether a summary was made of all these sentences already."""
    known = {row.fact_id: frozenset(row.sentences) for row in summary.of} if summary else {}
    return all(frozenset(row.sentences) <= known.get(row.fact_id, frozenset()) for row in of)


def most_tokens(budget: int) -> int:
    """The most that the summary may take of a briefing's budget."""
    return min(MOST_TOKENS, int(budget * MOST_SHARE))


def summary_tag(summary: Summary | None, room: int) -> str:
    """The summary in its tag, of at most `room` tokens; empty where there is none, or no room for a sentence."""
    if summary is None:
        return ""
    chars = room * BYTES_A_TOKEN
    while chars > len(INTRODUCED):
        # Escaping and other scripts make more bytes of a character: then it is cut shorter.
        tag = wrap("summary", f"{INTRODUCED}\n{shorten(summary.text, chars - len(INTRODUCED))}")
        if tokens_of(tag) <= room:
            return tag
        chars = chars * 4 // 5
    return ""
