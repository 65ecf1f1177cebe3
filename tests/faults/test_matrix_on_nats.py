"""A slice of the fault matrix with traces on NATS JetStream; `antiphon faults run --store` tries all of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from antiphon.faults import (
    Checker,
    Chosen,
    Fault,
    OpenShared,
    Plan,
    World,
    counts,
    run_singles,
)
from antiphon.faults.runs.checking import trace_difference
from antiphon.service import silence_logging
from tests.trace_stores import nats_url

__all__ = ["nats_url"]


@pytest.fixture
def world(tmp_path: Path, nats_url: str) -> Iterator[World]:
    silence_logging()
    opened = World(tmp_path, open_store=OpenShared(nats_url))
    yield opened
    opened.close()
    structlog.reset_defaults()


def test_no_fault_of_the_store_breaks_a_promise(world: World) -> None:
    report = run_singles(world, chosen=Chosen(["store.*"]))

    assert [(v.command, v.result, v.broken) for v in report.failures] == []
    assert counts(report)["fired"] == counts(report)["run"] > 30


def test_a_broken_query_leads_to_the_same_events_as_with_the_store_of_one_machine(
    world: World, tmp_path: Path
) -> None:
    plan = Plan(faults=(Fault(point="tool.search_course_content", kind="hang"),))
    alone = World(tmp_path / "alone")

    shared_run, shared_broken = Checker(world).run(plan)
    alone_run, alone_broken = Checker(alone).run(plan)

    assert shared_broken == alone_broken == []
    assert len(shared_run.trace) > 20
    assert trace_difference(shared_run.trace, alone_run.trace) == ""
    alone.close()
