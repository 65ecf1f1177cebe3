"""A two-round run played to the real synthesizer, event by event, without any model: its replies are scripted."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from antiphon.engine.offline.answering import summary
from antiphon.language.markup import read_material, unwrap
from antiphon.synthesizer import ContextSynthesizer
from antiphon.vocabulary.events import (
    RULES,
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


class RunCall(Value, frozen=True, kw_only=True):
    """One tool call of a run, and its result."""

    name: str
    arguments: dict[str, str | int]
    output: ToolOutput

    @property
    def arguments_json(self) -> str:
        return msgspec.json.encode(self.arguments).decode()


class Run(Value, frozen=True, kw_only=True):
    """One question, the calls of its two rounds, and the sentences that its answer needs."""

    question: str
    rounds: tuple[tuple[RunCall, ...], ...]
    gold: tuple[str, ...]
    courses: str = ""


class Contexts(Value, frozen=True, kw_only=True):
    """The messages that the calls of a run see: the three that reason, and those that sum up."""

    briefings: tuple[BriefingPrepared, ...]
    summaries: tuple[SummaryWanted, ...] = ()


def contexts_of(run: Run, settings: QuerySettings) -> Contexts:
    """Plays a run; summaries are the offline reasoner's, by extraction."""
    player = _Player()
    player.play(
        QueryReceived(
            query=run.question,
            session_id="eval",
            settings=settings,
            courses=StoredText(run.courses),
            rules=RULES,
        )
    )
    rounds = len(run.rounds)
    for number, calls in enumerate(run.rounds, start=1):
        player.open_round(number, rounds)
        player.call_tools(number, calls)
    # The final call, which has no tools.
    player.open_round(rounds + 1, rounds)
    briefings = []
    summaries = []
    for event in player.published:
        if isinstance(event, BriefingPrepared):
            briefings.append(event)
        elif isinstance(event, SummaryWanted):
            summaries.append(event)
    return Contexts(briefings=tuple(briefings), summaries=tuple(summaries))


class _Player:
    """The synthesizer with a list as its bus, and the numbering of the events that it hears."""

    def __init__(self) -> None:
        self.published: list[Event] = []
        self._synthesizer = ContextSynthesizer(publish=self.published.append)
        self._seq = 0

    def play(self, event: Event) -> None:
        self._seq += 1
        self._synthesizer.hear(
            Recorded(query_id="eval", seq=self._seq, cause=0, at=0.0, event=event)
        )

    def open_round(self, number: int, rounds: int) -> None:
        opened = RoundOpened(
            round=number,
            call_id=f"call-{number}",
            final=number > rounds,
            rounds_left=max(0, rounds - number),
        )
        self.play(opened)
        # A briefing that wants a summary waits for it.
        last = self.published[-1]
        if isinstance(last, SummaryWanted):
            self.play(_summarised(last))

    def call_tools(self, number: int, run_calls: Sequence[RunCall]) -> None:
        calls = []
        for position, run_call in enumerate(run_calls):
            call_id = f"toolu_{number}_{position}"
            calls.append(
                ToolCall(
                    id=call_id, name=run_call.name, arguments=run_call.arguments_json
                )
            )
        self.play(_reply(number, calls))
        for call in calls:
            self.play(ToolRequested(round=number, call=call, timeout_s=5.0))
        for call, run_call in zip(calls, run_calls, strict=True):
            succeeded = ToolSucceeded(
                tool_call_id=call.id,
                name=run_call.name,
                output=StoredText(run_call.output.text),
                passages=run_call.output.passages,
                duration_ms=0.0,
            )
            self.play(succeeded)
        self.play(
            ToolsSettled(
                round=number, succeeded=tuple(call.id for call in calls), failed=()
            )
        )


def _summarised(wanted: SummaryWanted) -> SummaryCompleted:
    # The request of a summary is one message of two blocks.
    question, material = [
        msgspec.json.decode(block.text)["text"] for block in wanted.messages[0].content
    ]
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


def _reply(number: int, calls: Sequence[ToolCall]) -> ReasoningCompleted:
    content = []
    for call in calls:
        # Raw, so that the arguments stay as they were written.
        block = {
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": msgspec.Raw(call.arguments.encode()),
        }
        content.append(StoredText(msgspec.json.encode(block).decode()))
    return ReasoningCompleted(
        call_id=f"call-{number}",
        round=number,
        content=tuple(content),
        text=StoredText(""),
        tool_calls=tuple(calls),
        citations=(),
        stop_reason="tool_use",
        usage=Usage(),
        model="scripted",
        message_id=f"msg_{number}",
    )
