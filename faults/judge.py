"""Holds what was run against the promises."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from antiphon.faults.invariants import broken_promises
from antiphon.faults.plan import Plan
from antiphon.faults.running import Run
from antiphon.faults.sameness import same_trace
from antiphon.faults.stage import Stage, run_plan
from antiphon.faults.story import Step, Story
from antiphon.faults.world import World
from antiphon.vocabulary.errors import ServiceError
from antiphon.vocabulary.events import Event, Recorded

OpenWorld = Callable[[Path], World]
SAME_TRACE = "the same plan gave another trace"
_PLACE = re.compile(r"(step \d+: )?(query \d+: )?")


def promise_of(wrong: str) -> str:
    """The promise that a sentence of the judge is about, without the place and the particulars."""
    return wrong[_PLACE.match(wrong).end() :].partition(":")[0]  # type: ignore[union-attr]  # it fits any text


class Judge:
    """Runs plans against the promises; knows how the neighbour's trace looks when nothing is broken."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._unbroken: dict[int, Sequence[Recorded[Event]]] = {}

    def judge(self, plan: Plan, *, twice: bool = False) -> tuple[Run, list[str]]:
        """The run of a plan, and each promise that it breaks.

        Args:
            twice: Runs it again and compares the traces.
        """
        run = run_plan(self._world, plan)
        broken = self.broken_in([run])
        if twice and (differs := same_trace(run.trace, run_plan(self._world, plan).trace)):
            broken.append(f"{SAME_TRACE}: {differs}")
        return run, broken

    def play(self, stage: Stage, step: Step) -> tuple[list[Run], list[str]]:
        """The runs of one step of a story, and each promise that they break."""
        try:
            runs = stage.play(step)
        except (ServiceError, RuntimeError, AssertionError, LookupError, TypeError, ValueError) as error:
            return [], [f"the run itself failed: {type(error).__name__}: {error}"]
        return runs, self.broken_in(runs)

    def broken_in(self, runs: Sequence[Run]) -> list[str]:
        """Each promise that the runs of one step break."""
        several = len(runs) > 1
        broken = [
            f"query {number}: {wrong}" if several else wrong
            for number, run in enumerate(runs, start=1)
            for wrong in broken_promises(run)
        ]
        differs = same_trace(self._neighbour(runs[0].plan.seed), runs[0].neighbour)
        return [*broken, f"the query beside it changed: {differs}"] if differs else broken

    def _neighbour(self, seed: int) -> Sequence[Recorded[Event]]:
        if seed not in self._unbroken:
            self._unbroken[seed] = run_plan(self._world, Plan(seed=seed)).neighbour
        return self._unbroken[seed]


def judge_story(open_world: OpenWorld, story: Story, *, twice: bool = False) -> tuple[list[list[Run]], list[str]]:
    """The runs of a story, by steps, and each promise that one of them breaks.

    Args:
        open_world: Makes a world whose traces are in a folder; the story is played in one that knows nothing before.
        twice: Plays it again in another world and compares the traces.
    """
    steps: list[list[Run]] = []
    broken: list[str] = []
    with fresh_world(open_world) as world, Stage(world) as stage:
        judge = Judge(world)
        for number, step in enumerate(story.steps, start=1):
            runs, wrong = judge.play(stage, step)
            steps.append(runs)
            broken += [f"step {number}: {each}" if len(story.steps) > 1 else each for each in wrong]
    if twice and not broken and (differs := differs_again(open_world, story, steps)):
        broken.append(differs)
    return steps, broken


def differs_again(open_world: OpenWorld, story: Story, steps: Sequence[Sequence[Run]]) -> str:
    """Plays a story again in a world of its own; where its traces are not those of `steps`, or an empty text."""
    again, _ = judge_story(open_world, story)
    for runs, others in zip(steps, again, strict=True):
        for run, other in zip(runs, others, strict=False):
            if differs := same_trace(run.trace, other.trace):
                return f"{SAME_TRACE}: {differs}"
    return ""


@contextmanager
def fresh_world(open_world: OpenWorld) -> Iterator[World]:
    """A world whose traces are gone at its end."""
    with tempfile.TemporaryDirectory() as folder, closing(open_world(Path(folder))) as world:
        yield world
