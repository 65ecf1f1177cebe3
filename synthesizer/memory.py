"""Everything that a query remembers: the four layers, and the blocks made from them; a fold over its events."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from antiphon.language.lengths import first_lines, shorten, tokens_of
from antiphon.language.markup import wrap
from antiphon.synthesizer import facts, intent, reasoning, transcript, usage
from antiphon.synthesizer.blocks import SourceBlock, source_block, text_block
from antiphon.synthesizer.facts import Facts
from antiphon.synthesizer.intent import Intent
from antiphon.synthesizer.reasoning import Reasoning
from antiphon.synthesizer.selection import (
    LEAST_SCORES,
    OLD_LEAST_SCORES,
    LeastScores,
)
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
from antiphon.vocabulary.values import (
    Exchange,
    Fact,
    QuerySettings,
    ShownSource,
    StoredText,
    Value,
)

QUESTION_LAST = 2
"""The first version of the rules whose briefings end with the question, after the passages, the best one first.

Documented practice is documents first, question last
(https://platform.claude.com/docs/en/build-with-claude/prompt-engineering/claude-prompting-best-practices).
"""
EARLIER_CHARS = 120
"""Most characters of each question and answer before the last one."""
LAST_QUESTION_CHARS = 400
LAST_ANSWER_TOKENS = 300
OLD_EXCHANGES = 2
"""Before that version, a briefing began with at most so many exchanges, each text of at most `OLD_EXCHANGE_CHARS`."""
OLD_EXCHANGE_CHARS = 400


class LastBriefing(Value, frozen=True, kw_only=True):
    """The previous briefing: its sources, and the number of facts known then."""

    shown: tuple[ShownSource, ...] = ()
    known: int = 0


class Memory(Value, frozen=True, kw_only=True):
    """The four layers, and the parts that all briefings of the query share.

    Attributes:
        rules: The version of the rules by which the query is decided.
        head: The blocks that every briefing holds: conversation and question.
        head_tokens: Estimated tokens of them.
        sources: One block a fact, in order of discovery.
        showable: Those that a briefing may show: none that another fact includes or repeats.
        settled_rounds: Rounds whose outcomes are in memory.
        last: The last briefing, with which the next is compared.
        transcript: Replies and tool outcomes as they came; empty if calls see briefings.
    """

    rules: int = 1
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

    @property
    def question_last(self) -> bool:
        """True if a briefing ends with the question; False if it begins with it."""
        return self.rules >= QUESTION_LAST

    @property
    def least_scores(self) -> LeastScores:
        """The least scores of sentences that stay, by age."""
        if self.rules < QUESTION_LAST:
            return OLD_LEAST_SCORES
        return LEAST_SCORES


def remember(memory: Memory, event: Event) -> Memory:
    """Returns the memory after an event that closes no round."""
    # The layers do not know one another: each defines in its own file what an event means to it.
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
        is_old = event.rules < QUESTION_LAST
        write = _old_conversation_tag if is_old else _conversation_tag
        tags.append(write(event.history))
    tags.append(wrap("question", event.query))
    return replace(
        memory,
        rules=event.rules,
        settings=event.settings,
        facts=replace(memory.facts, merging=event.settings.context != "transcript"),
        reasoning=replace(
            memory.reasoning, notes_thoughts=event.rules >= QUESTION_LAST
        ),
        head=tuple(map(text_block, tags)),
        head_tokens=sum(map(tokens_of, tags)),
    )


def _conversation_tag(history: Sequence[Exchange]) -> str:
    """Writes the exchanges, oldest first: one line for each, but the last one's answer unshortened."""
    lines: list[str] = []
    for exchange in history[:-1]:
        question = shorten(exchange.question, EARLIER_CHARS)
        answer = shorten(exchange.answer, EARLIER_CHARS)
        lines.append(f"Question: {question} (Answered: {answer})")
    last = history[-1]
    lines.append(f"Question: {shorten(last.question, LAST_QUESTION_CHARS)}")
    lines.append(f"Answer: {first_lines(last.answer, LAST_ANSWER_TOKENS)}")
    return wrap("conversation", "\n".join(lines))


def _old_conversation_tag(history: Sequence[Exchange]) -> str:
    """Writes the last exchanges, shortened, oldest first."""
    lines: list[str] = []
    for exchange in history[-OLD_EXCHANGES:]:
        lines.append(f"Question: {shorten(exchange.question, OLD_EXCHANGE_CHARS)}")
        lines.append(f"Answer: {shorten(exchange.answer, OLD_EXCHANGE_CHARS)}")
    return wrap("conversation", "\n".join(lines))


def within(memory: Memory, opened: RoundOpened) -> Memory:
    """Returns the memory with the budget of a round, if that is smaller than the settings'."""
    if opened.briefing_tokens is None:
        return memory
    return replace(
        memory,
        settings=replace(memory.settings, briefing_tokens=opened.briefing_tokens),
    )


def settle(
    memory: Memory, event: ToolsSettled
) -> tuple[Memory, ContextSynthesized | None]:
    """Adds a round's outcomes, and returns the event to emit with the memory; None if the round has settled already."""
    if event.round in memory.settled_rounds:
        return memory, None
    found, discovery = facts.settle(memory.facts, event)
    blocks = _blocks_of(discovery.new, memory.sources)
    sources = (*memory.sources, *blocks)
    standing = facts.standing(found.known)
    showable = [
        block for block in sources if block.sentences and block.fact.id in standing
    ]
    tried = usage.settle(memory.usage, event, discovery)
    # Attempts are only ever appended, so those of this round follow those known before.
    new_attempts = tried.settled[len(memory.usage.settled) :]
    calls_of_round = [settled.attempt for settled in new_attempts]
    # The notes on a round's calls name the parts that their facts serve, so the facts come first.
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
    """Makes the blocks of the new facts; those that include earlier ones keep the rounds of their sentences."""
    by_id = {block.fact.id: block for block in known}
    blocks: list[SourceBlock] = []
    for fact in new:
        merged = [by_id[earlier] for earlier in fact.merged]
        blocks.append(source_block(fact, merged))
    return blocks
