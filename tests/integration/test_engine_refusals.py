"""What is read of a refusal, over real sockets and through the real SDK: its beginning, however long it is."""

from __future__ import annotations

import asyncio

import pytest

from antiphon.engine import build_request, connect
from antiphon.vocabulary.errors import ModelError
from tests import misbehaving as servers
from tests.fakes_messages_api import TOOLS, asked
from tests.misbehaving import Exchange

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


async def test_a_key_that_is_refused_is_said_to_be() -> None:
    async with servers.server(refuses_the_key) as serving:
        model = connect(KEY, serving.url)
        with pytest.raises(ModelError) as caught:
            await model.check_key(GENEROUS_S)
        await model.aclose()

    assert caught.value.kind == "authentication"


async def test_a_server_without_a_list_of_models_leaves_the_key_unchecked() -> None:
    async with servers.server(servers.not_found) as serving:
        model = connect(KEY, serving.url)
        said = await model.check_key(GENEROUS_S)
        await model.aclose()

    assert said.startswith("the key was not checked")
