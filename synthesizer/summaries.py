"""Requests a summary of older rounds if one is worth a call (`compression="model"`), and names its sentences.

The briefing selects its sentences as usual, and the summary covers those of older rounds that it leaves out. Only if
the budget is full do sentences, which can be cited, make room for the summary, which cannot: an eighth at most, and the
lowest scores first.
"""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.language.lengths import shorten, tokens_of
from antiphon.language.markup import Material, wrap, write_material
from antiphon.synthesizer.blocks import text_block
from antiphon.synthesizer.briefing import draft_briefing
from antiphon.synthesizer.memory import Memory
from antiphon.synthesizer.reasoning import (
    OLDER_CHARS,
    Reasoning,
    Summary,
    most_summary_tokens,
    newest_round,
)
from antiphon.synthesizer.scoring import Candidate
from antiphon.synthesizer.selection import select
from antiphon.vocabulary.events import RoundOpened, SummaryWanted
from antiphon.vocabulary.values import Message, ShownSource

LEAST_SHARE = 1 / 60
"""Fewer left-out tokens than this share of a briefing's budget (100 as a rule) are not worth a call."""
LEAST_ROOM = 48
"""With fewer tokens a summary would say nothing, so there is none for a budget that small."""
MOST_TOKENS = 3_000
"""Most tokens of sentences in a summarising call; the best scores come first."""
LONGEST_SENTENCE = 500
NOTE_CHARS = 1_000
SOURCE_CHARS = 120


def want_summary(memory: Memory, opened: RoundOpened) -> SummaryWanted | None:
    """Returns the request for a summary before the briefing of `opened`; None if it is not worth a call."""
    budget = memory.settings.briefing_tokens
    room_of_summary = most_summary_tokens(budget)
    if memory.settings.compression != "model" or room_of_summary < LEAST_ROOM:
        return None
    # Selects as the briefing will, less the summary's room: the summary must cover what this leaves out.
    draft = draft_briefing(memory, opened)
    selection = select(
        draft.candidates,
        memory.intent,
        budget,
        draft.notes.room - room_of_summary,
        memory.least_scores,
    )
    material = _material(
        selection.left_out, newest=max(memory.settled_rounds, default=0)
    )
    tokens = sum([candidate.sentence.tokens for candidate in material])
    if tokens < budget * LEAST_SHARE:
        return None
    of = _shown_sources(material)
    if _covers(memory.reasoning.summary, of):
        return None
    question = wrap("question", memory.intent.meant)
    written = write_material((*_quoted(material), *_older_words(memory.reasoning)))
    return SummaryWanted(
        call_id=opened.call_id,
        round=opened.round,
        of=of,
        messages=(
            Message(role="user", content=(text_block(question), text_block(written))),
        ),
        tokens=tokens_of(question) + tokens_of(written),
    )


def _material(left_out: Sequence[Candidate], newest: int) -> list[Candidate]:
    """Chooses the left-out sentences of older rounds for a summarising call, best first; returns them in order."""
    chosen: list[Candidate] = []
    room = MOST_TOKENS
    for candidate in sorted(
        left_out, key=lambda candidate: (-candidate.score, candidate.place)
    ):
        sentence = candidate.sentence
        if sentence.round < newest and sentence.tokens <= min(room, LONGEST_SENTENCE):
            room -= sentence.tokens
            chosen.append(candidate)
    return sorted(chosen, key=lambda candidate: candidate.place)


def _shown_sources(material: Sequence[Candidate]) -> tuple[ShownSource, ...]:
    numbers: dict[str, list[int]] = {}
    for candidate in material:
        numbers.setdefault(candidate.sentence.fact_id, []).append(
            candidate.sentence.number
        )
    rows = [
        ShownSource(fact_id=fact_id, sentences=tuple(row))
        for fact_id, row in numbers.items()
    ]
    return tuple(rows)


def _covers(summary: Summary | None, of: Sequence[ShownSource]) -> bool:
    """Returns True if the summary covers all these sentences already."""
    if summary is None:
        return False
    summed_up = {row.fact_id: row.sentences for row in summary.of}
    return all(
        set(row.sentences).issubset(summed_up.get(row.fact_id, ())) for row in of
    )


def _quoted(material: Sequence[Candidate]) -> list[Material]:
    texts: dict[str, list[str]] = {}
    sources: dict[str, str] = {}
    for candidate in material:
        fact_id = candidate.sentence.fact_id
        passage = candidate.source.fact.passage
        said = passage.sentence(candidate.sentence.number)
        texts.setdefault(fact_id, []).append(" ".join(said.split()))
        sources[fact_id] = shorten(passage.source, SOURCE_CHARS)
    return [
        Material(source=sources[fact_id], said=" ".join(sentences))
        for fact_id, sentences in texts.items()
    ]


def _older_words(reasoning: Reasoning) -> list[Material]:
    """Returns the model's words of older rounds that the notes have shortened."""
    newest = newest_round(reasoning)
    words: list[Material] = []
    for note in reasoning.notes:
        if note.round < newest and len(note.text) > OLDER_CHARS:
            source = f"Your own words in round {note.round}"
            words.append(Material(source=source, said=shorten(note.text, NOTE_CHARS)))
    return words
