"""Reads and writes fault plans and experiments as YAML and JSON, and refuses senseless ones."""

from __future__ import annotations

from pathlib import Path

import msgspec
import yaml

from antiphon.faults.plan import Experiment, Fault, Plan, point_type
from antiphon.faults.scenarios import SCENARIOS
from antiphon.vocabulary.errors import BadInputError, FaultPlanError
from antiphon.vocabulary.typed import prepared
from antiphon.vocabulary.values import Value

MOST_FAULTS = 50
"""A bound for services that accept plans from callers, because every traversal costs time for each fault."""
MOST_QUERIES = 100
"""The random mode itself makes at most eight steps of four queries."""
_FAULT_FIELDS = ("point", "kind", "when")


def parse_plan(data: object) -> Plan:
    """Reads a plan from a decoded JSON or YAML value.

    Raises:
        FaultPlanError: It is not a plan, or has a kind that its point does not know; the message names the mistake.
    """
    try:
        plan = msgspec.convert(data, prepared(Plan))
    except msgspec.ValidationError as error:
        raise FaultPlanError(
            f"This is no fault plan ({error}): see docs/faults.md."
        ) from error
    _refuse_senseless(plan)
    return plan


def _refuse_senseless(plan: Plan) -> None:
    """Raises FaultPlanError for a well-formed plan that cannot be carried out."""
    if len(plan.faults) > MOST_FAULTS:
        raise FaultPlanError(
            f"A fault plan may hold {MOST_FAULTS} faults, this one holds {len(plan.faults)}."
        )
    if plan.scenario not in SCENARIOS:
        raise FaultPlanError(
            f"There is no scenario {plan.scenario!r}; there are {', '.join(SCENARIOS)}."
        )
    for fault in plan.faults:
        _check_point(fault)


def _check_point(fault: Fault) -> None:
    """Refuses an impossible point, and a kind of fault that its point does not know."""
    # A pattern may match points of several types, only some of which know the kind.
    if fault.point.endswith("*"):
        return
    known = point_type(fault.point)
    if not known.prefix:
        # It may be a method of a port that is not described here.
        if "." in fault.point:
            return
        raise FaultPlanError(
            f"There is no point {fault.point[:60]!r}: `antiphon faults list` names them all."
        )
    if fault.kind not in known.kinds:
        raise FaultPlanError(
            f"`{fault.kind}` cannot happen at {fault.point[:60]!r} ({known.why_not}): "
            f"it knows {', '.join(known.kinds)}."
        )


def parse_experiment(data: object) -> Experiment:
    """Reads an experiment from a decoded JSON or YAML value; a plan is an experiment of one query.

    Raises:
        BadInputError: It is not an experiment; the message names the field.
    """
    if not isinstance(data, dict) or "steps" not in data:
        return Experiment.of(parse_plan(data))
    try:
        experiment = msgspec.convert(data, prepared(Experiment))
    except msgspec.ValidationError as error:
        raise BadInputError(
            f"This is no experiment with faults ({error}): see docs/faults.md."
        ) from error
    plans = experiment.plans
    fewest = min((len(step.at_once) for step in experiment.steps), default=0)
    if fewest == 0 or len(plans) > MOST_QUERIES:
        raise BadInputError(
            f"An experiment has 1 to {MOST_QUERIES} queries, at least one in each step."
        )
    for plan in plans:
        _refuse_senseless(plan)
    return experiment


def parse_fault(text: str) -> Fault:
    """Reads a fault from POINT:KIND or POINT:KIND:WHEN.

    Raises:
        FaultPlanError: The text has neither form.
    """
    words = text.split(":")
    if not 2 <= len(words) <= len(_FAULT_FIELDS):
        raise FaultPlanError(
            f"A fault is written POINT:KIND or POINT:KIND:WHEN, found {text!r}."
        )
    # Not strict, because the part may be left out.
    fields = dict(zip(_FAULT_FIELDS, words, strict=False))
    plan = parse_plan({"faults": [fields]})
    return plan.faults[0]


def short(fault: Fault) -> str:
    """Writes the fault in the form of `--fault`: point, kind and part, without its other fields."""
    return f"{fault.point}:{fault.kind}:{fault.when}"


def read_plan(path: Path) -> Plan:
    """Reads a plan from a file: YAML or JSON (which is YAML too).

    Raises:
        FaultPlanError: The file cannot be read, or holds no plan.
    """
    return parse_plan(_read_data(path))


def read_experiment(path: Path) -> Experiment:
    """Reads an experiment or a plan from a file: YAML or JSON (which is YAML too).

    Raises:
        BadInputError: The file cannot be read, or holds neither.
    """
    return parse_experiment(_read_data(path))


def _read_data(path: Path) -> object:
    try:
        data: object = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        # An error of YAML has many lines, but a refusal is one sentence.
        why = " ".join(str(error).split())
        raise FaultPlanError(f"{path} cannot be read as a fault plan: {why}") from error
    return data


def write_plan(plan: Plan) -> str:
    """Writes the plan as YAML, without fields that have their default values."""
    return yaml.safe_dump(_plan_fields(plan), sort_keys=False)


def write_experiment(experiment: Experiment) -> str:
    """Writes the experiment as YAML, or as a plan if it is a single query."""
    single = experiment.single_plan
    if single is not None:
        return write_plan(single)
    steps: list[dict[str, object]] = []
    for step in experiment.steps:
        queries = list(map(_plan_fields, step.at_once))
        steps.append(_changed_fields(step) | {"at_once": queries})
    return yaml.safe_dump({"steps": steps}, sort_keys=False)


def _plan_fields(plan: Plan) -> dict[str, object]:
    faults = list(map(_changed_fields, plan.faults))
    return _changed_fields(plan) | {"faults": faults}


def _changed_fields(value: Value) -> dict[str, object]:
    """Returns the fields of a value that differ from their defaults."""
    fields: dict[str, object] = msgspec.to_builtins(value)
    for field in msgspec.structs.fields(value):
        if fields[field.name] == field.default:
            del fields[field.name]
    return fields
