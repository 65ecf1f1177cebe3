"""The notes that end a briefing: what was tried, what was said, what is open, and which round this is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import msgspec

from antiphon.language.markup import Attempt, wrap, write_attempts, write_review
from antiphon.synthesizer import intent, reasoning, summary
from antiphon.synthesizer.memory import Memory
from antiphon.synthesizer.shortening import shorten
from antiphon.synthesizer.tokens import tokens_of
from antiphon.synthesizer.usage import ToolUsage, Tried, arguments_of, facts_of
from antiphon.vocabulary.events import RoundOpened
from antiphon.vocabulary.values import Dropped, Value

MOST_SHARE = 0.5
"""The notes' most share of a briefing's budget: the rest is the facts'."""
OUTGROWN = "the notes had outgrown their share of the budget"
DETAIL_CHARS = 300
ARGUMENT_CHARS = 300
NAME_CHARS = 100
MOST_ARGUMENTS = 12
MOST_TWINS = 3
_OUTCOMES: dict[str, Literal["found", "nothing", "failed", "repeated"]] = {
    "found": "found",
    "nothing": "nothing",
    "failed": "failed",
    "repeated": "repeated",
}

T = TypeVar("T")


class Notes(Value, frozen=True, kw_only=True):
    """The tags of the last block, and what did not fit among them.

    Attributes:
        summary: The summarising call whose text stands among them; empty where none does.
    """

    text: str
    summary: str = ""
    dropped: tuple[Dropped, ...] = ()


def write_notes(memory: Memory, opened: RoundOpened, numbers: Mapping[str, int]) -> Notes:
    """The notes for the call of `opened`, whose request numbers its facts by `numbers` (fact id to 1, 2, …).

    Where they outgrow their share of the budget, the oldest words of the model go first, then the oldest attempts.
    """
    twins = {fact.id: fact.passage.source for fact in memory.facts.known if fact.like is not None}
    attempts = [_attempt(memory.usage, tried, numbers, twins) for tried in memory.usage.settled]
    fixed = [_open_tag(memory) if attempts else "", write_review(opened.note), _round_tag(opened)]
    room = most_tokens(memory) - sum(map(tokens_of, fixed)) - 2  # the tags' line breaks
    summed = _summary_tag(memory, room)
    room -= tokens_of(summed)
    tried = _newest([_Line(a.round, a, tokens_of(write_attempts((a,)))) for a in attempts], room)
    lines = reasoning.lines(memory.reasoning)
    said = _newest([_Line(n, line, tokens_of(wrap("reasoning", line))) for n, line in lines], tried.room)
    tags = [
        write_attempts(tuple(line.content for line in tried.kept)) if tried.kept else "",
        wrap("reasoning", "\n".join(line.content for line in said.kept)) if said.kept else "",
        summed,
        *fixed,
    ]
    gone = [(line.round, line.tokens) for line in said.gone] + [(line.round, line.tokens) for line in tried.gone]
    dropped = tuple(Dropped(what=f"round {number} notes", why=OUTGROWN, tokens=tokens) for number, tokens in gone)
    newest = memory.summaries.newest
    return Notes(
        text="\n".join(tag for tag in tags if tag), summary=newest.call_id if newest and summed else "", dropped=dropped
    )


def most_tokens(memory: Memory) -> int:
    """The most that notes may take."""
    return int(memory.settings.briefing_tokens * MOST_SHARE)


@dataclass(frozen=True)
class _Line(Generic[T]):
    round: int
    content: T
    tokens: int


@dataclass(frozen=True)
class _Chosen(Generic[T]):
    kept: list[_Line[T]]
    gone: list[_Line[T]]
    room: int


def _newest(lines: Sequence[_Line[T]], room: int) -> _Chosen[T]:
    """The last of `lines` that fit into `room` tokens, without gaps."""
    first_kept = len(lines)
    while first_kept and lines[first_kept - 1].tokens <= room:
        first_kept -= 1
        room -= lines[first_kept].tokens
    return _Chosen(kept=list(lines[first_kept:]), gone=list(lines[:first_kept]), room=room)


def _attempt(usage: ToolUsage, tried: Tried, numbers: Mapping[str, int], twins: Mapping[str, str]) -> Attempt:
    return Attempt(
        round=tried.round,
        tool=shorten(tried.tool, NAME_CHARS),
        arguments=_short_arguments(tried.arguments),
        outcome=_OUTCOMES.get(tried.outcome, "failed"),
        facts=tuple(numbers[id_] for id_ in facts_of(usage, tried) if id_ in numbers),
        detail=_detail(tried, numbers, twins),
    )


def _short_arguments(written: str) -> dict[str, object]:
    """The arguments, with what is long or nested made one short line: the model may write anything."""
    shown = list(arguments_of(written).items())[:MOST_ARGUMENTS]
    return {shorten(name, NAME_CHARS): _short_value(value) for name, value in shown}


def _short_value(value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    return shorten(value if isinstance(value, str) else msgspec.json.encode(value).decode(), ARGUMENT_CHARS)


def _detail(tried: Tried, numbers: Mapping[str, int], twins: Mapping[str, str]) -> str:
    """The substitute, the error, and who says nearly the same as a result that is shown.

    The last stands here and not in the result's title, for a block once made must not change.
    """
    answered = f"answered by {shorten(tried.substitute, NAME_CHARS)}" if tried.substitute else ""
    told = [
        f"{shorten(twins[id_], NAME_CHARS)} says nearly the same as result {numbers[id_]}"
        for id_ in tried.new_facts
        if id_ in twins and id_ in numbers
    ]
    return ". ".join(part for part in (answered, shorten(tried.detail, DETAIL_CHARS), *told[:MOST_TWINS]) if part)


def _summary_tag(memory: Memory, room: int) -> str:
    most = min(room, summary.most_tokens(memory.settings.briefing_tokens))
    return summary.summary_tag(memory.summaries.newest, most)


def _open_tag(memory: Memory) -> str:
    parts = intent.open_parts(memory.intent)
    return wrap("open", "\n".join(parts)) if parts else ""


def _round_tag(opened: RoundOpened) -> str:
    if opened.final:
        return wrap("round", "Final answer: no tools.")
    return wrap("round", f"Round {opened.round} of {opened.round + opened.rounds_left}: tools may be used.")
