"""Adds sentences to a briefing that had left them out, so that a fork can show what they would have changed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from antiphon.synthesizer.blocks import SourceBlock, source_block, with_sentences
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import BriefingPrepared
from antiphon.vocabulary.values import Dropped, Fact, Message, ShownSource, StoredText


def show_sentences(
    briefing: BriefingPrepared, fact: Fact, numbers: Sequence[int]
) -> BriefingPrepared:
    """Returns the briefing with these sentences of a fact among what it shows.

    Args:
        numbers: From 0; empty means all of the fact.

    Raises:
        BadInputError: The fact has no such sentence, or the call sees a transcript instead of a briefing.
    """
    whole = source_block(fact)
    wanted = set(numbers or whole.numbers)
    if not wanted.issubset(whole.numbers):
        raise BadInputError(
            f"{fact.id} has {len(whole.numbers)} sentences, of which {sorted(wanted)} are not all some."
        )
    place, shown = _place_of(briefing, fact.id)
    chosen = [each for each in whole.sentences if each.number in wanted | shown]
    block = with_sentences(whole, chosen)
    row = ShownSource(fact_id=fact.id, sentences=block.numbers)
    end = place
    tokens = briefing.tokens + block.tokens
    if shown:
        end = place + 1
        tokens -= _tokens_of(whole, shown)
    sources = (*briefing.sources[:place], row, *briefing.sources[end:])
    return replace(
        briefing,
        messages=_with_block(briefing, place, end, block.json),
        sources=sources,
        facts=tuple([source.fact_id for source in sources]),
        tokens=tokens,
        dropped=tuple(_still_dropped(briefing.dropped, fact.id, set(block.numbers))),
    )


def _place_of(briefing: BriefingPrepared, fact_id: str) -> tuple[int, set[int]]:
    """Returns the fact's index among the sources and its shown sentences; for a new one its future index and none."""
    for number, source in enumerate(briefing.sources):
        if source.fact_id == fact_id:
            return number, set(source.sentences)
    # The briefing had left it out, so it comes last.
    return len(briefing.sources), set()


def _tokens_of(whole: SourceBlock, numbers: set[int]) -> int:
    shown = [each for each in whole.sentences if each.number in numbers]
    return with_sentences(whole, shown).tokens


def _with_block(
    briefing: BriefingPrepared, place: int, end: int, block: StoredText
) -> tuple[Message, ...]:
    """Returns the messages with the block replacing the sources from `place` to `end`."""
    *before, last = briefing.messages
    sources = [at for at, shown in enumerate(last.content) if _is_source(shown)]
    # A briefing is one message with a block for each source; a transcript is not.
    if before or len(sources) != len(briefing.sources):
        raise BadInputError(
            "The call is shown a transcript: sentences can be added to a briefing only."
        )
    first = sources[0] if sources else 0
    content = (*last.content[: first + place], block, *last.content[first + end :])
    return (replace(last, content=content),)


def _is_source(block: StoredText) -> bool:
    found = msgspec.json.decode(block.text)
    return isinstance(found, dict) and found.get("type") == "search_result"


def _still_dropped(
    dropped: Sequence[Dropped], fact_id: str, shown: set[int]
) -> list[Dropped]:
    """Returns the rows of dropped sentences without those that the briefing now shows."""
    left: list[Dropped] = []
    for item in dropped:
        if item.what != fact_id:
            left.append(item)
            continue
        # A row names no sentences if the whole fact was dropped.
        named = item.sentences or tuple(range(len(item.scores)))
        scored = zip(named, item.scores, strict=False)
        scores = [score for number, score in scored if number not in shown]
        numbers = [number for number in named if number not in shown]
        if numbers:
            row = replace(item, sentences=tuple(numbers), scores=tuple(scores))
            left.append(row)
    return left
