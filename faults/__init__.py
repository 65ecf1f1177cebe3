"""Breaking it on purpose: fault plans, the matrix of all single faults, the promises that are checked on every run."""

from faults.cells import Cell, NotApplicable
from faults.from_trace import Struck, fault_at
from faults.injector import Injector, around_of
from faults.invariants import broken_promises
from faults.kinds import KINDS, MEANING, Kind
from faults.leaving import leave_as_planned
from faults.matrix import Chosen, Judge, Report, Verdict, run_singles
from faults.pairs import run_pairs
from faults.plan import Fault, Plan, plan_of, read_plan, write_plan
from faults.points import all_points
from faults.report import as_html, as_json, counts, reasons, table
from faults.running import Run, run_plan
from faults.seams import seam_of
from faults.world import World

__all__ = [
    "KINDS",
    "MEANING",
    "Cell",
    "Chosen",
    "Fault",
    "Injector",
    "Judge",
    "Kind",
    "NotApplicable",
    "Plan",
    "Report",
    "Run",
    "Struck",
    "Verdict",
    "World",
    "all_points",
    "around_of",
    "as_html",
    "as_json",
    "broken_promises",
    "counts",
    "fault_at",
    "leave_as_planned",
    "plan_of",
    "read_plan",
    "reasons",
    "run_pairs",
    "run_plan",
    "run_singles",
    "seam_of",
    "table",
    "write_plan",
]
