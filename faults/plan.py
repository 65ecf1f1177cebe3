"""A fault plan is data: which door, which passage through it, what happens there, for how long."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
import yaml

from faults.kinds import Kind
from faults.seams import seam_of
from vocabulary.errors import FaultPlanError
from vocabulary.events import RoundOpened
from vocabulary.values import Value

When = Literal["any", "start", "round_1", "round_2", "final"]
WHENS: tuple[When, ...] = ("start", "round_1", "round_2", "final")
MOST_FAULTS = 50


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
    nth: Annotated[int, msgspec.Meta(ge=1)] = 1
    times: Annotated[int, msgspec.Meta(ge=0)] = 1
    for_s: Annotated[float, msgspec.Meta(ge=0.0, le=86_400.0)] = 0.0


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


def plan_of(data: object) -> Plan:
    """The plan that a decoded JSON or YAML value says.

    Raises:
        FaultPlanError: It is none; the message names the field.
    """
    try:
        plan = msgspec.convert(data, Plan)
    except msgspec.ValidationError as error:
        raise FaultPlanError(f"This is no fault plan ({error}): see docs/faults.md.") from error
    if len(plan.faults) > MOST_FAULTS:
        raise FaultPlanError(f"A fault plan may hold {MOST_FAULTS} faults, this one holds {len(plan.faults)}.")
    for fault in plan.faults:
        _check_door(fault)
    return plan


def _check_door(fault: Fault) -> None:
    """Refuses a door that there cannot be, and a kind of fault that its door does not know."""
    point, seam = fault.point, seam_of(fault.point)
    if not seam.prefix and "." not in point and not point.endswith("*"):
        raise FaultPlanError(f"There is no point {point[:60]!r}: `antiphon faults list` names them all.")
    if seam.prefix and not point.endswith("*") and fault.kind not in seam.kinds:
        known = ", ".join(seam.kinds)
        raise FaultPlanError(f"`{fault.kind}` cannot happen at {point[:60]!r} ({seam.why_not}): it knows {known}.")


def read_plan(path: Path) -> Plan:
    """The plan of a file, YAML or JSON (which is YAML too).

    Raises:
        FaultPlanError: The file cannot be read, or holds no plan.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise FaultPlanError(f"{path} cannot be read as a fault plan: {error}") from error
    return plan_of(data)


def write_plan(plan: Plan) -> str:
    """The plan as YAML, without what goes without saying."""
    faults = [_shown(msgspec.to_builtins(fault), Fault) for fault in plan.faults]
    return yaml.safe_dump(_shown(msgspec.to_builtins(plan), Plan) | {"faults": faults}, sort_keys=False)


def _shown(fields: dict[str, object], kind: type[msgspec.Struct]) -> dict[str, object]:
    defaults = {field.name: field.default for field in msgspec.structs.fields(kind)}
    return {name: value for name, value in fields.items() if value != defaults[name]}
