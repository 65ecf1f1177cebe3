"""Writes the notes that end a briefing: what was tried, what was said, what is open, and which round this is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from antiphon.language.lengths import tokens_of
from antiphon.language.markup import wrap, write_attempts
from antiphon.synthesizer.intent import open_parts
from antiphon.synthesizer.memory import Memory
from antiphon.synthesizer.reasoning import lines, most_summary_tokens, summary_tag
from antiphon.synthesizer.usage import noted_attempts
from antiphon.vocabulary.events import RoundOpened
from antiphon.vocabulary.values import Dropped

MOST_SHARE = 0.5
"""The notes' most share of a briefing's budget: the rest is the facts'."""
OUTGROWN = "the notes had outgrown their share of the budget"


class Notes(NamedTuple):
    """The tags of the last block, and what did not fit among them.

    Attributes:
        summary: The summarising call whose text stands among them; empty where none does.
        room: The tokens that they leave to the sources.
    """

    text: str
    summary: str
    dropped: tuple[Dropped, ...]
    room: int


class _Entry(NamedTuple):
    """One attempt, or one round's words, that may have to make room."""

    round: int
    tokens: int


def write_notes(memory: Memory, opened: RoundOpened, numbers: Mapping[str, int]) -> Notes:
    """Writes the notes for the call of `opened`.

    Where they outgrow their share of the budget, the oldest words of the model go first, then the oldest attempts:
    so the newest attempts take their room before the words do.

    Args:
        numbers: Each fact's number in the request, from 1.
    """
    budget = memory.settings.briefing_tokens
    alike = {fact.id: fact.passage.source for fact in memory.facts.known if fact.like is not None}
    attempts = noted_attempts(memory.usage, numbers, alike)
    words = lines(memory.reasoning)
    open_texts = open_parts(memory.intent)
    open_tag = wrap("open", "\n".join(open_texts)) if attempts and open_texts else ""
    round_tag = _round_tag(opened)

    most = int(budget * MOST_SHARE)
    room = most - tokens_of(open_tag) - tokens_of(round_tag) - 2  # the tags' line breaks
    summary = summary_tag(memory.reasoning, min(room, most_summary_tokens(budget)))
    room -= tokens_of(summary)
    tried = [_Entry(attempt.round, tokens_of(write_attempts((attempt,)))) for attempt in attempts]
    lost_attempts, room = _lost(tried, room)
    said = [_Entry(line.round, tokens_of(wrap("reasoning", line.text))) for line in words]
    lost_words, _ = _lost(said, room)

    attempts_tag = write_attempts(tuple(attempts[lost_attempts:])) if attempts[lost_attempts:] else ""
    kept_words = [line.text for line in words[lost_words:]]
    words_tag = wrap("reasoning", "\n".join(kept_words)) if kept_words else ""
    tags = (attempts_tag, words_tag, summary, open_tag, round_tag)
    text = "\n".join([tag for tag in tags if tag])
    dropped = [_dropped(entry) for entry in (*said[:lost_words], *tried[:lost_attempts])]
    # Notes on fewer sources are never longer, save where some notes were dropped: then others may come back in their
    # place, so that all of the notes' share must stay free.
    taken = most if dropped else tokens_of(text)
    call_id = memory.reasoning.summary.call_id if memory.reasoning.summary and summary else ""
    return Notes(text=text, summary=call_id, dropped=tuple(dropped), room=budget - taken)


def _lost(entries: Sequence[_Entry], room: int) -> tuple[int, int]:
    """How many of the oldest entries must go so that the rest fits, without gaps; and the room that is left."""
    lost = len(entries)
    while lost and entries[lost - 1].tokens <= room:
        lost -= 1
        room -= entries[lost].tokens
    return lost, room


def _dropped(entry: _Entry) -> Dropped:
    return Dropped(what=f"round {entry.round} notes", why=OUTGROWN, tokens=entry.tokens)


def _round_tag(opened: RoundOpened) -> str:
    if opened.final:
        return wrap("round", "Final answer: no tools.")
    return wrap("round", f"Round {opened.round} of {opened.round + opened.rounds_left}: tools may be used.")
