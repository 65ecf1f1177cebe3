"""Cuts exactly what a good answer rested on, and sees that another way is found or that it is said what is missing."""

from __future__ import annotations

from collections.abc import Iterator

from antiphon.faults.judge import Judge
from antiphon.faults.plan import Fault, Plan
from antiphon.faults.running import Run
from antiphon.faults.stage import run_plan
from antiphon.faults.world import World
from antiphon.vocabulary import events as e
from antiphon.vocabulary.values import Value


class Cut(Value, frozen=True, kw_only=True):
    """One thing that the answer rested on, gone: `other_way` says that the new answer still cites something."""

    tool_call: str
    plan: Plan
    other_way: bool
    doubts: tuple[str, ...]
    broken: tuple[str, ...]


def run_lineage(world: World, seed: int = 0) -> list[Cut]:
    """Runs the question well, then once without each tool call that its citations lead back to."""
    good = run_plan(world, Plan(seed=seed))
    judge = Judge(world)
    return [_cut(judge, call, plan) for call, plan in _plans(good, seed)]


def _plans(good: Run, seed: int) -> Iterator[tuple[str, Plan]]:
    """For each call that an answer's citation leads back to, the plan in which that call brings nothing."""
    assert good.outcome is not None
    cited = {citation.fact for citation in good.outcome.response.citations}
    rounds = [said.event for said in good.trace if isinstance(said.event, e.ContextSynthesized)]
    used = {fact.tool_call_id for event in rounds for fact in event.facts if fact.id in cited}
    for said in good.trace:
        event = said.event
        if isinstance(event, e.ToolRequested) and event.call.id in used:
            when = "round_1" if event.round == 1 else "round_2"
            fault = Fault(point=f"tool.{event.call.name}", kind="raise", when=when, times=0)  # type: ignore[arg-type]
            yield f"{event.call.name} of {when}", Plan(faults=(fault,), seed=seed)


def _cut(judge: Judge, call: str, plan: Plan) -> Cut:
    run, broken = judge.judge(plan)
    doubts = tuple(doubt.kind for doubt in run.outcome.response.indicators) if run.outcome else ()
    if not doubts:
        broken.append("nothing is said of what is missing")
    other_way = run.outcome is not None and bool(run.outcome.response.citations)
    return Cut(tool_call=call, plan=plan, other_way=other_way, doubts=doubts, broken=tuple(broken))
