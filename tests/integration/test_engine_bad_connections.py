"""What the engine's client makes of servers that misbehave, over real sockets and through the real SDK."""

from __future__ import annotations

import asyncio
import socket
import ssl
from pathlib import Path

import pytest

from antiphon.engine import build_request, connect
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Json
from tests import misbehaving as servers
from tests.fakes_messages_api import TOOLS, asked, sse, text_reply
from tests.misbehaving import CHUNKED, Conduct, Exchange

CERTIFICATE = Path(__file__).parents[1] / "data/self-signed.pem"
"""Made for these tests, with its key: nobody trusts it."""
KEY = "sk-secret-of-some-length"


async def events(
    url: str, calls: int = 1, heard: asyncio.Event | None = None
) -> list[Json]:
    """The events of the last of several calls that one client makes in turn; `heard` is set at the end of a reply."""
    model = connect(KEY, url, silence_s=0.3)
    got: list[Json] = []
    try:
        for _ in range(calls):
            request = build_request(asked(), TOOLS)
            got = []
            async for event in model.stream(request, 5.0):
                got.append(event)
                if heard is not None and event["type"] == "message_stop":
                    heard.set()
    finally:
        await model.aclose()
    return got


async def failure(url: str) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await events(url)
    return caught.value


async def proxied(exchange: Exchange) -> None:
    await exchange.answer("407 Proxy Authentication Required", b"")


async def bomb_behind_400(exchange: Exchange) -> None:
    await servers.gzip_bomb(exchange, "400 Bad Request")


async def openai_error_event(exchange: Exchange) -> None:
    await exchange.send(CHUNKED)
    error = b'{"error":{"code":400,"message":"no such slot","type":"odd"}}'
    await exchange.chunks(b"data: " + error + b"\n\n", b"")


async def words_as_error(exchange: Exchange) -> None:
    await exchange.send(CHUNKED)
    await exchange.chunks(b"event: error\ndata: out of memory\n\n", b"")


@pytest.mark.parametrize(
    ("conduct", "kind", "retryable", "words"),
    [
        (servers.silent, "timeout", True, "did not begin to answer"),
        (servers.headers_only, "silence", True, "fell silent"),
        (
            servers.bare_error_event,
            "stream_error",
            True,
            f"server_error: {servers.ERROR_SENTENCE}",
        ),
        (openai_error_event, "invalid_request", False, "no such slot"),
        (words_as_error, "stream_error", True, "out of memory"),
        (servers.refuses_context_with_413, "context_window", False, "maximum size"),
        (
            servers.refuses_context_as_llama_cpp,
            "context_window",
            False,
            servers.CONTEXT_SENTENCE,
        ),
        (servers.not_found, "wrong_address", False, "ANTHROPIC_BASE_URL"),
        (servers.no_http, "connection", True, "no http at all"),
        (servers.proxy_that_refuses, "authentication", False, "perhaps of a proxy"),
        (proxied, "connection", False, "HTTPS_PROXY"),
        (servers.gzip_bomb, "malformed", False, "larger than 8 MB"),
        (bomb_behind_400, "invalid_request", False, "the server answered 400"),
    ],
)
async def test_each_way_of_misbehaving_is_one_failure_that_says_what_to_do(
    conduct: Conduct, kind: str, retryable: bool, words: str
) -> None:
    async with servers.server(conduct) as serving:
        error = await failure(serving.url)

    assert (error.kind, error.retryable) == (kind, retryable)
    assert words in str(error)
    assert len(str(error)) <= 400
    assert "\n" not in str(error)


async def test_the_failure_names_the_scheme_for_a_server_without_tls() -> None:
    async with servers.server(servers.well) as serving:
        error = await failure(serving.url.replace("http:", "https:"))

    assert (error.kind, error.retryable) == ("connection", False)
    assert "perhaps ANTHROPIC_BASE_URL must begin with http://" in str(error)


async def test_a_certificate_that_nobody_trusts_is_no_reason_for_another_attempt() -> (
    None
):
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(CERTIFICATE)
    async with servers.server(servers.well, tls) as serving:
        error = await failure(serving.url)

    assert (error.kind, error.retryable) == ("connection", False)
    assert "SSL_CERT_FILE" in str(error)


async def test_the_failure_says_that_a_name_cannot_be_resolved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unknown(*_: object, **__: object) -> object:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)

    error = await failure("http://no-such-host.invalid")

    assert (error.kind, error.retryable) == ("connection", True)
    assert "its name cannot be resolved" in str(error)


async def test_the_failure_says_that_a_server_is_not_running() -> None:
    # Nobody listens at port 9 (discard) of this machine.
    error = await failure("http://127.0.0.1:9")

    assert (error.kind, error.retryable) == ("connection", True)
    assert "nothing listens there" in str(error)


async def test_a_proxy_that_refuses_is_named_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with servers.server(servers.proxy_that_refuses) as serving:
        proxy = serving.url.replace("http://", "http://me:hunter2@")
        monkeypatch.setenv("HTTPS_PROXY", proxy)
        error = await failure("https://api.example.com")

    assert (error.kind, error.retryable) == ("connection", False)
    assert "the proxy is named by HTTPS_PROXY" in str(error)
    assert "hunter2" not in str(error)


async def test_the_failure_names_the_setting_of_a_proxy_that_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://me:hunter2@127.0.0.1:9")

    error = await failure("https://api.example.com")

    assert (error.kind, error.retryable) == ("connection", True)
    assert "the proxy is named by HTTPS_PROXY" in str(error)
    assert "hunter2" not in str(error)


async def hang(exchange: Exchange) -> None:
    await exchange.hang()


async def reset(exchange: Exchange) -> None:
    exchange.reset()


async def error_event(exchange: Exchange) -> None:
    await exchange.chunks(
        sse({"type": "error", "error": {"type": "api_error", "message": "late"}}), b""
    )


async def garbage(exchange: Exchange) -> None:
    await exchange.chunks(b"data: {no json\n\n", b"")


async def broken_chunk(exchange: Exchange) -> None:
    await exchange.send(b"zz\r\nno chunk\r\n")


@pytest.mark.parametrize("behind", [hang, reset, error_event, garbage, broken_chunk])
async def test_a_complete_reply_is_kept_no_matter_what_follows_it(
    behind: Conduct,
) -> None:
    heard = asyncio.Event()

    async def conduct(exchange: Exchange) -> None:
        await exchange.send(CHUNKED)
        await exchange.chunks(*[sse(event) for event in text_reply("Hello")])
        # When a connection breaks, aiohttp drops all that nobody has read yet.
        await heard.wait()
        await behind(exchange)

    async with servers.server(conduct) as serving:
        got = await events(serving.url, heard=heard)

    assert [event["type"] for event in got] == [
        event["type"] for event in text_reply("Hello")
    ]


@pytest.mark.parametrize(
    "behind",
    [b"data: {no json\n\n", b'event: error\ndata: {"code":500,"message":"late"}\n\n'],
)
async def test_a_complete_reply_is_kept_if_the_rest_comes_in_the_same_packet(
    behind: bytes,
) -> None:
    async def conduct(exchange: Exchange) -> None:
        await exchange.send(CHUNKED)
        whole = b"".join([sse(event) for event in text_reply("Hello")])
        await exchange.chunks(whole + behind, b"")

    async with servers.server(conduct) as serving:
        got = await events(serving.url)

    assert got[-1] == {"type": "message_stop"}


async def test_a_connection_whose_reply_was_read_to_its_end_is_used_again() -> None:
    async def conduct(exchange: Exchange) -> None:
        await exchange.send(CHUNKED)
        await exchange.chunks(*[sse(event) for event in text_reply("Hello")])
        # The end of the body comes in a packet of its own, as behind most web servers.
        await heard.wait()
        heard.clear()
        await exchange.chunks(b"")

    heard = asyncio.Event()
    async with servers.server(conduct) as serving:
        await events(serving.url, calls=3, heard=heard)

    assert serving.connections == 1


HEADERS = ["", "TEXT/EVENT-STREAM", "Text/Event-Stream; Charset=UTF-8", "text/plain"]


@pytest.mark.parametrize("content_type", [*HEADERS, "application/json", "text/html"])
async def test_a_stream_is_read_under_any_content_type(
    content_type: str,
) -> None:
    async def conduct(exchange: Exchange) -> None:
        header = b""
        if content_type:
            header = f"content-type: {content_type}\r\n".encode()
        await exchange.send(
            b"HTTP/1.1 200 OK\r\n", header, b"transfer-encoding: chunked\r\n\r\n"
        )
        # Cut in the least convenient place, within the name of a field.
        await exchange.chunks(b"da", b'ta: {"type":"ping"}\n\n')
        await exchange.chunks(*[sse(event) for event in text_reply("Hello")], b"")

    async with servers.server(conduct) as serving:
        got = await events(serving.url)

    assert [event["type"] for event in got] == [
        "ping",
        *[event["type"] for event in text_reply("Hello")],
    ]


MESSAGE: Json = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "Hello"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream"])
@pytest.mark.parametrize("error", [None, "", {}])
async def test_a_whole_message_is_read_though_it_has_an_empty_error(
    error: object, content_type: str
) -> None:
    async def conduct(exchange: Exchange) -> None:
        body = servers.encoded(MESSAGE | {"error": error})
        await exchange.answer("200 OK", b"\n " + body, content_type)

    async with servers.server(conduct) as serving:
        got = await events(serving.url)

    assert got[1]["content_block"] == {"type": "text", "text": "Hello"}
    assert got[-1]["type"] == "message_stop"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"type": "error", "error": {"type": "not_found_error", "message": "model: x"}},
         "not_found"),
        ({"error": {"type": "not_found_error", "message": 'model "x" not found'}},
         "not_found"),
        ({"object": "error", "message": "The model `x` does not exist."}, "not_found"),
        ({"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}},
         "wrong_address"),
        ({"type": "error", "error": {"type": "not_found_error", "message": "Not Found"}},
         "wrong_address"),
        ({"error": {"message": "Invalid URL (POST /v1/v1/messages)", "type": "x"}},
         "wrong_address"),
        ({"detail": "Not Found"}, "wrong_address"),
        (None, "wrong_address"),
    ],
)  # fmt: skip
async def test_a_404_says_if_the_model_is_unknown_or_the_address_wrong(
    body: Json | None, kind: str
) -> None:
    async def conduct(exchange: Exchange) -> None:
        page = b"<html>404 Not Found, try another model of web page</html>"
        if body is not None:
            page = servers.encoded(body)
        await exchange.answer("404 Not Found", page)

    async with servers.server(conduct) as serving:
        error = await failure(f"{serving.url}/v1")

    assert (error.kind, error.retryable) == (kind, False)
    assert ("/v1/v1/messages" in str(error)) == (kind == "wrong_address")


@pytest.mark.parametrize("filler", range(320, 420, 9))
async def test_the_failure_shows_a_key_neither_whole_nor_cut_in_two(
    filler: int,
) -> None:
    async def conduct(exchange: Exchange) -> None:
        error = {"type": "authentication_error", "message": f"{'x' * filler} {KEY}"}
        await exchange.answer("401 Unauthorized", servers.encoded({"error": error}))

    async with servers.server(conduct) as serving:
        error = await failure(serving.url)

    assert KEY[:4] not in str(error)


async def test_a_key_that_is_only_a_placeholder_garbles_nothing() -> None:
    async def conduct(exchange: Exchange) -> None:
        error = {"type": "invalid_request_error", "message": "none of the slots is x"}
        await exchange.answer("400 Bad Request", servers.encoded({"error": error}))

    async with servers.server(conduct) as serving:
        model = connect("none", serving.url)
        with pytest.raises(ModelError, match="none of the slots is x"):
            async for _ in model.stream(build_request(asked(), TOOLS), 5.0):
                pass
        await model.aclose()
