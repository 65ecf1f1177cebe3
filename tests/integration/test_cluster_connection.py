"""The connection to NATS says what is missing, and streams can be made again and brought up to date."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from nats.errors import Error as NatsError
from structlog.testing import capture_logs

from antiphon.cluster import connect, connection, make_streams
from antiphon.cluster.client import CarefulClient
from antiphon.cluster.connection import _Errors, check_version, shown
from antiphon.cluster.streams import LANES, Naming, lane_of, token, trace_stream
from antiphon.cluster.trace_store import JetStreamTraceStore
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.question_sets import QuestionSet, SavedQuestion
from tests.nats_servers import (
    NatsServer,
    addresses_of,
    free_port,
    give_up_soon,
    nats_cluster,
    nats_server,
)
from tests.trace_stores import connected


async def test_a_server_that_is_not_there_is_named_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    give_up_soon(monkeypatch)
    url = f"nats://somebody:secret-word@127.0.0.1:{free_port()}"
    with pytest.raises(ConfigurationError, match="No NATS server answers") as caught:
        await connect(url, name="test")
    assert "secret-word" not in str(caught.value)
    assert "127.0.0.1" in str(caught.value)


async def test_the_error_distinguishes_a_refused_password_from_a_server_that_is_not_there(
    tmp_path: Path,
) -> None:
    server = NatsServer(tmp_path)
    server.start(user="antiphon", password="right-word")
    address = server.url.removeprefix("nats://")
    try:
        # At the same time, because each is tried for seconds.
        refused = await asyncio.gather(
            *(
                connect(f"nats://{who}{address}", name="test")
                for who in ("antiphon:wrong-word@", "")
            ),
            return_exceptions=True,
        )
        for error in refused:
            assert isinstance(error, ConfigurationError)
            assert "refuses the user" in str(error)
            assert "wrong-word" not in str(error)
        allowed = await connect(f"nats://antiphon:right-word@{address}", name="test")
        await allowed.close()
    finally:
        server.stop()


async def test_no_password_is_sent_in_clear_text_if_the_address_asks_for_tls() -> None:
    sent = bytearray()

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(
            b'INFO {"server_id":"x","version":"2.15.1","max_payload":1024}\r\n'
        )
        sent.extend(await reader.read(4096))
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        with pytest.raises(ConfigurationError, match="offers no TLS"):
            await connect(f"tls://antiphon:secret-word@127.0.0.1:{port}", name="test")

    assert bytes(sent) == b""


async def test_a_flush_is_answered_after_all_that_was_sent_before_it() -> None:
    lines: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(
            b'INFO {"server_id":"x","version":"2.15.1","max_payload":1024}\r\n'
        )
        async for line in reader:
            lines.append(line)
            if line == b"PING\r\n":
                writer.write(b"PONG\r\n")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = CarefulClient()
    async with server:
        await client.connect(f"nats://127.0.0.1:{port}")
        lines.clear()
        await client.subscribe("leaves")
        await client.publish("trees", b"oak")
        await client.flush()
        await client.close()

    kinds = [line.split()[0] for line in lines]
    assert kinds[:4] == [b"SUB", b"PUB", b"oak", b"PING"]


async def test_a_connection_that_is_lost_is_logged_once_and_not_at_each_attempt(
    tmp_path: Path,
) -> None:
    errors = _Errors()
    errors.made = True

    with capture_logs() as logged:
        for _ in range(100):
            await errors.note(ConnectionRefusedError())
        await errors.note(NatsError("another"))
        await errors.note_return()
        await errors.note(NatsError("another"))

    assert [(line["event"], line.get("error")) for line in logged] == [
        ("nats_error", "connection refused"),
        ("nats_error", "another"),
        ("nats_connection_restored", None),
        ("nats_error", "another"),
    ]


@pytest.mark.parametrize("url", ["", "http://localhost:4222", "localhost:4222"])
async def test_an_invalid_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="NATS"):
        await connect(url, name="test")


def test_an_old_server_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"2\.10\.22.*2\.10\.23 or later"):
        check_version("2.10.22")
    check_version("2.10.23")
    check_version("2.15.1")


def test_an_address_is_shown_without_user_and_password() -> None:
    assert shown("nats://a:b@h:1,tls://c:d@i:2") == "nats://h:1,tls://i:2"


async def test_streams_are_made_once_and_brought_up_to_date(tmp_path: Path) -> None:
    with nats_server(tmp_path) as server:
        cluster = await connect(server.url, name="test")
        try:
            await make_streams(cluster.jetstream, cluster.naming, 1)
            await make_streams(cluster.jetstream, cluster.naming, 1)
            info = await cluster.jetstream.stream_info(cluster.naming.traces_stream)
            assert info.config.republish is not None
            assert info.config.republish.dest == "antiphon.live.{{wildcard(1)}}"
        finally:
            await cluster.close()


async def test_programs_of_other_versions_take_no_kind_of_message_away(
    tmp_path: Path,
) -> None:
    with nats_server(tmp_path) as server:
        async with connected(server.url, "sets") as cluster:
            jetstream = cluster.jetstream
            await make_streams(jetstream, cluster.naming, 1)
            config = trace_stream(cluster.naming, 1)
            assert config.subjects is not None
            config.subjects.append("sets.newer.*")
            await jetstream.update_stream(config)

            await make_streams(jetstream, cluster.naming, 1)
            await jetstream.publish("sets.newer.x", b"", timeout=5)

            store = await JetStreamTraceStore.open(cluster, tmp_path)
            # As an older program leaves it that starts after this one.
            config.subjects = [f"sets.{kind}.*" for kind in ("traces", "titles")]
            await jetstream.update_stream(config)
            saved = QuestionSet(
                set_id="s1",
                name="Ranking",
                at=1.0,
                questions=(SavedQuestion(question="What is recall?"),),
            )
            await store.question_sets.put(saved)
            assert await store.question_sets.all() == [saved]
            await store.close()


async def test_a_server_without_jetstream_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "WITHOUT_S", 0.5)
    server = NatsServer(tmp_path)
    server.start(jetstream=False)
    try:
        with pytest.raises(ConfigurationError, match="has no JetStream"):
            await connect(server.url, name="test")
    finally:
        server.stop()


async def test_the_error_says_that_one_server_alone_cannot_hold_three_copies(
    tmp_path: Path,
) -> None:
    with nats_server(tmp_path) as server:
        cluster = await connect(server.url, name="test", replicas=3)
        try:
            with pytest.raises(ConfigurationError, match="ANTIPHON_NATS_REPLICAS"):
                await make_streams(cluster.jetstream, cluster.naming, 3)
        finally:
            await cluster.close()


async def test_three_servers_hold_each_stream_three_times(tmp_path: Path) -> None:
    with nats_cluster(tmp_path) as servers:
        cluster = await connect(addresses_of(servers), name="test", replicas=3)
        try:
            await make_streams(cluster.jetstream, cluster.naming, 3)
            info = await cluster.jetstream.stream_info(cluster.naming.queries_stream)
            assert info.config.num_replicas == 3
        finally:
            await cluster.close()


def test_any_id_makes_one_token_and_different_ones_make_different_tokens() -> None:
    ids = ["q-1", "Q-1", "a.b", "a b", "a>*", "", "=YQ", "ä", "\udcff", "x" * 200]
    tokens = [token(each) for each in ids]
    assert len(set(tokens)) == len(ids)
    for each in tokens:
        assert not set(each) & set(" .*>\r\n\t")
        assert each


def test_lanes_spread_tenants() -> None:
    lanes = {lane_of(f"tenant-{number}") for number in range(200)}
    assert lanes == set(range(LANES))


def test_two_installations_share_servers() -> None:
    one, other = Naming(), Naming("another")
    assert one.traces_stream != other.traces_stream
    assert one.trace("q") != other.trace("q")
