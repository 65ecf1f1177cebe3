"""Fault plans from YAML and JSON and back, and what is refused in them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import yaml

from antiphon.faults.plan import Fault, Plan
from antiphon.faults.scenarios import SCENARIOS
from antiphon.faults.seams import seam_of
from antiphon.vocabulary.errors import FaultPlanError
from antiphon.vocabulary.values import Value

MOST_FAULTS = 50


def plan_of(data: object) -> Plan:
    """The plan that a decoded JSON or YAML value says.

    Raises:
        FaultPlanError: It is none, or asks a door for a kind that it does not know; the message names what is wrong.
    """
    try:
        plan = msgspec.convert(data, Plan)
    except msgspec.ValidationError as error:
        raise FaultPlanError(f"This is no fault plan ({error}): see docs/faults.md.") from error
    refuse_senseless(plan)
    return plan


def refuse_senseless(plan: Plan) -> None:
    """Raises FaultPlanError for a plan that is well formed and says what cannot be done."""
    if len(plan.faults) > MOST_FAULTS:
        raise FaultPlanError(f"A fault plan may hold {MOST_FAULTS} faults, this one holds {len(plan.faults)}.")
    if plan.scenario not in SCENARIOS:
        raise FaultPlanError(f"There is no scenario {plan.scenario!r}; there are {', '.join(SCENARIOS)}.")
    for fault in plan.faults:
        _check_door(fault)


def _check_door(fault: Fault) -> None:
    """Refuses a door that there cannot be, and a kind of fault that its door does not know."""
    point, seam = fault.point, seam_of(fault.point)
    if not seam.prefix and "." not in point and not point.endswith("*"):
        raise FaultPlanError(f"There is no point {point[:60]!r}: `antiphon faults list` names them all.")
    if seam.prefix and not point.endswith("*") and fault.kind not in seam.kinds:
        known = ", ".join(seam.kinds)
        raise FaultPlanError(f"`{fault.kind}` cannot happen at {point[:60]!r} ({seam.why_not}): it knows {known}.")


def read_data(path: Path) -> object:
    """What a YAML or JSON file holds.

    Raises:
        FaultPlanError: The file cannot be read.
    """
    try:
        data: object = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        said = " ".join(str(error).split())
        raise FaultPlanError(f"{path} cannot be read as a fault plan: {said}") from error
    return data


def read_plan(path: Path) -> Plan:
    """The plan of a file, YAML or JSON (which is YAML too).

    Raises:
        FaultPlanError: The file cannot be read, or holds no plan.
    """
    return plan_of(read_data(path))


def write_plan(plan: Plan) -> str:
    """The plan as YAML, without what goes without saying."""
    return yaml.safe_dump(written(plan), sort_keys=False)


def written(plan: Plan) -> dict[str, object]:
    """The plan as plain values, without what goes without saying."""
    return bare(plan) | {"faults": [bare(fault) for fault in plan.faults]}


def bare(value: Value) -> dict[str, object]:
    """The fields of a value that are not what they are by default."""
    defaults = {field.name: field.default for field in msgspec.structs.fields(value)}
    fields: dict[str, object] = msgspec.to_builtins(value)
    return {name: told for name, told in fields.items() if told != defaults[name]}


def short(fault: Fault) -> str:
    """The fault as `--fault` takes it: point, kind and part; its other fields are left out."""
    return ":".join((fault.point, fault.kind, fault.when))


def fault_of(text: str) -> Fault:
    """The fault that POINT:KIND or POINT:KIND:WHEN says.

    Raises:
        FaultPlanError: It says none.
    """
    parts = dict(zip(("point", "kind", "when"), text.split(":"), strict=False))
    if len(parts) < 2 or text.count(":") > 2:
        raise FaultPlanError(f"A fault is written POINT:KIND or POINT:KIND:WHEN, found {text!r}.")
    return plan_of({"faults": [parts]}).faults[0]
