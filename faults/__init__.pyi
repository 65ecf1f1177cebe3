"""Fault injection: plans, the matrix of all single faults, and the promises that every run is checked for."""

from antiphon.faults.checks.promises import broken_promises
from antiphon.faults.from_trace import TraceFault, fault_at
from antiphon.faults.injector import Injector, injector_of
from antiphon.faults.plan import (
    KINDS,
    MEANING,
    Experiment,
    Fault,
    Kind,
    Plan,
    Step,
    point_type,
)
from antiphon.faults.plan_files import (
    parse_experiment,
    parse_fault,
    parse_plan,
    read_experiment,
    read_plan,
    write_experiment,
    write_plan,
)
from antiphon.faults.proxy.proxy import FaultProxy
from antiphon.faults.proxy.recording import Exchange, read_recording
from antiphon.faults.proxy.verdict import (
    check_wire_plan,
    drawn_plan,
    reactions,
    single_plans,
)
from antiphon.faults.report import (
    as_json,
    counts,
    pair_counts,
    pairs_as_json,
    reasons,
    table,
)
from antiphon.faults.report_page import as_html, pairs_as_html
from antiphon.faults.results import (
    Cell,
    NotApplicable,
    PairVerdict,
    RandomReport,
    Report,
    Run,
    Verdict,
)
from antiphon.faults.runs.cells import all_points, unknown_points
from antiphon.faults.runs.checking import Checker, OpenWorld, run_experiment, smallest
from antiphon.faults.runs.matrix import Chosen, run_singles
from antiphon.faults.runs.pairs import run_pairs
from antiphon.faults.runs.query import leave_as_planned
from antiphon.faults.runs.service import run_plan
from antiphon.faults.runs.shared_store import OpenShared, OpenStore, open_local
from antiphon.faults.runs.world import World

__all__ = [
    "KINDS",
    "MEANING",
    "Cell",
    "Checker",
    "Chosen",
    "Exchange",
    "Experiment",
    "Fault",
    "FaultProxy",
    "Injector",
    "Kind",
    "NotApplicable",
    "OpenShared",
    "OpenStore",
    "OpenWorld",
    "PairVerdict",
    "Plan",
    "RandomReport",
    "Report",
    "Run",
    "Step",
    "TraceFault",
    "Verdict",
    "World",
    "all_points",
    "as_html",
    "as_json",
    "broken_promises",
    "check_wire_plan",
    "counts",
    "drawn_plan",
    "fault_at",
    "injector_of",
    "leave_as_planned",
    "open_local",
    "pair_counts",
    "pairs_as_html",
    "pairs_as_json",
    "parse_experiment",
    "parse_fault",
    "parse_plan",
    "point_type",
    "reactions",
    "read_experiment",
    "read_plan",
    "read_recording",
    "reasons",
    "run_experiment",
    "run_pairs",
    "run_plan",
    "run_singles",
    "single_plans",
    "smallest",
    "table",
    "unknown_points",
    "write_experiment",
    "write_plan",
]
