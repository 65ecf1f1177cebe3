"""Cuts exactly the sources of a good answer, and checks that the query finds another way or names what is missing."""

from __future__ import annotations

from typing import NamedTuple

from antiphon.faults import Checker, Fault, Plan, Run, World, run_plan
from antiphon.faults.plan import When
from antiphon.vocabulary import events as e


class Cut(NamedTuple):
    """One source of the answer, gone: `other_way` says that the new answer still cites something."""

    tool_call: str
    plan: Plan
    other_way: bool
    doubts: tuple[str, ...]
    broken: tuple[str, ...]


def run_without_each_source(world: World, seed: int = 0) -> list[Cut]:
    """Asks the question undisturbed, then once without each tool call that its citations lead back to."""
    good = run_plan(world, Plan(seed=seed))
    used = _used_calls(good)
    checker = Checker(world)
    cuts: list[Cut] = []
    for event in good.events(e.ToolRequested):
        if event.call.id in used:
            when: When = "round_1" if event.round == 1 else "round_2"
            fault = Fault(
                point=f"tool.{event.call.name}", kind="raise", when=when, times=0
            )
            cuts.append(
                _cut(
                    checker,
                    f"{event.call.name} of {when}",
                    Plan(faults=(fault,), seed=seed),
                )
            )
    return cuts


def _used_calls(run: Run) -> set[str]:
    """Returns the tool calls that the answer's citations lead back to."""
    assert run.outcome is not None
    cited = {citation.fact for citation in run.outcome.response.citations}
    used: set[str] = set()
    for event in run.events(e.ContextSynthesized):
        used |= {fact.tool_call_id for fact in event.facts if fact.id in cited}
    return used


def _cut(checker: Checker, call: str, plan: Plan) -> Cut:
    run, broken = checker.run(plan)
    doubts: tuple[str, ...] = ()
    other_way = False
    if run.outcome is not None:
        doubts = tuple(doubt.kind for doubt in run.outcome.response.indicators)
        other_way = bool(run.outcome.response.citations)
    if not doubts:
        broken.append("nothing is said of what is missing")
    return Cut(call, plan, other_way, doubts, tuple(broken))
