"""When a summary of older rounds is worth a call, and what that call is shown (`compression="model"`).

What a briefing shows is chosen as ever, and a summary tells of what that leaves out of older rounds. Only where the
budget is full does what can be cited make room for what cannot: for an eighth at most, and the least worth first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from antiphon.language.markup import Material, wrap, write_material
from antiphon.synthesizer.blocks import SourceBlock, text_block
from antiphon.synthesizer.briefing import ground_of, within_budget
from antiphon.synthesizer.memory import Memory
from antiphon.synthesizer.reasoning import OLDER_CHARS
from antiphon.synthesizer.shortening import shorten
from antiphon.synthesizer.shown import Shown
from antiphon.synthesizer.summary import covers, most_tokens
from antiphon.synthesizer.tokens import tokens_of
from antiphon.vocabulary.events import RoundOpened, SummaryWanted
from antiphon.vocabulary.values import Message, ShownSource

LEAST_SHARE = 1 / 60
"""Less than this share of a briefing's budget (100 tokens as a rule) is not worth a call."""
LEAST_ROOM = 48
"""With less room for its words a summary says nothing: a budget that small is left without."""
MOST_TOKENS = 3_000
"""The most that a summarising call is shown; what is worth most to the question comes first."""
LONGEST_SENTENCE = 500
NOTE_CHARS = 1_000
SOURCE_CHARS = 120


def want_summary(memory: Memory, opened: RoundOpened) -> SummaryWanted | None:
    """The wish for a summary before the briefing of `opened`; None where none is worth a call."""
    budget = memory.settings.briefing_tokens
    reserve = most_tokens(budget)
    if memory.settings.compression != "model" or reserve < LEAST_ROOM:
        return None
    ground, worths = ground_of(memory, opened, reserve)
    shown = within_budget(ground, worths)
    left = _left_out(memory, ground.sources, shown, worths)
    of = tuple(ShownSource(fact_id=block.fact.id, sentences=numbers) for block, numbers in left)
    tokens = sum(_tokens(block, numbers) for block, numbers in left)
    if tokens < budget * LEAST_SHARE or covers(memory.summaries.newest, of):
        return None
    tags = (wrap("question", memory.intent.meant), write_material((*_material(left), *_said(memory))))
    return SummaryWanted(
        call_id=opened.call_id,
        round=opened.round,
        of=of,
        messages=(Message(role="user", content=tuple(map(text_block, tags))),),
        tokens=sum(map(tokens_of, tags)),
    )


def _left_out(
    memory: Memory, sources: Sequence[SourceBlock], shown: Shown, worths: Sequence[float]
) -> list[tuple[SourceBlock, tuple[int, ...]]]:
    """What older rounds found and is not shown, as far as a summarising call can be shown it; in order of discovery."""
    kept = {block.fact.id: frozenset(block.sentences) for block in shown.sources}
    newest = max(memory.settled_rounds, default=0)
    places: list[tuple[float, int, int, int]] = []
    first = 0
    for at, block in enumerate(sources):
        seen = kept.get(block.fact.id, frozenset())
        row = zip(block.sentences, block.tokens, block.rounds, strict=True)
        for place, (number, tokens, found_in) in enumerate(row):
            if found_in < newest and number not in seen and tokens <= LONGEST_SENTENCE:
                places.append((-worths[first + place], at, number, tokens))
        first += len(block.sentences)
    chosen: dict[int, list[int]] = {}
    room = MOST_TOKENS
    for _, at, number, tokens in sorted(places):
        if tokens <= room:
            room -= tokens
            chosen.setdefault(at, []).append(number)
    return [(sources[at], tuple(sorted(chosen[at]))) for at in sorted(chosen)]


def _tokens(block: SourceBlock, numbers: Sequence[int]) -> int:
    return sum(count for number, count in zip(block.sentences, block.tokens, strict=True) if number in numbers)


def _material(left: Sequence[tuple[SourceBlock, tuple[int, ...]]]) -> Iterator[Material]:
    for block, numbers in left:
        passage = block.fact.passage
        said = " ".join(" ".join(passage.sentence(number).split()) for number in numbers)
        yield Material(source=shorten(passage.source, SOURCE_CHARS), said=said)


def _said(memory: Memory) -> Iterator[Material]:
    """What the model said in older rounds, where the notes tell only its beginning."""
    newest = max((note.round for note in memory.reasoning.notes), default=0)
    for note in memory.reasoning.notes:
        if note.round < newest and len(note.text) > OLDER_CHARS:
            yield Material(source=f"Your own words in round {note.round}", said=shorten(note.text, NOTE_CHARS))
