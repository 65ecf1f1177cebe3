"""A fault plan is data: which door, which passage through it, what happens there, for how long."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from antiphon.faults.kinds import Kind
from antiphon.vocabulary.events import RoundOpened
from antiphon.vocabulary.values import Value

When = Literal["any", "start", "round_1", "round_2", "final"]
WHENS: tuple[When, ...] = ("start", "round_1", "round_2", "final")
LONGEST_S = 86_400.0


class Fault(Value, frozen=True, kw_only=True):
    """One fault.

    Attributes:
        point: The door, as `antiphon faults list` names it; `*` at its end stands for any ending.
        when: The part of the query in which it may fire; `start` is before the first round.
        nth: The passage through the door (within `when`) at which it fires first, from 1.
        times: How many passages from there on it spoils; 0 is all of them.
        for_s: How long it hangs, is slow or late, in seconds; 0 is what fits the kind.
    """

    point: str
    kind: Kind
    when: When = "any"
    nth: Annotated[int, Meta(ge=1)] = 1
    times: Annotated[int, Meta(ge=0)] = 1
    for_s: Annotated[float, Meta(ge=0, le=LONGEST_S)] = 0.0


class Plan(Value, frozen=True, kw_only=True):
    """What is broken in one query, and which query it is.

    Attributes:
        scenario: What the query is like before anything is broken (faults/scenarios.py).
        seed: Chooses the question and the order in which queries begin.
    """

    faults: tuple[Fault, ...] = ()
    scenario: str = "plain"
    seed: int = 0


def part_of(event: RoundOpened) -> When:
    """The part of a query that an opened round begins."""
    if event.final:
        return "final"
    return "round_1" if event.round == 1 else "round_2"
