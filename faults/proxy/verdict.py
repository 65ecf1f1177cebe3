"""Judges a client's reaction to each fault by its later requests, and makes plans of the faults to try."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Sequence

from antiphon.faults.plan import Fault, Kind, Plan, matches, model_points, point_type
from antiphon.faults.proxy.recording import Exchange, turns
from antiphon.vocabulary.errors import FaultPlanError

NOT_ON_A_WIRE: tuple[Kind, ...] = ("cancel", "block")
"""Kinds of model faults that exist only within our own process."""
_DRAWN = 3
_LATEST = 3


def reactions(exchanges: Iterable[Exchange]) -> list[str]:
    """Describes the client's reaction to each fault that fired."""
    passed = sorted(exchanges, key=lambda exchange: exchange.started)
    return [
        f"{exchange.fault} in call {number}: {_reaction(exchange, passed[number:])}"
        for number, exchange in enumerate(passed, start=1)
        if exchange.fault
    ]


def _reaction(broken: Exchange, later: Sequence[Exchange]) -> str:
    again = [each for each in later if each.request == broken.request]
    went_on = any(turns(each.request) > turns(broken.request) for each in later)
    if again:
        after_s = again[0].started - broken.started - broken.seconds
        times = "once" if len(again) == 1 else f"{len(again)} times"
        did = f"repeated the request {times}, first after {max(after_s, 0):.1f} s"
        return f"{did}, and {'went on' if went_on else 'asked nothing else'}"
    if went_on:
        is_wrong = "model.content" in str(broken.fault)
        return f"went on with {'the wrong reply' if is_wrong else 'what it got'}"
    if later:
        return "asked something else"
    return "asked nothing more"


def check_wire_plan(plan: Plan) -> None:
    """Refuses faults that cannot happen between a client and a model's server.

    Raises:
        FaultPlanError: A fault exists only within our own process.
    """
    for fault in plan.faults:
        passes = fault.point.startswith("model.") and fault.when == "any"
        if not passes or fault.kind in NOT_ON_A_WIRE:
            raise FaultPlanError(
                f"`{fault.kind}` at {fault.point[:60]!r} cannot happen between a client and its model's server: "
                f"faults of `model.` can, without `when`, but for {' and '.join(NOT_ON_A_WIRE)}."
            )


def _wire_kinds(point: str) -> list[Kind]:
    return [kind for kind in point_type(point).kinds if kind not in NOT_ON_A_WIRE]


def drawn_plan(seed: int) -> Plan:
    """Draws a plan of a few faults; the same seed gives the same plan."""
    chance = random.Random(seed)
    faults: list[Fault] = []
    for _ in range(_DRAWN):
        point = chance.choice(model_points("model"))
        kind = chance.choice(_wire_kinds(point))
        nth = chance.randint(1, _LATEST)
        faults.append(Fault(point=point, kind=kind, nth=nth))
    return Plan(faults=tuple(faults))


def single_plans(
    points: Collection[str], calls: int, wanted: Sequence[str] = ("*",)
) -> list[Plan]:
    """Returns a plan for each single fault that a client can meet.

    Args:
        points: The points that it traverses if nothing is broken.
        calls: The number of its model calls then; the first and the last one each get the wrong replies.
        wanted: The points to try; may be patterns.
    """
    faults: list[Fault] = []
    for point in model_points("model"):
        is_wanted = any(matches(point, pattern) for pattern in wanted)
        if point not in points or not is_wanted:
            continue
        for kind in _wire_kinds(point):
            faults.append(Fault(point=point, kind=kind))
            if point == "model.content" and calls > 1:
                faults.append(Fault(point=point, kind=kind, nth=calls))
            if kind == "rate_limit":
                # Sends a `retry-after` too.
                faults.append(Fault(point=point, kind=kind, for_s=1.0))
    return [Plan(faults=(fault,)) for fault in faults]
