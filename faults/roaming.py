"""Tries random stories of faults, batch after batch, until one breaks a promise; then makes that one small."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from antiphon.faults.cells import reconnoitre
from antiphon.faults.drawing import faults_among
from antiphon.faults.judge import SAME_TRACE, OpenWorld, fresh_world, judge_story, promise_of
from antiphon.faults.machine import BrokenPromiseError, Roaming, Tour
from antiphon.faults.plan import When
from antiphon.faults.roamed import Roamed
from antiphon.faults.shrinking import smallest
from antiphon.faults.story import Story

BATCH = 20
"""Plans between two looks at the clock; each batch has a seed of its own, made from the one seed."""
STEPS = 8
"""Steps of a story, at most."""


def roam(
    open_world: OpenWorld,
    number: int,
    *,
    examples: int = 0,
    minutes: float = 0.0,
    told: Callable[[Roamed], None] = lambda _: None,
) -> Roamed:
    """Tries random stories until one breaks a promise, or there were enough.

    Args:
        open_world: Makes a world whose traces are in a folder.
        number: The seed; the same one gives the same stories.
        examples: How many stories; 0 is as many as the time allows.
        minutes: For how long no new batch is begun after; 0 is no limit. One of the two must be given.
    """
    began = time.monotonic()
    chance = random.Random(number)
    tour = Tour(open_world, faults_among(_places(open_world)), told=told)
    left = examples
    while (left > 0 or not examples) and (not minutes or time.monotonic() - began < 60 * minutes):
        _try_batch(tour, chance.getrandbits(64), min(BATCH, left) if examples else BATCH)
        if tour.done.story is not None:
            break
        left -= BATCH
    return tour.done


def _places(open_world: OpenWorld) -> list[tuple[str, When]]:
    """Every door that some query passes, in the parts in which one does."""
    with fresh_world(open_world) as world:
        return [("intake", "any"), *reconnoitre(world, 0)]


def _try_batch(tour: Tour, number: int, examples: int) -> None:
    @seed(number)
    def machine() -> Roaming:
        return Roaming(tour)

    try:
        # Its documentation allows a function, its types only a class.
        run_state_machine_as_test(machine, settings=_settings(examples))  # type: ignore[arg-type]
    except BrokenPromiseError as error:
        _shrink(tour, error)


def _shrink(tour: Tour, error: BrokenPromiseError) -> None:
    """Finds the smallest story that breaks one of the promises that this one broke."""
    wanted = set(map(promise_of, error.broken))

    def broken_by(story: Story) -> list[str]:
        return [wrong for wrong in judge_story(tour.open_world, story, twice=twice)[1] if promise_of(wrong) in wanted]

    twice = SAME_TRACE in wanted
    tour.done.again = bool(broken_by(error.story))
    tour.done.story = smallest(error.story, lambda story: bool(broken_by(story))) if tour.done.again else error.story
    tour.done.broken = broken_by(tour.done.story) or error.broken


def _settings(examples: int) -> settings:
    return settings(
        max_examples=examples, stateful_step_count=STEPS, deadline=None, database=None, print_blob=False,
        verbosity=Verbosity.quiet, report_multiple_bugs=False, phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
