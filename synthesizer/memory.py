"""All that a query remembers: the four layers, and the blocks that were made of them; a fold over its events."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from antiphon.language.lengths import shorten, tokens_of
from antiphon.language.markup import wrap
from antiphon.synthesizer import facts, intent, reasoning, transcript, usage
from antiphon.synthesizer.blocks import SourceBlock, source_block, text_block
from antiphon.synthesizer.facts import Facts
from antiphon.synthesizer.intent import Intent
from antiphon.synthesizer.reasoning import Reasoning
from antiphon.synthesizer.transcript import Transcript
from antiphon.synthesizer.usage import ToolAttempt, ToolUsage
from antiphon.vocabulary.events import (
    BriefingPrepared,
    ContextSynthesized,
    Event,
    QueryReceived,
    RoundOpened,
    ToolsSettled,
)
from antiphon.vocabulary.values import (
    Exchange,
    Fact,
    QuerySettings,
    ShownSource,
    StoredText,
    Value,
)

EXCHANGES = 2
"""As many exchanges of the conversation open a briefing."""
EXCHANGE_CHARS = 400


class LastBriefing(Value, frozen=True, kw_only=True):
    """The briefing before: what it showed, and how many facts were known then."""

    shown: tuple[ShownSource, ...] = ()
    known: int = 0


class Memory(Value, frozen=True, kw_only=True):
    """The four layers and what every briefing of the query shares.

    Attributes:
        head: The blocks that open each briefing: conversation and question.
        head_tokens: Estimated tokens of them.
        sources: One block a fact, in order of discovery.
        showable: Those of them that a briefing may show: what another fact holds or says is not shown twice.
        settled_rounds: Rounds whose outcomes are in.
        last: The last briefing, so that the next can say what changed.
        transcript: Replies and tool outcomes as they came; empty where calls are shown briefings.
    """

    settings: QuerySettings = QuerySettings()
    facts: Facts = Facts()
    reasoning: Reasoning = Reasoning()
    intent: Intent = Intent()
    usage: ToolUsage = ToolUsage()
    head: tuple[StoredText, ...] = ()
    head_tokens: int = 0
    sources: tuple[SourceBlock, ...] = ()
    showable: tuple[SourceBlock, ...] = ()
    settled_rounds: tuple[int, ...] = ()
    last: LastBriefing = LastBriefing()
    transcript: Transcript = Transcript()


def remember(memory: Memory, event: Event) -> Memory:
    """Returns the memory after an event that closes no round."""
    # The layers do not know one another: what one event means to each is written in its own file.
    memory = replace(
        memory,
        facts=facts.fold(memory.facts, event),
        reasoning=reasoning.fold(memory.reasoning, event),
        intent=intent.fold(memory.intent, event),
        usage=usage.fold(memory.usage, event),
    )
    if memory.settings.context == "transcript":
        memory = replace(memory, transcript=transcript.fold(memory.transcript, event))
    if isinstance(event, QueryReceived):
        return _begun(memory, event)
    if isinstance(event, BriefingPrepared):
        return replace(
            memory, last=LastBriefing(shown=event.sources, known=len(memory.sources))
        )
    return memory


def _begun(memory: Memory, event: QueryReceived) -> Memory:
    # The conversation comes first, as it came before the question.
    tags: list[str] = []
    if event.history:
        tags.append(_conversation_tag(event.history))
    tags.append(wrap("question", event.query))
    return replace(
        memory,
        settings=event.settings,
        facts=replace(memory.facts, merging=event.settings.context != "transcript"),
        head=tuple(map(text_block, tags)),
        head_tokens=sum(map(tokens_of, tags)),
    )


def _conversation_tag(history: Sequence[Exchange]) -> str:
    """Writes the last exchanges, shortened, oldest first."""
    lines: list[str] = []
    for exchange in history[-EXCHANGES:]:
        lines.append(f"Question: {shorten(exchange.question, EXCHANGE_CHARS)}")
        lines.append(f"Answer: {shorten(exchange.answer, EXCHANGE_CHARS)}")
    return wrap("conversation", "\n".join(lines))


def within(memory: Memory, opened: RoundOpened) -> Memory:
    """Returns the memory with the budget that a round was given, where that is less than the settings'."""
    if opened.briefing_tokens is None:
        return memory
    return replace(
        memory,
        settings=replace(memory.settings, briefing_tokens=opened.briefing_tokens),
    )


def settle(
    memory: Memory, event: ToolsSettled
) -> tuple[Memory, ContextSynthesized | None]:
    """Takes a round's outcomes in, and returns what there is to emit: None where the round is over already."""
    if event.round in memory.settled_rounds:
        return memory, None
    found, discovery = facts.settle(memory.facts, event)
    blocks = _blocks_of(discovery.new, memory.sources)
    sources = (*memory.sources, *blocks)
    standing = facts.standing(found.known)
    showable: list[SourceBlock] = []
    for block in sources:
        if block.sentences and block.fact.id in standing:
            showable.append(block)
    tried = usage.settle(memory.usage, event, discovery)
    # Attempts are only ever added, so those of this round are the ones behind those known before.
    calls_of_round: list[ToolAttempt] = []
    for settled in tried.settled[len(memory.usage.settled) :]:
        calls_of_round.append(settled.attempt)
    # A round's calls are noted with the parts that they serve, so the facts must serve theirs first.
    wanted = intent.note_round(
        intent.serve(memory.intent, blocks), event.round, calls_of_round
    )
    memory = replace(
        memory,
        facts=found,
        intent=wanted,
        usage=tried,
        sources=sources,
        showable=tuple(showable),
        settled_rounds=(*memory.settled_rounds, event.round),
    )
    synthesized = ContextSynthesized(
        round=event.round,
        facts=discovery.new,
        repeated=discovery.repeated,
        open_parts=intent.open_parts(wanted),
    )
    return memory, synthesized


def _blocks_of(new: Sequence[Fact], known: Sequence[SourceBlock]) -> list[SourceBlock]:
    """Makes the blocks of the new facts; those that took in earlier ones take the rounds of their sentences over."""
    by_id = {block.fact.id: block for block in known}
    blocks: list[SourceBlock] = []
    for fact in new:
        merged = [by_id[earlier] for earlier in fact.merged]
        blocks.append(source_block(fact, merged))
    return blocks
