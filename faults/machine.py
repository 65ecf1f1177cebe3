"""The random mode: faults come and go while queries are asked one after another and at once; a failure is shrunk.

A hypothesis state machine draws the stories. One seed says all: hypothesis draws from it, the service runs on virtual
time, and nothing is kept between two runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    consumes,
    initialize,
    multiple,
    precondition,
    rule,
)

from antiphon.faults.drawing import AFTER_S, ASKED, Faults
from antiphon.faults.judge import Judge, OpenWorld, differs_again, fresh_world
from antiphon.faults.plan import Fault, Plan
from antiphon.faults.roamed import Roamed
from antiphon.faults.running import Run
from antiphon.faults.stage import Stage
from antiphon.faults.story import Step, Story
from antiphon.vocabulary.errors import ServiceError

MOST_AT_ONCE = 4
MOST_STANDING = 3
MOST_OWN = 4


class BrokenPromiseError(ServiceError):
    """A story broke a promise.

    Attributes:
        story: What was played up to there.
        broken: Each promise that broke, in a sentence.
    """

    code = "broken_promise"

    def __init__(self, story: Story, broken: Sequence[str]) -> None:
        super().__init__("; ".join(broken))
        self.story = story
        self.broken = list(broken)


@dataclass
class Tour:
    """What all machines of a run share.

    Attributes:
        open_world: Makes a world whose traces are in a folder.
        faults: How a fault is drawn.
        told: Hears of each plan that was tried.
    """

    open_world: OpenWorld
    faults: st.SearchStrategy[Fault]
    done: Roamed = field(default_factory=Roamed)
    told: Callable[[Roamed], None] = lambda _: None


_FAULT: st.SearchStrategy[Fault] = st.runner().flatmap(lambda machine: machine.tour.faults)
_OWN: st.SearchStrategy[Faults] = st.lists(_FAULT, max_size=MOST_OWN).map(tuple)


class Roaming(RuleBasedStateMachine):
    """One service, in which faults come and go between queries; every promise is checked after each step."""

    standing = Bundle("standing")

    def __init__(self, tour: Tour) -> None:
        super().__init__()
        self.tour = tour
        self._faults: list[Fault] = []
        self._steps: list[Step] = []
        self._runs: list[list[Run]] = []
        self._twice = False
        self._failed = False
        self._open = ExitStack()
        world = self._open.enter_context(fresh_world(tour.open_world))
        self._stage = self._open.enter_context(Stage(world))
        self._judge = Judge(world)

    @initialize(
        target=standing,
        faults=st.lists(_FAULT, max_size=MOST_STANDING),
        twice=st.sampled_from((False, False, False, True)),
    )
    def begin(self, faults: list[Fault], twice: bool) -> MultipleResults[Fault]:
        """Begins with some faults; some stories are played twice, to see that they come out the same."""
        self._faults += faults
        self._twice = twice
        return multiple(*faults)

    @precondition(lambda machine: len(machine._faults) < MOST_STANDING)
    @rule(target=standing, fault=_FAULT)
    def put_in(self, fault: Fault) -> Fault:
        self._faults.append(fault)
        return fault

    @rule(fault=consumes(standing))
    def take_away(self, fault: Fault) -> None:
        self._faults.remove(fault)

    @rule(asked=ASKED, own=_OWN, after_s=AFTER_S, others=st.lists(st.tuples(ASKED, _OWN), max_size=MOST_AT_ONCE - 1))
    def ask(self, asked: Plan, own: Faults, after_s: float, others: list[tuple[Plan, Faults]]) -> None:
        """One query, or several at once; the standing faults are in the first, and each has faults of its own."""
        plans = (_with(asked, (*self._faults, *own)), *(_with(other, faults) for other, faults in others))
        self._play(Step(at_once=plans, after_s=after_s))

    def teardown(self) -> None:
        """Plays the story again where that was drawn, then lets go of everything."""
        with self._open:
            self.tour.done.stories += 1
            self.tour.told(self.tour.done)
        if self._twice and not self._failed and self._runs:
            differs = differs_again(self.tour.open_world, self._story, self._runs)
            self._blame([differs] if differs else [])

    @property
    def _story(self) -> Story:
        return Story(steps=tuple(self._steps))

    def _play(self, step: Step) -> None:
        self._steps.append(step)
        runs, broken = self._judge.play(self._stage, step)
        self._runs.append(runs)
        self._failed = bool(broken)
        self.tour.done.count(runs)
        self._blame(broken)

    def _blame(self, broken: Sequence[str]) -> None:
        if broken:
            raise BrokenPromiseError(self._story, broken)


def _with(asked: Plan, faults: Faults) -> Plan:
    return Plan(scenario=asked.scenario, seed=asked.seed, faults=faults)
