"""Writes the notes that end a briefing: what was tried, what was said, what is open, and which round this is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from antiphon.language.lengths import tokens_of
from antiphon.language.markup import NoteLine, Tag, wrap, write_review
from antiphon.synthesizer.blocks import SourceBlock
from antiphon.synthesizer.intent import open_parts
from antiphon.synthesizer.memory import Memory
from antiphon.synthesizer.reasoning import lines, most_summary_tokens, summary_tag
from antiphon.synthesizer.usage import noted_attempts
from antiphon.vocabulary.events import RoundOpened
from antiphon.vocabulary.values import Dropped, Fact

MOST_SHARE = 0.5
"""The notes' most share of a briefing's budget: the rest is the facts'."""
OUTGROWN = "the notes had outgrown their share of the budget"


class Notes(NamedTuple):
    """The tags of the last block, and what did not fit among them.

    Attributes:
        tokens: Estimated tokens of the text.
        room: The tokens that they leave to the sources.
        summary: The summarising call whose text stands among them; empty where none does.
    """

    text: str
    tokens: int
    dropped: tuple[Dropped, ...]
    room: int
    summary: str


def write_notes(memory: Memory, opened: RoundOpened, sources: Sequence[SourceBlock]) -> Notes:
    """Writes the notes for the call of `opened`, whose request shows `sources`.

    Where they outgrow their share of the budget, the oldest words of the model go first, then the oldest attempts.
    """
    numbers = _numbers(memory.facts.known, sources)
    is_open = open_parts(memory.intent)
    budget = memory.settings.briefing_tokens
    most = int(budget * MOST_SHARE)

    open_tag = wrap("open", "\n".join(is_open)) if memory.usage.settled and is_open else ""
    review_tag = write_review(opened.note)
    round_tag = _round_tag(opened)
    fixed = (open_tag, review_tag, round_tag)
    room = most - sum(map(tokens_of, fixed)) - 2  # the tags' line breaks
    attempts = noted_attempts(memory.usage, numbers)
    words = lines(memory.reasoning)
    summary = summary_tag(memory.reasoning, min(room, most_summary_tokens(budget)))
    room -= tokens_of(summary)
    # The newest attempts take their room before the words do: that is the order in which both go.
    tried = _fit("attempts", attempts, room)
    said = _fit("reasoning", words, tried.room)

    tags = (tried.tag, said.tag, summary, *fixed)
    text = "\n".join([tag for tag in tags if tag])
    tokens = tokens_of(text)
    dropped = (*said.dropped, *tried.dropped)
    # Notes on fewer sources are never longer, save where some notes were dropped: then others may come back in their
    # place, so that all of the notes' share must stay free.
    room = budget - (most if dropped else tokens)
    return Notes(text, tokens, dropped, room, summary=_call_behind(memory, summary))


def _numbers(known: Sequence[Fact], sources: Sequence[SourceBlock]) -> dict[str, int]:
    """The number of each fact in a request that shows `sources`, from 1.

    A fact that was merged has the number of the one that holds it now; so has one that says nearly the same as it.
    """
    numbers: dict[str, int] = {}
    for number, block in enumerate(sources, start=1):
        numbers[block.fact.id] = number
    held_by: dict[str, str] = {}
    for fact in known:
        held_by.update(dict.fromkeys(fact.merged, fact.id))
    for fact in known:
        original = fact.like
        if original is not None:
            # The original may have been taken into a later fact, and that one into one later still.
            while original in held_by:
                original = held_by[original]
            if original in numbers:
                numbers[fact.id] = numbers[original]
        if fact.id in numbers:
            numbers.update(dict.fromkeys(fact.merged, numbers[fact.id]))
    return numbers


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
