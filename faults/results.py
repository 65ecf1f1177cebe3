"""Results of runs as data: one broken query, the cells of the matrix and their verdicts, pairs, random experiments."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from antiphon.faults.plan import Experiment, Fault, Kind, Plan, When
from antiphon.faults.ports.injection import Fired, QueryFaults
from antiphon.faults.scenarios import Scenario
from antiphon.service import Outcome
from antiphon.vocabulary.events import Event, Recorded, ResponseAssembled
from antiphon.vocabulary.values import Value

Result = Literal["kept", "broken", "not fired"]
E = TypeVar("E", bound=Event)


@dataclass
class Run:
    """The result of one plan.

    Attributes:
        injected: Its faults and their effects.
        outcome: The outcome that the caller got; None if none came or the question was refused.
        refused: The refusal of the question, in words.
        error: The reason why no outcome came, in words.
        trace: The query's events as delivered.
        stored: Its events as stored afterwards.
        neighbour: The stored events of the query beside it.
        left: Tasks, threads and sessions that remained after both had ended, in words.
        took_s: Virtual seconds from question to answer.
    """

    plan: Plan
    scenario: Scenario
    injected: QueryFaults
    outcome: Outcome | None = None
    refused: str = ""
    error: str = ""
    trace: list[Recorded[Event]] = field(default_factory=list)
    stored: Sequence[Recorded[Event]] = ()
    neighbour: Sequence[Recorded[Event]] = ()
    left: list[str] = field(default_factory=list)
    took_s: float = 0.0

    def events(self, kind: type[E]) -> list[E]:
        """Returns the events of one kind, in order."""
        return [
            recorded.event
            for recorded in self.trace
            if isinstance(recorded.event, kind)
        ]

    def subjects(self, *kinds: type[Event]) -> list[str]:
        """Returns the subject of each event of these kinds: the id of its call, once per event."""
        return [
            str(recorded.event.subject())
            for recorded in self.trace
            if isinstance(recorded.event, kinds)
        ]

    def has(self, *kinds: type[Event]) -> bool:
        """Returns True if there is an event of one of the kinds."""
        return any(isinstance(recorded.event, kinds) for recorded in self.trace)

    @property
    def fired(self) -> list[Fired]:
        """The plan's own faults that fired, without those of its scenario."""
        return [fired for fired in self.injected.fired if self._is_planned(fired)]

    def _is_planned(self, fired: Fired) -> bool:
        # Compared by match, because a pattern fires at points that the plan does not name.
        return any(_came_from(fired, fault) for fault in self.plan.faults)

    @property
    def sorts(self) -> set[tuple[str, str]]:
        """The pairs of point and kind that fired."""
        return {(fired.point, fired.kind) for fired in self.fired}

    @property
    def idle(self) -> list[Fault]:
        """The plan's faults that never fired."""
        return [fault for fault in self.plan.faults if not self._has_fired(fault)]

    def _has_fired(self, fault: Fault) -> bool:
        return any(_came_from(fired, fault) for fired in self.injected.fired)

    @property
    def response(self) -> ResponseAssembled:
        """The response that the caller got; only for runs with an outcome."""
        assert self.outcome is not None
        return self.outcome.response

    @property
    def signs(self) -> set[str]:
        """The kinds of doubts in the response."""
        return {str(doubt.kind) for doubt in self.response.indicators}

    @property
    def status(self) -> str:
        """The end of the query, in a word."""
        if self.refused:
            return "refused"
        if self.outcome is None:
            return "none"
        return self.outcome.status


def _came_from(fired: Fired, fault: Fault) -> bool:
    return fired.kind == fault.kind and fault.is_at(fired.point)


class Cell(Value, frozen=True, kw_only=True):
    """One fault to try. `scenario` is empty if nothing traverses the point."""

    point: str
    kind: Kind | Literal["none"]
    when: When
    scenario: str = ""

    def plan(self, seed: int) -> Plan:
        """Makes the plan that tries the cell."""
        if self.kind == "none":
            return Plan(scenario=self.scenario, seed=seed)
        # The question is read before any part of the query begins.
        when = "any" if self.point == "intake" else self.when
        fault = Fault(point=self.point, kind=self.kind, when=when)
        # If no scenario traverses the point, any one shows that the fault does not fire.
        scenario = self.scenario or "plain"
        return Plan(faults=(fault,), scenario=scenario, seed=seed)

    def command(self, tools: str, seed: int) -> str:
        """Writes the command that tries the cell alone, with these tools and this seed."""
        return run_command(
            ["--points", self.point, "--kinds", self.kind, "--when", self.when],
            tools,
            seed,
        )


def run_command(options: Sequence[str], tools: str, seed: int) -> str:
    """Writes an `antiphon faults run` command, with tools and seed only if they are not the default."""
    words = ["antiphon", "faults", "run", *options]
    if tools:
        words += ["--tools", tools]
    if seed:
        words += ["--seed", str(seed)]
    return shlex.join(words)


class NotApplicable(Value, frozen=True, kw_only=True):
    """A cell that makes no sense. `when` is empty if this holds for all parts of a query."""

    point: str
    kind: Kind
    why: str
    when: str = ""


class Verdict(Value, frozen=True, kw_only=True):
    """The result of a cell: `not fired` is a failure of the harness, `broken` one of the service.

    Attributes:
        command: Tries the cell alone.
    """

    cell: Cell
    command: str
    result: Result
    broken: tuple[str, ...] = ()
    status: str = ""
    query_id: str = ""
    runs: int = 1


class PairVerdict(Value, frozen=True, kw_only=True):
    """The result of two faults together; `fired` counts those that fired (the first may prevent the second).

    Attributes:
        command: Tries the pair alone.
    """

    first: Cell
    second: Cell
    command: str
    result: Result
    fired: int
    broken: tuple[str, ...] = ()


@dataclass
class Report:
    """The results of the whole matrix."""

    seed: int
    verdicts: list[Verdict] = field(default_factory=list)
    not_applicable: list[NotApplicable] = field(default_factory=list)

    @property
    def failures(self) -> list[Verdict]:
        """The verdicts on cells that failed."""
        return [verdict for verdict in self.verdicts if verdict.result != "kept"]


@dataclass
class RandomReport:
    """The progress of the random mode in numbers, and the failure that it found.

    Attributes:
        faults: The number of faults planned for all queries together.
        fired: Those of them that fired at least once.
        sorts: The pairs of point and kind that fired.
        failing: The smallest failing experiment; None if no promise broke.
        broken: The promises that it broke.
        reproduced: False if a rerun by itself did not fail.
    """

    experiments: int = 0
    queries: int = 0
    faults: int = 0
    fired: int = 0
    sorts: set[tuple[str, str]] = field(default_factory=set)
    failing: Experiment | None = None
    broken: list[str] = field(default_factory=list)
    reproduced: bool = True

    def count(self, runs: Sequence[Run]) -> None:
        """Adds the runs of a step."""
        for run in runs:
            self.queries += 1
            self.faults += len(run.plan.faults)
            sorts = run.sorts
            for fault in run.plan.faults:
                if (fault.point, fault.kind) in sorts:
                    self.fired += 1
            self.sorts |= sorts
