"""A two-round run told to the real synthesizer, event by event, without any model: its replies are scripted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from antiphon.engine.offline.summing import summary
from antiphon.language.markup import read_material, unwrap
from antiphon.synthesizer import ContextSynthesizer
from antiphon.vocabulary.events import (
    BriefingPrepared,
    Event,
    QueryReceived,
    ReasoningCompleted,
    Recorded,
    RoundOpened,
    SummaryCompleted,
    SummaryWanted,
    ToolRequested,
    ToolsSettled,
    ToolSucceeded,
)
from antiphon.vocabulary.ports import ToolOutput
from antiphon.vocabulary.values import QuerySettings, StoredText, ToolCall, Usage, Value

Said = TypeVar("Said", bound=Event)


class Made(Value, frozen=True, kw_only=True):
    """One tool call of a run, and what the tool brought."""

    name: str
    arguments: dict[str, str | int]
    output: ToolOutput


class Run(Value, frozen=True, kw_only=True):
    """One question, the calls of its two rounds, and the sentences that its answer needs."""

    question: str
    rounds: tuple[tuple[Made, ...], ...]
    gold: tuple[str, ...]
    courses: str = ""


class Shown(Value, frozen=True, kw_only=True):
    """What the calls of a run are shown: the three that reason, and those that sum up."""

    briefings: tuple[BriefingPrepared, ...]
    summaries: tuple[SummaryWanted, ...] = ()


def shown(run: Run, settings: QuerySettings) -> Shown:
    """Everything that a run's calls are shown; summaries are the offline reasoner's, by extraction."""
    said: list[Event] = []
    told = _Teller(ContextSynthesizer(publish=said.append))
    received = QueryReceived(query=run.question, session_id="eval", settings=settings, courses=StoredText(run.courses))
    told.synthesizer.hear(told.place(received))
    for number, made in enumerate(run.rounds, start=1):
        _open(told, said, number, len(run.rounds))
        _round(told, number, made)
    _open(told, said, len(run.rounds) + 1, len(run.rounds))
    return Shown(
        briefings=tuple(event for event in said if isinstance(event, BriefingPrepared)),
        summaries=tuple(event for event in said if isinstance(event, SummaryWanted)),
    )


class _Teller:
    def __init__(self, synthesizer: ContextSynthesizer) -> None:
        self.synthesizer = synthesizer
        self._seq = 0

    def place(self, event: Said) -> Recorded[Said]:
        self._seq += 1
        return Recorded(query_id="eval", seq=self._seq, cause=0, at=0.0, event=event)


def _open(told: _Teller, said: Sequence[Event], number: int, rounds: int) -> None:
    told.synthesizer.hear(told.place(_opened(number, rounds)))
    if isinstance(wanted := said[-1], SummaryWanted):
        told.synthesizer.hear(told.place(_summed_up(wanted)))


def _summed_up(wanted: SummaryWanted) -> SummaryCompleted:
    question, material = (msgspec.json.decode(block.text)["text"] for block in wanted.messages[0].content)
    (block,) = summary(unwrap("question", question) or "", read_material(material))
    return SummaryCompleted(
        call_id=f"{wanted.call_id}-summary",
        for_call=wanted.call_id,
        content=(),
        text=StoredText(block["text"]),
        stop_reason="end_turn",
        usage=Usage(),
        model="offline",
        message_id="msg",
    )


def _opened(number: int, rounds: int) -> RoundOpened:
    final = number > rounds
    return RoundOpened(round=number, call_id=f"call-{number}", final=final, rounds_left=max(0, rounds - number))


def _round(told: _Teller, number: int, made: Sequence[Made]) -> None:
    calls = [
        ToolCall(id=f"toolu_{number}_{at}", name=each.name, arguments=msgspec.json.encode(each.arguments).decode())
        for at, each in enumerate(made)
    ]
    told.synthesizer.hear(told.place(_reply(number, calls)))
    for call in calls:
        told.synthesizer.hear(told.place(ToolRequested(round=number, call=call, timeout_s=5.0)))
    for call, each in zip(calls, made, strict=True):
        told.synthesizer.hear(
            told.place(
                ToolSucceeded(
                    tool_call_id=call.id,
                    name=each.name,
                    output=StoredText(each.output.text),
                    passages=each.output.passages,
                    duration_ms=0.0,
                )
            )
        )
    settled = ToolsSettled(round=number, succeeded=tuple(call.id for call in calls), failed=())
    told.synthesizer.hear(told.place(settled))


def _reply(number: int, calls: Sequence[ToolCall]) -> ReasoningCompleted:
    blocks = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": msgspec.Raw(call.arguments.encode())}
        for call in calls
    ]
    return ReasoningCompleted(
        call_id=f"call-{number}",
        round=number,
        content=tuple(StoredText(msgspec.json.encode(block).decode()) for block in blocks),
        text=StoredText(""),
        tool_calls=tuple(calls),
        citations=(),
        stop_reason="tool_use",
        usage=Usage(),
        model="scripted",
        message_id=f"msg_{number}",
    )
