"""Writes the notes that end a briefing: what was tried, what was said, what is open, and which round this is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from antiphon.language.lengths import tokens_of
from antiphon.language.markup import NoteLine, Tag, wrap
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


def write_notes(memory: Memory, opened: RoundOpened, numbers: Mapping[str, int]) -> Notes:
    """Writes the notes for the call of `opened`.

    Where they outgrow their share of the budget, the oldest words of the model go first, then the oldest attempts.

    Args:
        numbers: Each fact's number in the request, from 1.
    """
    attempts = noted_attempts(memory.usage, numbers)
    words = lines(memory.reasoning)
    is_open = open_parts(memory.intent)
    budget = memory.settings.briefing_tokens
    most = int(budget * MOST_SHARE)

    open_tag = wrap("open", "\n".join(is_open)) if attempts and is_open else ""
    round_tag = _round_tag(opened)
    room = most - tokens_of(open_tag) - tokens_of(round_tag) - 2  # the tags' line breaks
    summary = summary_tag(memory.reasoning, min(room, most_summary_tokens(budget)))
    room -= tokens_of(summary)
    # The newest attempts take their room before the words do: that is the order in which both go.
    tried = _fit("attempts", attempts, room)
    said = _fit("reasoning", words, tried.room)

    tags = (tried.tag, said.tag, summary, open_tag, round_tag)
    text = "\n".join([tag for tag in tags if tag])
    dropped = (*said.dropped, *tried.dropped)
    # Notes on fewer sources are never longer, save where some notes were dropped: then others may come back in their
    # place, so that all of the notes' share must stay free.
    taken = most if dropped else tokens_of(text)
    return Notes(text, _call_behind(memory, summary), dropped, room=budget - taken)


class _Fitted(NamedTuple):
    tag: str
    dropped: tuple[Dropped, ...]
    room: int


def _fit(tag: Tag, lines: Sequence[NoteLine], room: int) -> _Fitted:
    """The tag with the last of `lines` that fit into `room` tokens, without gaps; and the room that they leave."""
    tokens = [tokens_of(wrap(tag, line.text)) for line in lines]
    first = len(lines)
    while first and tokens[first - 1] <= room:
        first -= 1
        room -= tokens[first]
    kept = [line.text for line in lines[first:]]
    dropped: list[Dropped] = []
    for line, freed in zip(lines[:first], tokens, strict=False):
        dropped.append(Dropped(what=f"round {line.round} notes", why=OUTGROWN, tokens=freed))
    return _Fitted(wrap(tag, "\n".join(kept)) if kept else "", tuple(dropped), room)


def _round_tag(opened: RoundOpened) -> str:
    if opened.final:
        return wrap("round", "Final answer: no tools.")
    return wrap("round", f"Round {opened.round} of {opened.round + opened.rounds_left}: tools may be used.")


def _call_behind(memory: Memory, tag: str) -> str:
    summary = memory.reasoning.summary
    return summary.call_id if summary is not None and tag else ""
