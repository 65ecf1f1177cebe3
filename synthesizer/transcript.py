"""The other way to show a call what was done: the plain growing message list (`context="transcript"`).

It is the yardstick that briefings are compared with. Nothing is ranked, merged or dropped: each reply goes back as it
came, each tool call is answered, and what was sent once stands at the same place in every later request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from antiphon.language.markup import wrap
from antiphon.synthesizer.blocks import SourceBlock, text_block
from antiphon.synthesizer.tokens import tokens_of
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


class Outcome(Value, frozen=True, kw_only=True):
    """What one tool call is answered with: its passages, or words where it brought none."""

    tool_call_id: str
    passages: tuple[str, ...] = ()
    words: str = ""
    failed: bool = False


class Transcript(Value, frozen=True, kw_only=True):
    """The replies that asked for tools, the calls that were started, and what came of each; all oldest first."""

    turns: tuple[ReasoningCompleted, ...] = ()
    started: tuple[ToolCall, ...] = ()
    outcomes: tuple[Outcome, ...] = ()


def fold(transcript: Transcript, event: Event) -> Transcript:
    """The transcript after `event`."""
    if isinstance(event, ReasoningCompleted):
        return replace(transcript, turns=(*transcript.turns, event)) if event.tool_calls else transcript
    if isinstance(event, ToolRequested):
        return replace(transcript, started=(*transcript.started, event.call))
    outcome = _outcome(event)
    return transcript if outcome is None else replace(transcript, outcomes=(*transcript.outcomes, outcome))


def transcribe(
    transcript: Transcript, head: Sequence[StoredText], sources: Sequence[SourceBlock], opened: RoundOpened
) -> BriefingPrepared:
    """The message list for the call of `opened`; every search result in it is a row of its table of sources."""
    ending = (text_block(wrap("round", "Final answer: no tools.")),) if opened.final else ()
    by_passage = {block.fact.passage.id: block for block in sources if block.sentences}
    messages = [Message(role="user", content=tuple(head))]
    shown: list[SourceBlock] = []
    for turn in transcript.turns:
        answers = []
        for call in turn.tool_calls:
            outcome = _outcome_of(transcript, call)
            found = [by_passage[id_] for id_ in outcome.passages if id_ in by_passage]
            answers.append(_tool_result(outcome, found))
            shown += found
        messages += [_said(turn), Message(role="user", content=tuple(answers))]
    last = messages[-1]
    messages[-1] = replace(last, content=(*last.content, *ending))
    return BriefingPrepared(
        call_id=opened.call_id,
        round=opened.round,
        messages=tuple(messages),
        sources=tuple(ShownSource(fact_id=block.fact.id, sentences=block.sentences) for block in shown),
        facts=tuple(dict.fromkeys(block.fact.id for block in shown)),
        tokens=sum(tokens_of(block.text) for message in messages for block in message.content),
    )


def _outcome(event: Event) -> Outcome | None:
    if isinstance(event, ToolSucceeded):
        passages = tuple(passage.id for passage in event.passages)
        return Outcome(tool_call_id=event.tool_call_id, passages=passages, words=event.output.text)
    if isinstance(event, ToolFailed):
        return Outcome(tool_call_id=event.tool_call_id, words=event.detail, failed=True)
    if isinstance(event, BreakerTripped) and event.tool_call_id is not None:
        return Outcome(tool_call_id=event.tool_call_id, words=event.detail, failed=True)
    return None


def _outcome_of(transcript: Transcript, call: ToolCall) -> Outcome:
    """The call's outcome: its own, or that of the same call which an earlier attempt at the reply had started."""
    outcomes = {outcome.tool_call_id: outcome for outcome in transcript.outcomes}
    wanted = call_identity(call.name, call.arguments)
    started = (each for each in transcript.started if each.id in outcomes)
    same = (each.id for each in started if call_identity(each.name, each.arguments) == wanted)
    found = outcomes.get(call.id) or outcomes.get(next(same, ""))
    return replace(found, tool_call_id=call.id) if found else Outcome(tool_call_id=call.id, words=_NOT_RUN, failed=True)


def _said(turn: ReasoningCompleted) -> Message:
    """The reply as it came; blank text blocks are left out, the API refuses them."""
    return Message(role="assistant", content=tuple(_sendable(turn.content)))


def _sendable(blocks: Sequence[StoredText]) -> Iterator[StoredText]:
    for kept in blocks:
        block: Mapping[str, object] = msgspec.json.decode(kept.text)
        if block.get("type") != "text" or str(block.get("text", "")).strip():
            yield kept


def _tool_result(outcome: Outcome, found: Sequence[SourceBlock]) -> StoredText:
    # The blocks are JSON already, and their bytes must be those of the earlier request.
    parts = [block.kept.text for block in found]
    if not parts and outcome.words.strip():
        parts = [text_block(outcome.words).text]
    name = msgspec.json.encode(outcome.tool_call_id).decode()
    failed = ',"is_error":true' if outcome.failed else ""
    return StoredText(f'{{"type":"tool_result","tool_use_id":{name},"content":[{",".join(parts)}]{failed}}}')
