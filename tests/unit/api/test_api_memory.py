"""The memory and the briefings of a query over REST."""

from __future__ import annotations

from antiphon.vocabulary.events import BriefingPrepared, Event, Recorded
from tests.unit.api.calling import Browser, app_of
from tests.unit.api.fakes import FakeService
from tests.unit.synthesizer.scenarios import comparison_in_two_rounds
from tests.unit.synthesizer.stories import Told


async def _service() -> FakeService:
    """A service whose store holds the trace `q`, in which two rounds were made and not yet answered."""
    service = FakeService()
    story, events = Told(), list[Event]()
    for event in comparison_in_two_rounds():
        had = len(story.published)
        story.tell(event)
        events += [
            event,
            *(
                said
                for said in story.published[had:]
                if isinstance(said, BriefingPrepared)
            ),
        ]
    recorded = [
        Recorded[Event](query_id="q", seq=n, cause=0, at=0.0, event=e)
        for n, e in enumerate(events, start=1)
    ]
    await service.store.append("q", 0, recorded)
    return service


async def test_the_memory_can_be_asked_after_any_event() -> None:
    app = app_of(await _service())

    early = (await Browser(app).get("/api/traces/q/memory?at=7")).json()
    late = (await Browser(app).get("/api/traces/q/memory")).json()

    assert (early["at"], early["open"], [fact["id"] for fact in early["facts"]]) == (
        7,
        ["a queue"],
        ["f1"],
    )
    assert (late["open"], [fact["id"] for fact in late["facts"]]) == (
        [],
        ["f1", "f2", "f3"],
    )
    assert [part["calls"] for part in late["parts"]] == [["a"], ["b"]]
    assert {"course": "Queues", "lesson": 3, "facts": ["f3"]} in late["coverage"]


async def test_facts_for_a_part_and_attempts_of_a_tool_can_be_asked_for() -> None:
    app = app_of(await _service())

    of_part = (await Browser(app).get("/api/traces/q/memory?part=2")).json()
    of_tool = (
        await Browser(app).get("/api/traces/q/memory?tool=get_course_outline")
    ).json()

    assert [fact["id"] for fact in of_part["facts"]] == ["f2", "f3"]
    assert of_tool["attempts"] == []


async def test_each_briefing_says_what_changed_and_why() -> None:
    reply = (
        await Browser(app_of(await _service())).get("/api/traces/q/briefings")
    ).json()

    assert [each["call_id"] for each in reply["briefings"]] == [
        "call-1",
        "call-2",
        "call-3",
    ]
    assert [(c["what"], c["change"]) for c in reply["briefings"][2]["changes"]] == [
        ("f2", "came"),
        ("f3", "came"),
    ]
    assert reply["briefings"][1]["came"] > 0


async def test_the_memory_of_no_query_is_not_found() -> None:
    app = app_of(FakeService())

    assert (await Browser(app).get("/api/traces/nothing/memory")).status == 404
    assert (await Browser(app).get("/api/traces/nothing/briefings")).status == 404
    assert (await Browser(app).get("/api/traces/nothing/memory?at=0")).status == 404
