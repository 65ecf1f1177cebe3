"""What the random mode has done so far, in numbers, and what it found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from antiphon.faults.running import Run
from antiphon.faults.story import Story


@dataclass
class Roamed:
    """What the random mode has done.

    Attributes:
        faults: Faults that stood in the queries, each counted in each query.
        fired: Those of them that fired at least once.
        sorts: Every pair of point and kind that fired.
        story: The smallest failing story; None where no promise broke.
        broken: What it broke.
        again: Whether it fails when it is played by itself.
    """

    stories: int = 0
    queries: int = 0
    faults: int = 0
    fired: int = 0
    sorts: set[tuple[str, str]] = field(default_factory=set)
    story: Story | None = None
    broken: list[str] = field(default_factory=list)
    again: bool = True

    def count(self, runs: Sequence[Run]) -> None:
        """Adds the runs of a step."""
        for run in runs:
            told = {(each.point, each.kind) for each in run.fired}
            self.queries += 1
            self.faults += len(run.plan.faults)
            self.fired += sum((fault.point, fault.kind) in told for fault in run.plan.faults)
            self.sorts |= told
