"""The example of another outside: a person plays the model, through the public API."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from antiphon import Antiphon, Question, events, load_settings
from antiphon.faults import injector_of
from antiphon.service import replay
from antiphon.vocabulary.errors import FaultPlanError
from docs.examples import rehearsal

LOOK_S = 0.02


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Antiphon]:
    settings = load_settings(
        data_dir=tmp_path / "data", embedder="onnx", reasoner="offline"
    )
    opened = await Antiphon.open(
        settings, outside=rehearsal.rehearsal(tmp_path / "desk")
    )
    yield opened
    await opened.close()


async def wait_for(path: Path) -> None:
    while not path.exists():  # noqa: ASYNC240, ASYNC110 - another process would write it
        await asyncio.sleep(LOOK_S)


async def test_a_person_answers_in_the_place_of_the_model(
    service: Antiphon, tmp_path: Path
) -> None:
    query = await service.start(Question(query="What is recall?"), query_id="q1")
    desk = tmp_path / "desk" / "q1"

    call = {"name": "search_course_content", "arguments": {"query": "recall"}}
    await wait_for(desk / "call-1.request.json")
    (desk / "call-1.reply.json").write_text(json.dumps({"tool_calls": [call]}))
    await wait_for(desk / "call-2.request.json")
    (desk / "call-2.reply.json").write_text(json.dumps({"text": "A share."}))

    outcome = await query.outcome()
    assert outcome.response.answer == "A share."
    trace = await service.store.read("q1")
    first = trace[0].event
    assert isinstance(first, events.QueryReceived)
    assert dict(first.versions)["reasoner"] == "outside rehearsal"
    kinds = {type(each.event) for each in trace}
    assert {events.ToolRequested, events.ToolsSettled} <= kinds
    assert replay(trace).divergence is None


async def test_a_fault_breaks_what_the_outside_gets_and_does_not_replace_it(
    service: Antiphon, tmp_path: Path
) -> None:
    fault = {"point": "tool.search_course_content", "kind": "raise", "times": 0}
    query = await service.start(
        Question(query="What is recall?"), injector_of({"faults": [fault]}), "q1"
    )
    desk = tmp_path / "desk" / "q1"

    call = {"name": "search_course_content", "arguments": {"query": "recall"}}
    async with asyncio.timeout(30.0):
        await wait_for(desk / "call-1.request.json")
        (desk / "call-1.reply.json").write_text(json.dumps({"tool_calls": [call]}))
        await wait_for(desk / "call-2.request.json")
        (desk / "call-2.reply.json").write_text(json.dumps({"text": "A share."}))
        outcome = await query.outcome()

    assert outcome.response.answer == "A share."
    [substituted] = [
        each.event
        for each in await service.store.read("q1")
        if isinstance(each.event, events.ToolSubstituted)
    ]
    assert "injected: raise" in substituted.why


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("block", "stops every query"),
        ("stuck", "keeps a thread of a running service long after its query"),
    ],
)
def test_a_plan_that_other_queries_would_notice_is_refused(kind: str, why: str) -> None:
    with pytest.raises(FaultPlanError, match=why):
        injector_of({"faults": [{"point": "tool.search_course_content", "kind": kind}]})


async def test_the_fallback_answers_a_call_that_nobody_answers_in_time(
    service: Antiphon,
) -> None:
    outcome = await service.ask(Question(query="What is recall?", deadline_s=5))

    assert outcome.response.reasoner == "offline"
    assert "fallback_reasoner" in [each.kind for each in outcome.response.indicators]


def test_the_code_on_the_page_is_that_of_the_example() -> None:
    example = Path(rehearsal.__file__)
    page = (example.parent.parent / "outside.md").read_text()

    _, method = re.findall(r"```python\n(.*?)```", page, re.DOTALL)

    assert method in example.read_text()
