"""Breaking it on purpose: fault plans, the matrix of all single faults, the promises that are checked on every run."""

from antiphon.faults.cells import Cell, NotApplicable
from antiphon.faults.from_trace import Struck, fault_at
from antiphon.faults.injector import Injector, around_of
from antiphon.faults.invariants import broken_promises
from antiphon.faults.judge import Judge, OpenWorld, judge_story
from antiphon.faults.kinds import KINDS, MEANING, Kind
from antiphon.faults.leaving import leave_as_planned
from antiphon.faults.matrix import Chosen, Report, Verdict, run_singles
from antiphon.faults.pairs import PairVerdict, run_pairs
from antiphon.faults.plan import Fault, Plan
from antiphon.faults.points import all_points, unknown_points
from antiphon.faults.reading import fault_of, plan_of, read_plan, write_plan
from antiphon.faults.report import as_html, as_json, counts, pair_counts, pairs_as_html, pairs_as_json, reasons, table
from antiphon.faults.roamed import Roamed
from antiphon.faults.running import Run
from antiphon.faults.seams import seam_of
from antiphon.faults.stage import run_plan
from antiphon.faults.story import Step, Story, read_story, story_of, write_story
from antiphon.faults.world import World

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
