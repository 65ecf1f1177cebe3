"""The fault proxy in this process: every fault in every protocol, and hostile servers, clients and recordings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import msgspec
import pytest

from antiphon.engine import Double, InProcessTransport
from antiphon.faults import (
    Exchange,
    Fault,
    FaultProxy,
    check_wire_plan,
    drawn_plan,
    parse_plan,
    reactions,
    read_recording,
    single_plans,
)
from antiphon.faults.plan import model_points
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.ports import Json

TEXT = "It is 30 degrees in Oslo."
ASKED = [{"role": "user", "content": "How warm is it?"}]
FUNCTION = {"name": "get_weather", "arguments": '{"city":"Oslo"}'}
REPLIES: dict[str, Json] = {
    "/v1/messages": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [
            {"type": "text", "text": TEXT},
            {
                "type": "tool_use",
                "id": "toolu_1",
                "name": "get_weather",
                "input": {"city": "Oslo"},
            },
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 10, "output_tokens": 5},
    },
    "/v1/chat/completions": {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": TEXT,
                    "tool_calls": [
                        {"id": "call_1", "type": "function", "function": FUNCTION}
                    ],
                },
                "finish_reason": "tool_calls",
            }
        ],
    },
    "/v1/responses": {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "output": [
            {
                "type": "message",
                "id": "item_0",
                "role": "assistant",
                "content": [{"type": "output_text", "text": TEXT}],
            },
            {"type": "function_call", "id": "item_1", "call_id": "call_1", **FUNCTION},
        ],
    },
}
PATHS = list(REPLIES)


class Upstream(httpx2.AsyncBaseTransport):
    """A server that sends what it is given, or breaks."""

    def __init__(self, status: int, body: bytes | None) -> None:
        self.status = status
        self.body = body
        self.asked: list[httpx2.Request] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        if self.body is None:
            raise httpx2.ConnectError("nobody listens")
        return httpx2.Response(self.status, content=self.body)


class Got(NamedTuple):
    """What a client got; a status of 0 is a connection that broke."""

    status: int
    body: bytes


class Stage:
    """A client, the proxy and a server."""

    def __init__(self, body: bytes | None, status: int = 200) -> None:
        self.upstream = Upstream(status, body)
        client = httpx2.AsyncClient(
            base_url="http://upstream.test", transport=self.upstream
        )
        self.noted: list[Exchange] = []
        self.proxy = FaultProxy(client, self.noted.append)
        self.waited: list[float] = []
        self._app = Double(self.proxy, self._sleep, on_port=True)

    async def _sleep(self, seconds: float) -> None:
        self.waited.append(seconds)

    async def ask(
        self, path: str, request: object, faults: Sequence[Fault] = ()
    ) -> Got:
        self.proxy.begin(faults)
        body = request if isinstance(request, bytes) else msgspec.json.encode(request)
        transport = InProcessTransport(self._app)
        async with httpx2.AsyncClient(transport=transport) as client:
            try:
                reply = await client.post(f"http://proxy.test{path}", content=body)
            except httpx2.ReadError:
                return Got(0, b"")
        return Got(reply.status_code, reply.content)


def request(path: str, *, stream: bool = False) -> Json:
    turns = "input" if path.endswith("responses") else "messages"
    return {"model": "m", turns: ASKED, "stream": stream}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", PATHS)
async def test_every_fault_changes_what_the_client_gets(
    path: str, stream: bool
) -> None:
    stage = Stage(msgspec.json.encode(REPLIES[path]))
    asked = request(path, stream=stream)
    usual = await stage.ask(path, asked)
    points = [point for point, _ in stage.proxy.injected.traversed]
    tried = single_plans(points, 1)

    # A reply in one piece has no tokens between which it could break.
    assert len(points) == (len(model_points("model")) if stream else 3)
    for plan in tried:
        stage.waited.clear()
        [fault] = plan.faults
        got = await stage.ask(path, asked, plan.faults)
        assert stage.noted[-1].fault == f"{fault.point}:{fault.kind}"
        if fault.kind in ("slow", "hang"):
            assert got == usual
            assert max(stage.waited) >= 5.0
        elif (fault.kind, fault.point) != ("reorder", "model.stream.before_end"):
            # Nothing comes after the end, so nothing can change places with it.
            assert got != usual, fault


@pytest.mark.parametrize("path", PATHS)
async def test_a_wrong_reply_is_recorded_as_it_was_sent(path: str) -> None:
    stage = Stage(msgspec.json.encode(REPLIES[path]))

    await stage.ask(path, request(path), [Fault(point="model.content", kind="empty")])

    assert TEXT not in str(stage.noted[-1].response)
    await stage.ask(path, request(path))
    assert stage.noted[-1].response == REPLIES[path]


@pytest.mark.parametrize("path", PATHS)
async def test_a_refusal_says_when_to_come_again_only_if_the_plan_does(
    path: str,
) -> None:
    stage = Stage(None)
    for fault in ("rate_limit", 429), ("overload", 529), ("raise", 500):
        kind, status = fault
        for for_s, header in (0.0, None), (2.0, "2"):
            plan = parse_plan(
                {"faults": [{"point": "model.request", "kind": kind, "for_s": for_s}]}
            )
            stage.proxy.begin(plan.faults)
            transport = InProcessTransport(Double(stage.proxy))
            async with httpx2.AsyncClient(transport=transport) as client:
                reply = await client.post(
                    f"http://proxy.test{path}", json=request(path)
                )

            assert (reply.status_code, reply.headers.get("retry-after")) == (
                status,
                header,
            )
            assert reply.json()["error"]["message"]
    assert not stage.upstream.asked


DEEP = b'{"content":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
HOSTILE_REPLIES: dict[str, bytes | None] = {
    "nobody": None,
    "nothing": b"",
    "no JSON": b"<html>",
    "a list": b"[]",
    "deep": DEEP,
    "huge": b'{"content":"' + b"a" * 9 * 2**20 + b'"}',
    "no content": b'{"content":7,"choices":[],"output":null}',
    "content of numbers": b'{"content":[1],"choices":[1],"output":[1]}',
    "content without fields": b'{"content":[{}],"choices":[{}],"output":[{}]}',
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", HOSTILE_REPLIES)
async def test_a_hostile_server_is_named_as_what_failed(
    name: str, path: str, stream: bool
) -> None:
    stage = Stage(HOSTILE_REPLIES[name])
    wrong = [Fault(point="model.content", kind="malformed")]

    got = await stage.ask(path, request(path, stream=stream), wrong)

    assert got.status == 502, got
    assert b"antiphon faults serve: no reply of the upstream's" in got.body
    assert stage.noted[-1].status == 502


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no JSON",
        b"[1]",
        DEEP,
        b'{"messages":7,"input":7,"tools":7}',
        b'{"messages":[1],"input":[1],"tools":[1],"stream":"yes"}',
        b'{"messages":null,"input":{},"tools":[{"function":7}]}',
    ],
)
async def test_a_hostile_client_gets_an_answer(body: bytes, path: str) -> None:
    stage = Stage(msgspec.json.encode(REPLIES[path]))
    wrong = [Fault(point="model.content", kind="unknown_tool")]

    got = await stage.ask(path, body, wrong)

    assert got.status in (200, 502)
    assert all(reactions(stage.proxy.exchanges))


async def test_the_proxy_itself_refuses_a_request_that_is_too_large() -> None:
    stage = Stage(b"{}")

    got = await stage.ask("/v1/messages", b" " * (33 * 2**20))

    assert got.status == 413
    assert not stage.upstream.asked


@pytest.mark.parametrize(
    "path",
    [
        "//evil.test/v1/messages",
        "/http://evil.test/v1/messages",
        "/@evil.test/v1/messages",
        "/v1/../../../messages",
        "/%2f%2fevil.test/messages",
        "/v1/messages?to=http://evil.test",
        "/v1/models",
    ],
)
async def test_the_proxy_calls_only_the_upstream(path: str) -> None:
    stage = Stage(b"{}")

    await stage.ask(path, {"messages": ASKED})

    [asked] = stage.upstream.asked
    assert asked.url.host == "upstream.test"


async def test_a_refusal_of_the_servers_own_is_passed_on_as_it_is() -> None:
    refusal = b'{"type":"error","error":{"type":"authentication_error"}}'
    stage = Stage(refusal, status=401)

    got = await stage.ask("/v1/messages", request("/v1/messages", stream=True))

    assert got == (401, refusal)
    assert stage.noted[-1].response == msgspec.json.decode(refusal)


def exchange(turns: int, at: float, fault: str | None = None) -> Exchange:
    return Exchange(
        request={"messages": ASKED * turns}, started=at, seconds=1.0, fault=fault
    )


@pytest.mark.parametrize(
    ("later", "did"),
    [
        ([], "asked nothing more"),
        ([exchange(3, 2.0)], "went on with the wrong reply"),
        ([exchange(0, 2.0)], "asked something else"),
        (
            [exchange(1, 1.5)],
            "repeated the request once, first after 0.5 s, and asked nothing else",
        ),
        (
            [exchange(3, 9.0), exchange(1, 3.0), exchange(1, 2.0)],
            "repeated the request 2 times, first after 1.0 s, and went on",
        ),
    ],
)
def test_the_next_requests_show_how_a_client_reacted(
    later: list[Exchange], did: str
) -> None:
    told = reactions([*later, exchange(1, 0.0, "model.content:empty")])

    assert told == [f"model.content:empty in call 1: {did}"]


def test_the_same_seed_draws_the_same_plan_of_faults_on_a_wire() -> None:
    drawn = [drawn_plan(seed) for seed in range(50)]

    assert drawn == [drawn_plan(seed) for seed in range(50)]
    assert len(set(map(str, drawn))) == 50
    for plan in drawn:
        check_wire_plan(plan)


@pytest.mark.parametrize(
    "fault",
    [
        {"point": "tool.get_weather", "kind": "hang"},
        {"point": "store.append", "kind": "raise"},
        {"point": "model.request", "kind": "block"},
        {"point": "model.stream.in_text", "kind": "cancel"},
        {"point": "model.request", "kind": "raise", "when": "round_1"},
        {"point": "fallback.request", "kind": "raise"},
    ],
)
def test_a_fault_of_our_own_process_is_refused(fault: Json) -> None:
    plan = parse_plan({"faults": [fault]})

    with pytest.raises(BadInputError, match="between a client and its model's server"):
        check_wire_plan(plan)


RECORDED: Json = {"request": {"messages": ASKED}, "status": 200}


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (None, "cannot be read"),
        (b"", "no reply that can be played"),
        (b"no JSON", "line 1 is no exchange"),
        (b"\xff", "line 1 is no exchange"),
        (b'{"request":' + b"[" * 100_000, "line 1 is no exchange"),
        (b'{"response":{}}', "line 1 is no exchange"),
        (
            msgspec.json.encode(RECORDED | {"fault": "model.content:empty"}),
            "no reply that can be played",
        ),
        (
            msgspec.json.encode(RECORDED | {"status": 429}),
            "no reply that can be played",
        ),
    ],
)
def test_a_file_that_is_not_a_recording_is_refused_in_a_sentence(
    tmp_path: Path, written: bytes | None, why: str
) -> None:
    file = tmp_path / "recording.jsonl"
    if written is not None:
        file.write_bytes(written)

    with pytest.raises(BadInputError, match=why):
        read_recording(file)


async def test_a_recording_replies_by_the_request_or_else_by_its_position(
    tmp_path: Path,
) -> None:
    def line(turns: int, text: str, **more: Any) -> bytes:
        recorded = {"request": {"messages": ASKED * turns} | more, "status": 200}
        return msgspec.json.encode(recorded | {"response": {"content": [text]}}) + b"\n"

    file = tmp_path / "recording.jsonl"
    file.write_bytes(line(1, "first") + line(3, "second") + line(3, "other", model="b"))
    recording = read_recording(file)

    async def replied(**asked: Any) -> str:
        async with httpx2.AsyncClient(transport=recording) as client:
            reply = await client.post("http://replay.test/v1/messages", json=asked)
        return str(reply.json()["content"][0])

    assert await replied(messages=ASKED * 3, model="b", stream=True) == "other"
    assert await replied(messages=ASKED * 3) == "second"
    assert await replied(messages=["asked in other words"]) == "first"
    assert await replied(messages=ASKED * 9) in ("second", "other")
