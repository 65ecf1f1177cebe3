"""Breaking it on purpose: fault plans, the matrix of all single faults, the promises that are checked on every run."""

from faults.cells import Cell, NotApplicable
from faults.from_trace import Struck, fault_at
from faults.injector import Injector, around_of
from faults.invariants import broken_promises
from faults.judge import Judge, OpenWorld, judge_story
from faults.kinds import KINDS, MEANING, Kind
from faults.leaving import leave_as_planned
from faults.matrix import Chosen, Report, Verdict, run_singles
from faults.pairs import PairVerdict, run_pairs
from faults.plan import Fault, Plan
from faults.points import all_points, unknown_points
from faults.reading import fault_of, plan_of, read_plan, write_plan
from faults.report import as_html, as_json, counts, pair_counts, pairs_as_html, pairs_as_json, reasons, table
from faults.roamed import Roamed
from faults.running import Run
from faults.seams import seam_of
from faults.stage import run_plan
from faults.story import Step, Story, read_story, story_of, write_story
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
    "OpenWorld",
    "PairVerdict",
    "Plan",
    "Report",
    "Roamed",
    "Run",
    "Step",
    "Story",
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
    "fault_of",
    "judge_story",
    "leave_as_planned",
    "pair_counts",
    "pairs_as_html",
    "pairs_as_json",
    "plan_of",
    "read_plan",
    "read_story",
    "reasons",
    "run_pairs",
    "run_plan",
    "run_singles",
    "seam_of",
    "story_of",
    "table",
    "unknown_points",
    "write_plan",
    "write_story",
]
