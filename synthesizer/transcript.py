"""The alternative to briefings: the plain growing message list (`context="transcript"`).

It is the baseline for comparing briefings. Nothing is ranked, merged or dropped: each reply goes back as it came, with
an answer to each of its tool calls, and every later request repeats the earlier one as its beginning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from antiphon.language.lengths import tokens_of
from antiphon.language.markup import wrap, write_review
from antiphon.synthesizer.blocks import SourceBlock, text_block
from antiphon.vocabulary.events import (
    BreakerTripped,
    BriefingPrepared,
    Event,
    ReasoningCompleted,
    RoundOpened,
    ToolFailed,
    ToolRequested,
    ToolSucceeded,
)
from antiphon.vocabulary.tool_calls import call_identity
from antiphon.vocabulary.values import Message, ShownSource, StoredText, ToolCall, Value

_NOT_RUN = "The call was not run."


class CallAnswer(Value, frozen=True, kw_only=True):
    """The answer to one tool call: its passages, or words if it found none."""

    tool_call_id: str
    passages: tuple[str, ...] = ()
    words: str = ""
    failed: bool = False


class Transcript(Value, frozen=True, kw_only=True):
    """The replies that called tools, the calls that were started, and their outcomes; all oldest first."""

    turns: tuple[ReasoningCompleted, ...] = ()
    started: tuple[ToolCall, ...] = ()
    answers: tuple[CallAnswer, ...] = ()


def fold(transcript: Transcript, event: Event) -> Transcript:
    """Returns the transcript after `event`."""
    if isinstance(event, ReasoningCompleted):
        if not event.tool_calls:
            return transcript
        return replace(transcript, turns=(*transcript.turns, event))
    if isinstance(event, ToolRequested):
        return replace(transcript, started=(*transcript.started, event.call))
    answer = _answer_in(event)
    if answer is None:
        return transcript
    return replace(transcript, answers=(*transcript.answers, answer))


def _answer_in(event: Event) -> CallAnswer | None:
    if isinstance(event, ToolSucceeded):
        passage_ids = [passage.id for passage in event.passages]
        return CallAnswer(
            tool_call_id=event.tool_call_id,
            passages=tuple(passage_ids),
            words=event.output.text,
        )
    # The breaker may trip without a call.
    if (
        isinstance(event, (ToolFailed, BreakerTripped))
        and event.tool_call_id is not None
    ):
        return CallAnswer(
            tool_call_id=event.tool_call_id, words=event.detail, failed=True
        )
    return None


def transcribe(
    transcript: Transcript,
    head: Sequence[StoredText],
    sources: Sequence[SourceBlock],
    opened: RoundOpened,
) -> BriefingPrepared:
    """Writes the message list for the call of `opened`; each search result in it is a row of the table of sources."""
    by_passage = {block.fact.passage.id: block for block in sources if block.sentences}
    # The request ends with a user message: the question, or the answers to the last tool calls.
    messages: list[Message] = []
    of_user = list(head)
    # Built once for all calls: an imported query may have made hundreds.
    answers = {answer.tool_call_id: answer for answer in transcript.answers}
    shown: list[SourceBlock] = []
    for turn in transcript.turns:
        messages.append(Message(role="user", content=tuple(of_user)))
        messages.append(Message(role="assistant", content=_sendable(turn.content)))
        of_user = []
        for call in turn.tool_calls:
            answer = _answer_to(transcript, answers, call)
            blocks = _blocks_of(answer, by_passage)
            of_user.append(_tool_result(answer, blocks))
            shown += blocks
    of_user += _ending(opened)
    messages.append(Message(role="user", content=tuple(of_user)))
    # A source that two calls found is in the request twice and has two rows, because citations count both.
    table: list[ShownSource] = []
    facts: dict[str, None] = {}
    for block in shown:
        table.append(ShownSource(fact_id=block.fact.id, sentences=block.numbers))
        facts[block.fact.id] = None
    return BriefingPrepared(
        call_id=opened.call_id,
        round=opened.round,
        messages=tuple(messages),
        sources=tuple(table),
        facts=tuple(facts),
        tokens=_tokens_of(messages),
    )


def _blocks_of(
    answer: CallAnswer, by_passage: Mapping[str, SourceBlock]
) -> list[SourceBlock]:
    """Returns the blocks of an answer's passages; a passage of white space alone has none."""
    return [by_passage[each] for each in answer.passages if each in by_passage]


def _ending(opened: RoundOpened) -> list[StoredText]:
    """Returns the ending of this request only: reviewers' words on the last draft, and a note that no tools remain."""
    blocks: list[StoredText] = []
    if opened.note:
        blocks.append(text_block(write_review(opened.note)))
    if opened.final:
        blocks.append(text_block(wrap("round", "Final answer: no tools.")))
    return blocks


def _tokens_of(messages: Sequence[Message]) -> int:
    tokens = 0
    for message in messages:
        for block in message.content:
            tokens += tokens_of(block.text)
    return tokens


def _answer_to(
    transcript: Transcript, answers: Mapping[str, CallAnswer], call: ToolCall
) -> CallAnswer:
    """Returns the answer to the call, or to the same call started by an earlier attempt at the reply."""
    # A reply that was cut off may have started a call early; its answer serves the same call of the next attempt.
    if call.id in answers:
        return answers[call.id]
    wanted = call_identity(call.name, call.arguments)
    for started in transcript.started:
        if (
            started.id in answers
            and call_identity(started.name, started.arguments) == wanted
        ):
            return replace(answers[started.id], tool_call_id=call.id)
    return CallAnswer(tool_call_id=call.id, words=_NOT_RUN, failed=True)


def _sendable(blocks: Sequence[StoredText]) -> tuple[StoredText, ...]:
    """Returns the reply as it came; blank text blocks are left out, because the API refuses them."""
    sendable: list[StoredText] = []
    for stored in blocks:
        block: Mapping[str, object] = msgspec.json.decode(stored.text)
        if block.get("type") != "text" or str(block.get("text", "")).strip():
            sendable.append(stored)
    return tuple(sendable)


def _tool_result(answer: CallAnswer, blocks: Sequence[SourceBlock]) -> StoredText:
    # The blocks stay JSON texts, because their bytes must match the earlier request's.
    parts = [block.json.text for block in blocks]
    if not parts and answer.words.strip():
        parts = [text_block(answer.words).text]
    name = msgspec.json.encode(answer.tool_call_id).decode()
    failed = ',"is_error":true' if answer.failed else ""
    return StoredText(
        f'{{"type":"tool_result","tool_use_id":{name},"content":[{",".join(parts)}]{failed}}}'
    )
