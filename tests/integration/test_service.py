"""The service as a Python object, on a real index, a real store and the offline reasoner."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from antiphon.api import create_app
from antiphon.knowledge import index_paths, load_embedder
from antiphon.service import (
    Antiphon,
    BusyError,
    Question,
    load_settings,
    worker_process,
)
from antiphon.vocabulary.errors import (
    BadInputError,
    ConfigurationError,
    NotFoundError,
    TraceError,
)
from antiphon.vocabulary.events import (
    Event,
    QueryClosed,
    QueryReceived,
    ReasoningStarted,
    Recorded,
)
from tests.course_files import write_course
from tests.nats_servers import nats_server

ASKED = "What does the falcon use in case 3?"


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("data")
    courses = tmp_path_factory.mktemp("courses")
    write_course(courses, "falcon")
    index_paths([courses], data, load_embedder("onnx"), progress=lambda _: None)
    return data


@asynccontextmanager
async def opened(data_dir: Path, **settings: object) -> AsyncIterator[Antiphon]:
    service = await Antiphon.open(
        load_settings(
            data_dir=data_dir, embedder="onnx", reasoner="offline", **settings
        )
    )
    try:
        yield service
    finally:
        await service.close()


async def test_a_conversation_is_remembered_by_the_next_process(data_dir: Path) -> None:
    async with opened(data_dir) as before:
        first = await before.ask(Question(query=ASKED))

    async with opened(data_dir) as after:
        second = await after.ask(
            Question(query="And in case 4?", session_id=first.session_id)
        )
        received = (await after.store.read(second.query_id))[0].event

    assert isinstance(received, QueryReceived)
    assert [(exchange.question, exchange.answer) for exchange in received.history] == [
        (ASKED, first.response.answer)
    ]


async def test_a_trace_says_what_the_run_depended_on_and_what_was_sent(
    data_dir: Path,
) -> None:
    async with opened(data_dir) as service:
        outcome = await service.ask(Question(query=ASKED, max_rounds=1, deadline_s=30))
        trace = [
            recorded.event for recorded in await service.store.read(outcome.query_id)
        ]

    (received,) = (event for event in trace if isinstance(event, QueryReceived))
    sent = [event.request for event in trace if isinstance(event, ReasoningStarted)]
    assert (received.settings.max_rounds, received.settings.deadline_s) == (1, 30.0)
    assert {
        *("antiphon", "system_prompt", "reasoner", "tools", "embedder", "index")
    } == {name for name, _ in received.versions}
    assert received.courses.text == "The Falcon Course"
    assert len(sent) == outcome.response.calls
    assert all(ASKED in request.messages[0].content[-1].text for request in sent)


async def test_a_follower_sees_the_whole_query_and_a_cancelled_one_closes(
    data_dir: Path,
) -> None:
    async with opened(data_dir) as service:
        running = await service.start(Question(query=ASKED))
        following = running.follow()
        running.cancel("changed my mind")
        seen = [told async for told in following if isinstance(told, Recorded)]
        outcome = await running.outcome()

    events: list[Event] = [told.event for told in seen]
    assert isinstance(events[0], QueryReceived)
    assert events[-1] == QueryClosed(status="cancelled")
    assert (outcome.status, outcome.response.confidence) == ("cancelled", "low")


async def test_a_service_that_is_closed_leaves_nothing_running_and_nothing_open(
    data_dir: Path,
) -> None:
    tasks = asyncio.all_tasks()
    async with opened(data_dir) as service:
        running = await service.start(Question(query=ASKED))

    assert asyncio.all_tasks() == tasks
    with pytest.raises(TraceError):
        await service.store.read(running.query_id)


async def test_a_node_that_is_closed_leaves_nothing_running_and_nothing_open(
    data_dir: Path, tmp_path: Path
) -> None:
    tasks = asyncio.all_tasks()
    with nats_server(tmp_path) as server:
        async with opened(data_dir, nats_url=server.url) as service:
            # What other processes left behind is for workers to go on with.
            assert list(await service.resume_unfinished()) == []

        assert asyncio.all_tasks() == tasks


async def test_a_worker_that_is_stopped_leaves_nothing_running_and_nothing_open(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # These change the whole process for good, so they are for a process of their own.
    for for_all in ("spare_memory", "take_short_turns", "keep_loaded"):
        monkeypatch.setattr(worker_process, for_all, lambda: None)
    tasks = asyncio.all_tasks()

    def stop(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    with nats_server(tmp_path) as server:
        settings = load_settings(
            data_dir=data_dir, embedder="onnx", reasoner="offline", nats_url=server.url
        )
        stopped_by = await worker_process.work(
            settings,
            health_host="127.0.0.1",
            health_port=0,
            announce=stop,
            stopping=lambda _: None,
        )

        assert stopped_by == signal.SIGTERM
        assert asyncio.all_tasks() == tasks


async def test_a_caller_that_is_cancelled_takes_its_query_with_it(
    data_dir: Path,
) -> None:
    async with opened(data_dir) as service:
        asking = asyncio.create_task(service.ask(Question(query=ASKED)))
        while not service.running():  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        while service.running():  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0)
        (newest,) = await service.store.list(limit=1)

    assert newest.status == "cancelled"


async def test_more_questions_than_allowed_at_once_are_refused(data_dir: Path) -> None:
    async with opened(data_dir, concurrent_queries=1) as service:
        running = await service.start(Question(query=ASKED))

        with pytest.raises(BusyError):
            await service.start(Question(query=ASKED))

        await running.outcome()


async def test_no_more_questions_than_allowed_run_even_if_they_come_together(
    data_dir: Path,
) -> None:
    async with opened(data_dir, concurrent_queries=1, most_wait_s=0) as service:
        first = await service.ask(Question(query=ASKED))
        # The store is read for each of them before it begins.
        again = Question(query=ASKED, session_id=first.session_id)
        begun = await asyncio.gather(
            *[service.start(again) for _ in range(3)], return_exceptions=True
        )

        assert [isinstance(each, BusyError) for each in begun].count(True) == 2
        assert len(service.running()) == 1


async def test_a_question_whose_conversation_is_read_while_the_service_closes_is_refused(
    data_dir: Path,
) -> None:
    async with opened(data_dir) as service:
        first = await service.ask(Question(query=ASKED))
        again = Question(query=ASKED, session_id=first.session_id)
        starting = asyncio.create_task(service.start(again))
        await asyncio.sleep(0)
        await service.leave()

        with pytest.raises(BusyError):
            await starting
        assert not service.running()


async def test_a_question_that_cannot_be_used_is_refused_before_anything_is_recorded(
    data_dir: Path,
) -> None:
    async with opened(data_dir) as service:
        before = [row.query_id for row in await service.store.list()]

        with pytest.raises(BadInputError):
            await service.ask(Question(query="  "))
        with pytest.raises(NotFoundError):
            await service.ask(Question(query=ASKED, session_id="nobody"))

        assert [row.query_id for row in await service.store.list()] == before


async def test_a_new_index_is_switched_to_while_the_service_runs(
    data_dir: Path, tmp_path: Path
) -> None:
    courses = tmp_path / "more"
    async with opened(data_dir) as service:
        write_course(courses, "heron")
        await asyncio.to_thread(
            lambda: index_paths(
                [courses], data_dir, load_embedder("onnx"), progress=lambda _: None
            )
        )
        async with asyncio.timeout(30):
            while len(service.courses()) < 2:  # noqa: ASYNC110 - there is no event for it
                await asyncio.sleep(0.01)
        outcome = await service.ask(
            Question(query="What does the heron use in case 3?")
        )

    assert any("Heron" in source for source in outcome.response.sources)


def test_the_error_names_all_settings_that_cannot_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTIPHON_MAX_ROUNDS", "9")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "ftp://x")
    monkeypatch.setenv("ANTIPHON_ANYBODY_MAY", "ask,anything")

    with pytest.raises(
        ConfigurationError,
        match=r"ANYBODY_MAY.*'anything'.*MAX_ROUNDS.*ANTHROPIC_BASE_URL",
    ):
        load_settings()


async def test_a_service_without_an_index_says_so_and_still_answers(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as service:
        ready = service.readiness()
        outcome = await service.ask(Question(query=ASKED))

    assert (ready.ready, ready.courses, ready.embedder) == (False, 0, None)
    assert "antiphon index" in ready.problems[0]
    assert (outcome.status, outcome.response.confidence) == ("answered", "low")


async def test_readiness_over_rest_names_what_is_missing(tmp_path: Path) -> None:
    app = create_app(
        load_settings(data_dir=tmp_path, embedder="onnx", reasoner="offline")
    )
    transport = httpx2.ASGITransport(app=app)

    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport) as client,
    ):
        answer = await client.get("http://127.0.0.1/readyz")

    assert answer.status_code == 503
    assert "antiphon index" in answer.json()["problems"][0]


async def test_a_query_is_counted_once_even_if_its_outcome_is_fetched_often(
    data_dir: Path,
) -> None:
    async with opened(data_dir) as service:
        running = await service.start(Question(query=ASKED))
        outcome = await running.outcome()
        await running.outcome()

        assert service.totals.queries == {"answered": 1}
        assert service.totals.usage == outcome.response.usage
