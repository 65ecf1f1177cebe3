"""What is read of a refusal, over real sockets and through the real SDK: its beginning, however long it is."""

from __future__ import annotations

import asyncio

import pytest

from antiphon.engine import build_request, connect
from antiphon.vocabulary.errors import ModelError
from tests import misbehaving as servers
from tests.fakes_messages_api import TOOLS, asked
from tests.misbehaving import Conduct, Exchange

KEY = "sk-secret-of-some-length"
GENEROUS_S = 30.0


async def refuses_without_end(exchange: Exchange) -> None:
    await exchange.send(
        b"HTTP/1.1 503 Service Unavailable\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    while True:
        await exchange.chunks(b"x" * 2**16)


async def refuses_the_key(exchange: Exchange) -> None:
    await exchange.answer("401 Unauthorized", b'{"error":{"message":"who are you"}}')


async def test_a_refusal_without_end_is_a_refusal_all_the_same() -> None:
    async with servers.server(refuses_without_end) as serving:
        model = connect(KEY, serving.url)
        events = model.stream(build_request(asked(), TOOLS), 5.0)
        with pytest.raises(ModelError, match="the server answered 503"):
            await asyncio.wait_for(anext(aiter(events)), GENEROUS_S)
        await model.aclose()


async def test_the_check_of_the_key_says_that_the_server_refuses_it() -> None:
    async with servers.server(refuses_the_key) as serving:
        model = connect(KEY, serving.url)
        with pytest.raises(ModelError) as caught:
            await model.check_key(GENEROUS_S)
        await model.aclose()

    assert caught.value.kind == "authentication"


async def lists_models(exchange: Exchange) -> None:
    assert exchange.path == "/v1/models?limit=1"
    await exchange.answer("200 OK", b'{"data":[{"id":"claude-x"}]}')


async def answers_every_path_with_a_page(exchange: Exchange) -> None:
    await exchange.answer("200 OK", b"<html>Welcome</html>", "text/html")


async def lists_no_models_now(exchange: Exchange) -> None:
    await exchange.answer("503 Service Unavailable", b"")


@pytest.mark.parametrize(
    ("conduct", "accepted"),
    [
        (lists_models, True),
        (servers.not_found, False),
        (lists_no_models_now, False),
        (answers_every_path_with_a_page, False),
    ],
)
async def test_only_a_list_of_models_shows_that_a_key_is_accepted(
    conduct: Conduct, accepted: bool
) -> None:
    async with servers.server(conduct) as serving:
        model = connect(KEY, serving.url)
        found = await model.check_key(GENEROUS_S)
        await model.aclose()

    assert found is accepted


@pytest.mark.parametrize("conduct", [servers.silent, servers.headers_only])
async def test_a_check_of_the_key_is_over_in_its_time(conduct: Conduct) -> None:
    async with servers.server(conduct) as serving:
        model = connect(KEY, serving.url)
        with pytest.raises(ModelError) as caught:
            await asyncio.wait_for(model.check_key(0.2), GENEROUS_S)
        await model.aclose()

    assert caught.value.kind == "timeout"


async def test_a_list_of_models_without_end_is_cut_off() -> None:
    async with servers.server(servers.gzip_bomb) as serving:
        model = connect(KEY, serving.url)
        with pytest.raises(ModelError) as caught:
            await model.check_key(GENEROUS_S)
        await model.aclose()

    assert caught.value.kind == "malformed"


async def refuses_the_second_call(exchange: Exchange) -> None:
    if exchange.number == 1:
        await servers.well(exchange)
    else:
        await refuses_the_key(exchange)


async def test_the_watcher_of_the_key_hears_of_the_end_of_each_call() -> None:
    ends: list[str | None] = []

    def hear(error: ModelError | None) -> None:
        ends.append(None if error is None else error.kind)

    async with servers.server(refuses_the_second_call) as serving:
        model = connect(KEY, serving.url, ended=hear)
        async for _ in model.stream(build_request(asked(), TOOLS), GENEROUS_S):
            pass
        with pytest.raises(ModelError):
            await anext(aiter(model.stream(build_request(asked(), TOOLS), GENEROUS_S)))
        await model.aclose()

    assert ends == [None, "authentication"]
