"""What a query remembers: the four layers, and the blocks that were made of them; a fold over its events."""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.language.markup import wrap
from antiphon.synthesizer import facts, intent, reasoning, summary, transcript, usage
from antiphon.synthesizer.blocks import SourceBlock, source_block, text_block
from antiphon.synthesizer.changes import Before
from antiphon.synthesizer.conversation import conversation_tag
from antiphon.synthesizer.facts import Facts
from antiphon.synthesizer.intent import Intent
from antiphon.synthesizer.reasoning import Reasoning
from antiphon.synthesizer.summary import Summaries
from antiphon.synthesizer.tokens import tokens_of
from antiphon.synthesizer.transcript import Transcript
from antiphon.synthesizer.usage import ToolUsage
from antiphon.vocabulary.events import (
    BriefingPrepared,
    ContextSynthesized,
    Event,
    QueryReceived,
    RoundOpened,
    ToolsSettled,
)
from antiphon.vocabulary.values import QuerySettings, StoredText, Value


class Memory(Value, frozen=True, kw_only=True):
    """The four layers and what every briefing of the query shares.

    Attributes:
        head: The blocks that open each briefing: conversation and question.
        head_tokens: Estimated tokens of them.
        sources: One block a fact, in order of discovery.
        settled_rounds: Rounds whose outcomes are in.
        before: What the last briefing showed, so that the next can say what changed.
        transcript: Replies and tool outcomes as they came; empty where calls are shown briefings.
        summaries: What summarising calls brought; empty where compression is extractive.
    """

    settings: QuerySettings = QuerySettings()
    facts: Facts = Facts()
    reasoning: Reasoning = Reasoning()
    intent: Intent = Intent()
    usage: ToolUsage = ToolUsage()
    head: tuple[StoredText, ...] = ()
    head_tokens: int = 0
    sources: tuple[SourceBlock, ...] = ()
    settled_rounds: tuple[int, ...] = ()
    before: Before = Before()
    transcript: Transcript = Transcript()
    summaries: Summaries = Summaries()


def remember(memory: Memory, event: Event) -> Memory:
    """The memory after an event that closes no round."""
    memory = replace(
        memory,
        facts=facts.fold(memory.facts, event),
        reasoning=reasoning.fold(memory.reasoning, event),
        intent=intent.fold(memory.intent, event),
        usage=usage.fold(memory.usage, event),
        summaries=summary.fold(memory.summaries, event),
    )
    if memory.settings.context == "transcript":
        memory = replace(memory, transcript=transcript.fold(memory.transcript, event))
    if isinstance(event, QueryReceived):
        tags = _head_tags(event)
        head_tokens = sum(tokens_of(tag) for tag in tags)
        return replace(
            memory,
            settings=event.settings,
            facts=replace(memory.facts, merging=event.settings.context != "transcript"),
            head=tuple(map(text_block, tags)),
            head_tokens=head_tokens,
        )
    if isinstance(event, BriefingPrepared):
        return replace(memory, before=Before(shown=event.sources, known=len(memory.sources)))
    return memory


def within(memory: Memory, opened: RoundOpened) -> Memory:
    """The memory with the budget that a round was given, where that is less than the settings'."""
    if opened.briefing_tokens is None:
        return memory
    return replace(memory, settings=replace(memory.settings, briefing_tokens=opened.briefing_tokens))


def settle(memory: Memory, event: ToolsSettled) -> tuple[Memory, ContextSynthesized | None]:
    """The memory with a round's outcomes in it, and what there is to say; nothing where the round is over already."""
    if event.round in memory.settled_rounds:
        return memory, None
    layer, discovery = facts.settle(memory.facts, event)
    known = {block.fact.id: block for block in memory.sources}
    blocks = tuple(source_block(fact, [known[old] for old in fact.merged]) for fact in discovery.new)
    tried = usage.settle(memory.usage, event, discovery)
    served = intent.serve(memory.intent, blocks)
    memory = replace(
        memory,
        facts=layer,
        intent=intent.note_round(served, event.round, tried.settled[len(memory.usage.settled) :]),
        usage=tried,
        sources=(*memory.sources, *blocks),
        settled_rounds=(*memory.settled_rounds, event.round),
    )
    return memory, ContextSynthesized(
        round=event.round,
        facts=discovery.new,
        repeated=discovery.repeated,
        open_parts=intent.open_parts(memory.intent),
    )


def _head_tags(event: QueryReceived) -> tuple[str, ...]:
    said_before = conversation_tag(event.history)
    question = wrap("question", event.query)
    return (said_before, question) if said_before else (question,)
