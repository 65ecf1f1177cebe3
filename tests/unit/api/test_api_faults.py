"""The report of the fault matrix over REST."""

from __future__ import annotations

from antiphon.service import FaultReport
from tests.unit.api.calling import Browser, app_of
from tests.unit.api.fakes import FakeService


async def test_without_a_report_the_command_that_makes_one_is_named() -> None:
    reply = await Browser(app_of(FakeService())).get("/api/faults/report")

    assert reply.json() == {"command": "antiphon faults run --keep", "report": None}


async def test_a_report_and_the_traces_of_its_cells_are_served() -> None:
    service = FakeService()
    service.fault_reports.report = FaultReport(
        seed=1, counts={"run": 0}, kinds={}, cells=(), not_applicable=()
    )
    service.fault_reports.traces = {"q1": 7}
    app = app_of(service)

    report = await Browser(app).get("/api/faults/report")
    taken = await Browser(app).post("/api/faults/report/traces/q1", {})
    absent = await Browser(app).post("/api/faults/report/traces/q2", {})

    assert report.json()["report"]["seed"] == 1
    assert taken.json() == {"query_id": "q1", "events": 7}
    assert absent.status == 404
