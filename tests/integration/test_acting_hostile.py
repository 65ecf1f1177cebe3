"""Acting processes and sessions act on their own messages only, no matter what else reaches them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from antiphon.cluster import (
    LateConnection,
    Place,
    RemoteLink,
    RemoteOutside,
    Room,
    connect,
)
from antiphon.service import Settings
from antiphon.vocabulary import events as e
from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.errors import ConfigurationError, RemoteError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Ports
from antiphon.workers.remote_parts import performed_elsewhere
from tests.acting_process import STARTING_S, acting
from tests.nats_servers import NatsServer, nats_server
from tests.remote_acting import ANSWER, Elsewhere, ask, asking, of


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with nats_server(tmp_path_factory.mktemp("nats")) as started:
        yield started


@pytest.fixture
def elsewhere(
    server: NatsServer, tmp_path: Path, request: pytest.FixtureRequest
) -> Elsewhere:
    return Elsewhere(server, tmp_path, request.node.name)


async def test_hostile_messages_end_nothing_and_reach_nobody(
    elsewhere: Elsewhere,
) -> None:
    script = elsewhere.play(asking("lookup", "trees"), ANSWER)
    cluster = await connect(elsewhere.url, name="hostile", prefix=elsewhere.prefix)
    try:
        with acting(*elsewhere.place, "dispatcher"):
            beginning = cluster.naming.acting("dispatcher")
            offer = await cluster.client.request(f"{beginning}.all", timeout=STARTING_S)
            subject = msgspec.json.decode(offer.data)["subject"]
            for data in HOSTILE:
                await cluster.client.publish(subject, data)
            async with elsewhere.sessions(script) as small:
                outcome, trace = await ask(small)
    finally:
        await cluster.close()

    assert outcome.status == "answered"
    assert of(trace, e.HandlerFailed) == []


HOSTILE = (
    b"",
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"frame":"end","lease":"x","number":1}',
    b'{"frame":"perform","lease":"x","number":-1,"request":{}}',
    b'{"frame":"begin","lease":"y","number":1,"place":{"tools":"others"},"reply_to":"nobody","lease_s":1}',
    b'{"frame":"begin","lease":"z","number":1,"place":{},"reply_to":"a b\\r\\nPUB c 0","lease_s":1}',
    b'{"frame":"recall","lease":"y","number":2,"recorded":{"query_id":"q","seq":1}}',
)


@pytest.mark.parametrize(
    "forged",
    [
        Recorded(
            query_id="q", seq=0, cause=1, at=0.0, event=e.QueryClosed(status="answered")
        ),
        Recorded(
            query_id="q",
            seq=0,
            cause=7,
            at=0.0,
            event=e.ToolsSettled(round=1, succeeded=(), failed=()),
        ),
    ],
)
async def test_a_part_publishes_only_what_it_may(
    forged: Recorded[Event],
) -> None:
    published: list[Event] = []
    link = RemoteLink(LateConnection("nats://127.0.0.1:1", name="none"), "dispatcher")
    ports = Ports(
        publish=published.append,
        emit_live=lambda _: None,
        spawn=lambda work, **_: work.close,
    )
    room = Room(performs=(e.ToolRequested,), emits=(e.ToolSucceeded,))
    outside = RemoteOutside(link, Place(), ports, BUILT_IN, room)

    with pytest.raises(RemoteError):
        outside.take_event(forged)
    assert published == []


def test_an_unknown_room_and_a_missing_server_are_refused(tmp_path: Path) -> None:
    for settings in (
        Settings.model_construct(remote="kitchen", nats_url="nats://127.0.0.1:1"),
        Settings.model_construct(remote="dispatcher"),
    ):
        with pytest.raises(ConfigurationError, match=r"dispatcher|ANTIPHON_NATS_URL"):
            performed_elsewhere(settings)
