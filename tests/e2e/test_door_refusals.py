"""What the doors refuse, what they ignore, and all else that clients may send."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

USER = {"role": "user", "content": "What is BM25?"}
IMAGE = {"type": "image_url", "image_url": {"url": "https://a.example/x.png"}}
HALF = {"role": "user", "content": "\ud800"}
CHAT, RESPONSES, AGUI = "/v1/chat/completions", "/v1/responses", "/agui"
LEAST: dict[str, dict[str, Any]] = {
    CHAT: {"model": "antiphon"},
    RESPONSES: {"model": "antiphon"},
    AGUI: {"threadId": "t"},
}
"""What each needs beside the question, but for the run's own id."""


def sent(
    rest: httpx2.Client, path: str, fields: dict[str, Any], **headers: str
) -> httpx2.Response:
    """Sends a body as JSON with escapes, which can hold what no text can."""
    body = json.dumps(LEAST[path] | fields)
    headers = {"content-type": "application/json"} | headers
    return rest.post(path, content=body, headers=headers)


def messages(*told: object) -> dict[str, Any]:
    return {"messages": list(told)}


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no messages": (messages(), "messages"),
    "no list": ({"messages": "What is BM25?"}, "messages"),
    "a number as role": (messages({**USER, "role": 7}), "messages.0.role"),
    "an answer alone": (messages({**USER, "role": "assistant"}), "last"),
    "nothing said": (messages({"role": "user", "content": " \n"}), "empty"),
    "no content": (messages({"role": "user"}), "empty"),
    "an image": (messages({"role": "user", "content": [IMAGE]}), "image_url"),
    "nested parts": (
        messages({"role": "user", "content": [[[["x"]]]]}),
        "messages.0.content",
    ),
    "half a surrogate": (messages(HALF), "surrogate"),
    "half of one before": (messages(HALF, USER), "surrogate"),
    "a long question": (messages({**USER, "content": "x" * 900_000}), "characters"),
}
REFUSED_OF_CHAT: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown role": (messages({**USER, "role": "judge"}), "messages.0.role"),
    "no role": (messages({"content": "x"}), "messages.0.role"),
    "an answer last": (messages(USER, {**USER, "role": "assistant"}), "last"),
    "two answers": (messages(USER) | {"n": 2}, "n"),
    "probabilities": (messages(USER) | {"logprobs": True}, "logprobs"),
    "sound": (messages(USER) | {"modalities": ["text", "audio"]}, "modalities"),
    "a form": (
        messages(USER) | {"response_format": {"type": "json_object"}},
        "response_format",
    ),
    "a forced tool": (messages(USER) | {"tool_choice": "required"}, "tool_choice"),
    "a number as model": (messages(USER) | {"model": 7}, "model"),
    "a word as switch": (messages(USER) | {"stream": "yes"}, "stream"),
}
REFUSED_OF_RUNS: dict[str, tuple[dict[str, Any], str]] = {
    "no run": (messages(USER), "`runId` is missing"),
    "a run without a name": (messages(USER) | {"runId": ""}, "runId"),
    "a long name": (messages(USER) | {"runId": "x" * 201}, "runId"),
    "half a name": (messages(USER) | {"runId": "\ud800"}, "surrogate"),
    "a number as thread": (messages(USER) | {"threadId": 7, "runId": "r"}, "threadId"),
    "an interrupt answered": (
        messages(USER)
        | {"runId": "r", "resume": [{"interruptId": "i", "status": "resolved"}]},
        "`resume` answers an interrupt",
    ),
    "no answer to one": (messages(USER) | {"runId": "r", "resume": [7]}, "resume.0"),
}


@pytest.mark.parametrize("kind", REFUSED | REFUSED_OF_CHAT)
def test_clients_of_openai_get_a_400_that_says_why_for_what_cannot_be_answered(
    rest: httpx2.Client, kind: str
) -> None:
    fields, named = (REFUSED | REFUSED_OF_CHAT)[kind]

    reply = sent(rest, CHAT, fields)

    error = reply.json()["error"]
    assert reply.status_code == 400, reply.text
    assert named in error["message"]
    assert error["type"] == "invalid_request_error"
    assert {"code", "param"} <= error.keys()


@pytest.mark.parametrize("kind", REFUSED | REFUSED_OF_RUNS)
def test_a_request_that_cannot_be_answered_is_no_run_and_the_error_says_why(
    rest: httpx2.Client, kind: str
) -> None:
    fields, named = (REFUSED | REFUSED_OF_RUNS)[kind]
    if kind in REFUSED:
        fields = fields | {"runId": kind}

    reply = sent(rest, AGUI, fields)

    assert reply.status_code == 422, reply.text
    assert named in reply.json()["error"]["message"]


ANSWERED = {"role": "assistant", "content": "Words."}
OF_TOOLS = (
    {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
    {"role": "tool", "tool_call_id": "1", "content": "x"},
)
PASSED_OVER: dict[str, tuple[str, dict[str, Any]]] = {
    "what changes nothing": (
        CHAT,
        messages(USER)
        | {"temperature": 0, "max_tokens": 5, "stop": ["x"], "seed": 1, "user": "me"}
        | {"metadata": {"a": "b"}, "n": 1, "logprobs": False}
        | {"unheard_of": {"deep": [[[]]]}},
    ),
    "tools that need not be called": (
        CHAT,
        messages(USER)
        | {"tools": [{"type": "function", "function": {"name": "f"}}]}
        | {"tool_choice": "auto"},
    ),
    "an old image": (CHAT, messages({"role": "user", "content": [IMAGE]}, USER)),
    "what tools said": (CHAT, messages(USER, *OF_TOOLS, USER)),
    "ten thousand messages": (CHAT, messages(*[USER, ANSWERED] * 5_000, USER)),
    "what a page shows and offers": (
        AGUI,
        messages(USER)
        | {"runId": "r1", "parentRunId": "r0", "state": {"page": [1, None]}}
        | {"tools": [{"name": "f", "description": "", "parameters": {}}]}
        | {"context": [{"description": "The page", "value": "7"}]}
        | {"forwardedProps": {"a": 1}, "protocolVersion": "9.9", "resume": []}
        | {"unheard_of": {"deep": [[[]]]}},
    ),
    "what a run showed": (
        AGUI,
        messages(
            *({"role": "activity", "activityType": "plan", "content": {"a": 1}}, USER),
            *({"role": "reasoning", "content": "Hm."}, *OF_TOOLS, ANSWERED),
        )
        | {"runId": "r2", "state": [1]},
    ),
    "ten thousand messages of a thread": (
        AGUI,
        messages(*[USER, ANSWERED] * 5_000, USER) | {"runId": "r3"},
    ),
}


@pytest.mark.parametrize("kind", PASSED_OVER)
def test_the_doors_ignore_what_changes_nothing(rest: httpx2.Client, kind: str) -> None:
    reply = sent(rest, *PASSED_OVER[kind])

    assert reply.status_code == 200, reply.text
    assert "RUN_ERROR" not in reply.text
    traces = rest.get("/api/traces?limit=1").json()["traces"]
    [first, *_] = rest.get(f"/api/traces/{traces[0]['query_id']}").json()["events"]
    assert first["event"]["query"] == USER["content"]
    assert len(first["event"]["history"]) <= 5


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["user", "assistant", "text", "auto", "\ud800", "resp_", "\x00"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "type", "text", "format", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
FIELDS = (
    "messages", "input", "stream", "stream_options", "n", "tools", "tool_choice", "text", "model",
    "previous_response_id", "instructions", "threadId", "runId", "state", "context", "forwardedProps", "resume",
)  # fmt: skip


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    path=st.sampled_from([CHAT, RESPONSES, AGUI, AGUI]),
    fields=st.dictionaries(st.sampled_from(FIELDS), ANYTHING),
    asks=st.booleans(),
)
def test_the_doors_answer_any_request_or_refuse_it_in_the_clients_shape(
    rest: httpx2.Client, path: str, fields: dict[str, Any], asks: bool
) -> None:
    if asks:
        fields = {"messages": [USER], "input": "What is BM25?", "runId": "r"} | fields
    reply = sent(rest, path, fields)

    refusals = (409, 422) if path == AGUI else (400, 404, 409)
    assert reply.status_code in (200, *refusals), reply.text
    if reply.status_code != 200:
        error = reply.json()["error"]
        theirs = set() if path == AGUI else {"type", "param"}
        assert {"message", "code"} | theirs <= error.keys()
    elif path == AGUI:
        *_, last, _ = reply.text.split("\n\n")
        assert json.loads(last.removeprefix("data: "))["type"] == "RUN_FINISHED"


LONG = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/v1/embeddings", {}, 404),
        ("GET", CHAT, {}, 405),
        ("GET", "/v1/models", {"host": "evil.example"}, 400),
        ("POST", CHAT, {"origin": "https://evil.example"}, 403),
        ("POST", CHAT, {"content-type": "text/plain"}, 415),
        ("POST", CHAT, LONG, 413),
        ("GET", AGUI, {}, 405),
        ("POST", AGUI, {"host": "evil.example"}, 400),
        ("POST", AGUI, {"origin": "https://evil.example"}, 403),
        ("POST", AGUI, {"content-type": "text/plain"}, 415),
        ("POST", AGUI, LONG, 413),
    ],
)
def test_a_refusal_by_the_guards_comes_in_the_clients_shape(
    rest: httpx2.Client, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    content = "x" * 1_100_000 if headers is LONG else None
    reply = rest.request(method, path, headers=headers, content=content)

    error = reply.json()["error"]
    assert reply.status_code == status
    theirs = set() if path == AGUI else {"type", "param"}
    assert {"message", "code"} | theirs <= error.keys()
