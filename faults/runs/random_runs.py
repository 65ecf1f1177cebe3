"""The random mode: faults come and go during queries one after another and at once; shrinks any failure.

A hypothesis state machine draws the experiments. One seed determines everything: hypothesis draws from it, the service
runs on virtual time, and no state is kept between runs. Only this file needs hypothesis.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import starmap

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
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
    run_state_machine_as_test,
)

from antiphon.faults.plan import (
    Experiment,
    Fault,
    Kind,
    Plan,
    PointType,
    Step,
    When,
    point_type,
)
from antiphon.faults.results import RandomReport, Run
from antiphon.faults.runs.cells import reconnoitre
from antiphon.faults.runs.checking import (
    SAME_TRACE,
    Checker,
    OpenWorld,
    fresh_world,
    promise_of,
    rerun_difference,
    run_experiment,
    smallest,
)
from antiphon.faults.runs.service import ServiceUnderTest
from antiphon.faults.runs.world import QUESTIONS
from antiphon.faults.scenarios import SCENARIOS
from antiphon.vocabulary.errors import ServiceError

BATCH = 20
"""Experiments between two checks of the time; each batch has its own seed, derived from the one seed."""
STEPS = 8
"""Most steps of an experiment."""
MOST_AT_ONCE = 4
MOST_STANDING = 3
MOST_OWN = 4

# A value listed several times is drawn more often: most faults should fire at once and pass soon.
_AFTER_S = st.sampled_from((0.0, 0.0, 0.0, 1.0, 31.0, 400.0))
_NTH = st.sampled_from((1, 1, 1, 2, 3, 5))
_TIMES = st.sampled_from((1, 1, 2, 0))
# Values on both sides of a call's timeout (10 s), a circuit's rest (30 s) and the deadline (60 s).
_FOR_S = st.sampled_from((0.0, 0.1, 1.0, 6.0, 12.0, 31.0, 400.0))
_TWICE = st.sampled_from((False, False, False, True))
_ASKED = st.builds(
    Plan,
    scenario=st.sampled_from(tuple(SCENARIOS)),
    seed=st.sampled_from(range(2 * len(QUESTIONS))),
)

Place = tuple[str, When]
"""A point, and a part of the query in which a query traverses it."""
Faults = tuple[Fault, ...]


class BrokenPromiseError(ServiceError):
    """An experiment broke a promise.

    Attributes:
        experiment: The experiment up to there.
        broken: Each promise that broke, in a sentence.
    """

    code = "broken_promise"

    def __init__(self, experiment: Experiment, broken: Sequence[str]) -> None:
        super().__init__("; ".join(broken))
        self.experiment = experiment
        self.broken = list(broken)


@dataclass
class Campaign:
    """The settings and the report that all experiments of a random run share.

    Attributes:
        faults: Draws a fault.
        on_experiment: Called with the report after each experiment.
    """

    open_world: OpenWorld
    faults: st.SearchStrategy[Fault]
    report: RandomReport = field(default_factory=RandomReport)
    on_experiment: Callable[[RandomReport], None] = lambda _: None


_FAULT: st.SearchStrategy[Fault] = st.runner().flatmap(
    lambda machine: machine.campaign.faults
)
_OWN: st.SearchStrategy[Faults] = st.lists(_FAULT, max_size=MOST_OWN).map(tuple)


class RandomExperiment(RuleBasedStateMachine):
    """One service in which faults come and go between queries, with all promises checked after each step."""

    standing = Bundle("standing")

    def __init__(self, campaign: Campaign) -> None:
        super().__init__()
        self.campaign = campaign
        self._faults: list[Fault] = []
        self._steps: list[Step] = []
        self._runs: list[list[Run]] = []
        self._twice = False
        self._failed = False
        self._open = ExitStack()
        world = self._open.enter_context(fresh_world(campaign.open_world))
        self._service = self._open.enter_context(ServiceUnderTest(world))
        self._checker = Checker(world)

    @initialize(
        target=standing, faults=st.lists(_FAULT, max_size=MOST_STANDING), twice=_TWICE
    )
    def begin(self, faults: list[Fault], twice: bool) -> MultipleResults[Fault]:
        """Begins with some faults; runs some experiments twice, to check that they have the same result."""
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

    @rule(
        asked=_ASKED,
        own=_OWN,
        after_s=_AFTER_S,
        others=st.lists(st.tuples(_ASKED, _OWN), max_size=MOST_AT_ONCE - 1),
    )
    def ask(
        self,
        asked: Plan,
        own: Faults,
        after_s: float,
        others: list[tuple[Plan, Faults]],
    ) -> None:
        """Asks one query, or several at once; the first has the lasting faults, and each has faults of its own."""
        plans = [_with_faults(asked, (*self._faults, *own))]
        plans += starmap(_with_faults, others)
        self._run(Step(at_once=tuple(plans), after_s=after_s))

    def teardown(self) -> None:
        """Closes everything, and reruns the experiment if that was drawn."""
        with self._open:
            self.campaign.report.experiments += 1
            self.campaign.on_experiment(self.campaign.report)
        if self._twice and not self._failed and self._runs:
            differs = rerun_difference(
                self.campaign.open_world, self._experiment, self._runs
            )
            if differs:
                raise BrokenPromiseError(self._experiment, [differs])

    @property
    def _experiment(self) -> Experiment:
        return Experiment(steps=tuple(self._steps))

    def _run(self, step: Step) -> None:
        self._steps.append(step)
        runs, broken = self._checker.run_step(self._service, step)
        self._runs.append(runs)
        self.campaign.report.count(runs)
        if broken:
            self._failed = True
            raise BrokenPromiseError(self._experiment, broken)


def _with_faults(asked: Plan, faults: Faults) -> Plan:
    return Plan(scenario=asked.scenario, seed=asked.seed, faults=faults)


def run_random(
    open_world: OpenWorld,
    number: int,
    *,
    examples: int = 0,
    minutes: float = 0.0,
    on_experiment: Callable[[RandomReport], None] = lambda _: None,
) -> RandomReport:
    """Runs random experiments until one breaks a promise or there have been enough.

    Args:
        number: The seed; the same seed gives the same experiments.
        examples: The number of experiments; 0: as many as the time allows.
        minutes: The time in which new batches may begin; 0: no limit. One of the two must be given.
        on_experiment: Called with the report after each experiment.
    """
    began = time.monotonic()
    chance = random.Random(number)
    campaign = Campaign(
        open_world, draw_faults(_places(open_world)), on_experiment=on_experiment
    )
    left = examples
    while campaign.report.failing is None:
        if examples and left <= 0:
            break
        if minutes and time.monotonic() - began >= 60 * minutes:
            break
        size = min(BATCH, left) if examples else BATCH
        # Batches draw their seeds from the one seed, so that a time limit does not change the experiments before it.
        _run_batch(campaign, chance.getrandbits(64), size)
        left -= BATCH
    return campaign.report


def _places(open_world: OpenWorld) -> list[Place]:
    """Lists the points that some query traverses, with the parts of the query."""
    with fresh_world(open_world) as world:
        return [("intake", "any"), *reconnoitre(world, 0)]


def draw_faults(places: Collection[Place]) -> st.SearchStrategy[Fault]:
    """Draws any fault at these places, with all types of points equally likely."""
    types: dict[PointType, list[Place]] = {}
    for point, when in sorted(places):
        types.setdefault(point_type(point), []).append((point, when))
    drawn = [
        st.builds(
            _fault,
            place=st.sampled_from(found),
            anywhere=st.booleans(),
            kind=st.sampled_from(_kinds_of(known)),
            nth=_NTH,
            times=_TIMES,
            for_s=_FOR_S,
        )
        for known, found in types.items()
    ]
    return st.one_of(drawn)


def _kinds_of(points: PointType) -> list[Kind]:
    # A long block of the loop would delay the other queries past their own limits, and nothing could be compared.
    return [kind for kind in points.kinds if kind != "block"]


def _fault(
    place: Place, anywhere: bool, kind: Kind, nth: int, times: int, for_s: float
) -> Fault:
    point, when = place
    if anywhere:
        when = "any"
    return Fault(point=point, kind=kind, when=when, nth=nth, times=times, for_s=for_s)


def _run_batch(campaign: Campaign, number: int, examples: int) -> None:
    @seed(number)
    def machine() -> RandomExperiment:
        return RandomExperiment(campaign)

    # Hypothesis only draws here: it can shrink single values, but `smallest` knows the structure of an experiment.
    drawing = settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        deadline=None,
        # No state between runs, so that the seed alone decides.
        database=None,
        print_blob=False,
        verbosity=Verbosity.quiet,
        report_multiple_bugs=False,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    try:
        # The documentation allows a function, the types only a class.
        run_state_machine_as_test(machine, settings=drawing)  # type: ignore[arg-type]
    except BrokenPromiseError as error:
        _shrink(campaign, error)


def _shrink(campaign: Campaign, error: BrokenPromiseError) -> None:
    """Finds the smallest experiment that breaks one of the same promises."""
    wanted = set(map(promise_of, error.broken))

    def broken_by(experiment: Experiment) -> list[str]:
        # Only the promise of the same result needs a second run to show that it is broken.
        _, broken = run_experiment(
            campaign.open_world, experiment, twice=SAME_TRACE in wanted
        )
        return [wrong for wrong in broken if promise_of(wrong) in wanted]

    def fails(experiment: Experiment) -> bool:
        return bool(broken_by(experiment))

    report = campaign.report
    report.failing = error.experiment
    report.reproduced = fails(error.experiment)
    if report.reproduced:
        report.failing = smallest(error.experiment, fails)
    # A failure that cannot be reproduced is reported as found.
    report.broken = broken_by(report.failing) or error.broken
