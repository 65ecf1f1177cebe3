"""Writes the notes of a briefing: the attempts, the model's own words, the open parts, and the round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
"""The largest share of a briefing's budget that the notes may take; the facts have the rest."""
OUTGROWN = "the notes had outgrown their share of the budget"


class Notes(NamedTuple):
    """The tags of the notes block, and the notes that did not fit.

    Attributes:
        tokens: Estimated tokens of the text.
        room: The tokens that remain for the sources.
        summary: The summarising call whose text is among them; empty if none is.
    """

    text: str
    tokens: int
    dropped: tuple[Dropped, ...]
    room: int
    summary: str


def write_notes(
    memory: Memory, opened: RoundOpened, sources: Sequence[SourceBlock]
) -> Notes:
    """Writes the notes for the call of `opened`, whose request shows `sources`.

    If they outgrow their share of the budget, the oldest words of the model go first, then the oldest attempts.
    """
    numbers = _numbers(memory.facts.known, sources)
    budget = memory.settings.briefing_tokens
    most = int(budget * MOST_SHARE)

    fixed = (_open_tag(memory), write_review(opened.note), _round_tag(opened))
    room = most - sum(map(tokens_of, fixed)) - 2  # the tags' line breaks
    attempts = noted_attempts(memory.usage, numbers)
    words = lines(memory.reasoning)
    summary = summary_tag(memory.reasoning, min(room, most_summary_tokens(budget)))
    room -= tokens_of(summary)
    # Attempts take their room first, because the words are the first to go.
    tried = _fit("attempts", attempts, room)
    own_words = _fit("reasoning", words, tried.room)

    tags = (tried.tag, own_words.tag, summary, *fixed)
    text = "\n".join(filter(None, tags))
    tokens = tokens_of(text)
    dropped = (*own_words.dropped, *tried.dropped)
    # Notes on fewer sources are never longer, unless some notes were dropped: the shorter ones may let those back in,
    # so all of the notes' share must stay free.
    taken = most if dropped else tokens
    newest = memory.reasoning.summary
    call_id = newest.call_id if newest is not None and summary else ""
    return Notes(text, tokens, dropped, room=budget - taken, summary=call_id)


def _open_tag(memory: Memory) -> str:
    """Writes the open parts; none before the first round settles, when all parts are open."""
    unserved = open_parts(memory.intent)
    if not memory.usage.settled or not unserved:
        return ""
    return wrap("open", "\n".join(unserved))


def _round_tag(opened: RoundOpened) -> str:
    if opened.final:
        return wrap("round", "Final answer: no tools.")
    return wrap(
        "round",
        f"Round {opened.round} of {opened.round + opened.rounds_left}: tools may be used.",
    )


def _numbers(known: Sequence[Fact], sources: Sequence[SourceBlock]) -> dict[str, int]:
    """Returns the number of each fact in a request that shows `sources`, from 1.

    A merged fact has the number of the fact that holds it now, and a repeat the number of the fact that it repeats.
    """
    numbers = {block.fact.id: number for number, block in enumerate(sources, start=1)}
    held_by: dict[str, str] = {}
    for fact in known:
        held_by.update(dict.fromkeys(fact.merged, fact.id))
    # In order of discovery, so that the last fact that includes an earlier one decides its number.
    for fact in known:
        if fact.like is not None:
            original = _holder_of(fact.like, held_by)
            if original in numbers:
                numbers[fact.id] = numbers[original]
        if fact.id in numbers:
            numbers.update(dict.fromkeys(fact.merged, numbers[fact.id]))
    return numbers


def _holder_of(fact_id: str, held_by: Mapping[str, str]) -> str:
    """Returns the fact that holds another now, following merges of merged facts."""
    while fact_id in held_by:
        fact_id = held_by[fact_id]
    return fact_id


class _Fitted(NamedTuple):
    tag: str
    dropped: tuple[Dropped, ...]
    room: int


def _fit(tag: Tag, lines: Sequence[NoteLine], room: int) -> _Fitted:
    """Writes the tag with the last of `lines` that fit into `room` tokens, and returns the room left."""
    kept: list[str] = []
    dropped: list[Dropped] = []
    for line in reversed(lines):
        tokens = tokens_of(wrap(tag, line.text))
        # Without gaps: the notes around a dropped one would read as if they had been neighbours.
        if dropped or tokens > room:
            dropped.append(
                Dropped(what=f"round {line.round} notes", why=OUTGROWN, tokens=tokens)
            )
        else:
            kept.append(line.text)
            room -= tokens
    kept.reverse()
    dropped.reverse()
    written = wrap(tag, "\n".join(kept)) if kept else ""
    return _Fitted(written, tuple(dropped), room)
