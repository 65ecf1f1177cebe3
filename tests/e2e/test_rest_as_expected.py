"""REST as people expect it: short ids, keys for requests sent again, HEAD, deleting, cancelling, files, plain words."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.e2e.conftest import STARTING_S, Server, serving
from tests.unit.api.calling import events_in

QUESTION = {"query": "What is applemailbox7 in the Apple course?"}


def _asked(client: httpx2.Client, **fields: object) -> dict[str, Any]:
    answer: dict[str, Any] = client.post("/api/query", json=QUESTION | fields).json()
    return answer


def _message(reply: httpx2.Response) -> str:
    return str(reply.json()["error"]["message"])


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/memory",
        "/briefings",
        "/lineage",
        "/contributions",
        "/suspects",
        "/events",
        "/export",
        "/test",
        "/fault?at=5",
    ],
)
def test_a_trace_is_named_by_as_much_of_its_id_as_the_list_prints(
    client: httpx2.Client, path: str
) -> None:
    query_id = _asked(client)["query_id"]

    short = client.get(f"/api/traces/{query_id[:12]}{path}")

    assert short.status_code == 200, short.text
    assert short.content == client.get(f"/api/traces/{query_id}{path}").content


def test_ids_may_be_short_in_every_place_that_names_a_trace(
    client: httpx2.Client,
) -> None:
    parent = _asked(client)["query_id"]
    at = {"at": 2}

    forked = client.post(f"/api/traces/{parent[:12]}/fork", json=at).json()
    compared = client.get(
        f"/api/traces/{parent[:12]}/diff/{forked['query_id'][:12]}"
    ).json()
    listed = client.get(f"/api/traces?parent={parent[:12]}").json()["traces"]

    assert forked["parent"] == parent
    assert compared["right"]["query_id"] == forked["query_id"]
    assert [(line["query_id"], line["parent"]) for line in listed] == [
        (forked["query_id"], parent)
    ]
    assert client.get("/api/traces?limit=500").json()["traces"][1]["parent"] is None


def test_an_id_that_several_traces_have_is_a_conflict_that_names_them(
    client: httpx2.Client,
) -> None:
    ids = [
        line["query_id"]
        for line in client.get("/api/traces?limit=500").json()["traces"]
    ]
    while len({each[0] for each in ids}) == len(ids):
        ids.append(_asked(client)["query_id"])
    first = next(each[0] for each in ids if sum(e[0] == each[0] for e in ids) > 1)

    refused = client.get(f"/api/traces/{first}")

    assert (refused.status_code, refused.json()["error"]["code"]) == (
        409,
        "ambiguous_id",
    )
    assert any(each in _message(refused) for each in ids)


def test_a_request_that_is_sent_again_with_its_key_asks_nothing_again(
    client: httpx2.Client,
) -> None:
    headers = {"Idempotency-Key": "order 1"}

    first = client.post("/api/query", json=QUESTION, headers=headers)
    count = len(client.get("/api/traces?limit=500").json()["traces"])
    again = client.post("/api/query", json=QUESTION, headers=headers)
    live = client.post(
        "/api/query",
        json=QUESTION,
        headers=headers | {"accept": "text/event-stream"},
    )
    other = client.post(
        "/api/query", json=QUESTION | {"max_rounds": 1}, headers=headers
    )

    assert again.json() == first.json()
    assert events_in(live.content)[-1][2] == first.json()
    assert len(client.get("/api/traces?limit=500").json()["traces"]) == count
    assert (other.status_code, other.json()["error"]["code"]) == (
        409,
        "idempotency_key",
    )


def test_two_requests_with_one_key_at_once_are_one_query(client: httpx2.Client) -> None:
    def ask(_: int) -> dict[str, Any]:
        sent = client.post(
            "/api/query", json=QUESTION, headers={"Idempotency-Key": "at once"}
        )
        answer: dict[str, Any] = sent.json()
        return answer

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(ask, range(8)))

    assert len({answer["query_id"] for answer in answers}) == 1
    assert len({json.dumps(answer) for answer in answers}) == 1


def test_a_key_is_known_after_a_restart(data_dir: Path, tmp_path: Path) -> None:
    answers = []
    for _ in range(2):
        with (
            serving(data_dir, tmp_path) as running,
            httpx2.Client(base_url=running.url, timeout=STARTING_S) as client,
        ):
            reply = client.post(
                "/api/query", json=QUESTION, headers={"Idempotency-Key": "restart"}
            )
            answers.append(reply.json())

    assert answers[0] == answers[1]


@pytest.mark.parametrize("path", ["/healthz", "/api/courses", "/api/traces", "/docs"])
def test_head_is_get_without_the_body(client: httpx2.Client, path: str) -> None:
    head, get = client.head(path), client.get(path)

    assert (head.status_code, head.content) == (get.status_code, b"")
    assert head.headers["content-type"] == get.headers["content-type"]


def test_head_of_a_stream_ends(client: httpx2.Client) -> None:
    query_id = _asked(client)["query_id"]

    head = client.head(f"/api/traces/{query_id}/events")

    assert head.headers["content-type"].startswith("text/event-stream")


def test_a_slash_at_the_end_of_a_path_changes_nothing(client: httpx2.Client) -> None:
    posted = client.post("/api/query/", json=QUESTION)

    assert (posted.status_code, posted.history) == (200, [])
    assert client.get("/api/traces/").status_code == 200


def test_a_trace_is_deleted_and_then_is_not_there(client: httpx2.Client) -> None:
    query_id = _asked(client)["query_id"]

    too_short = client.delete(f"/api/traces/{query_id[:6]}")
    deleted = client.delete(f"/api/traces/{query_id[:12]}")

    assert too_short.status_code in (409, 422)
    assert deleted.json() == {"deleted": 1}
    assert client.get(f"/api/traces/{query_id}").status_code == 404
    assert client.delete(f"/api/traces/{query_id}").status_code == 404


def test_a_running_query_is_cancelled_and_its_caller_gets_an_answer(
    stuck_server: Server,
) -> None:
    with (
        httpx2.Client(base_url=stuck_server.url, timeout=STARTING_S) as client,
        ThreadPoolExecutor(1) as threads,
    ):
        waiting = threads.submit(_asked, client)
        query_id = ""
        while not query_id:
            running = client.get("/api/queries").json()["queries"]
            query_id = "".join(query["query_id"] for query in running)
        busy = client.delete(f"/api/traces/{query_id}")
        told = client.post(f"/api/queries/{query_id[:12]}/cancel")
        answer = waiting.result()
        over = client.post(f"/api/queries/{query_id}/cancel")
        resumed = client.post(f"/api/traces/{query_id}/resume")

    assert (busy.status_code, busy.json()["error"]["code"]) == (409, "trace_state")
    assert (told.status_code, told.json()["status"]) == (202, "cancelling")
    assert (answer["query_id"], answer["status"]) == (query_id, "cancelled")
    assert (over.status_code, resumed.status_code) == (409, 409)


def test_a_trace_goes_out_as_a_file_and_comes_back(client: httpx2.Client) -> None:
    query_id = _asked(client)["query_id"]
    lines = {"content-type": "application/x-ndjson"}

    exported = client.get(f"/api/traces/{query_id}/export")
    twice = client.post("/api/traces/import", content=exported.content, headers=lines)
    before = client.get(f"/api/traces/{query_id}").json()
    client.delete(f"/api/traces/{query_id}")
    imported = client.post(
        "/api/traces/import", content=exported.content, headers=lines
    )
    broken = client.post(
        "/api/traces/import", content=exported.content[:-9], headers=lines
    )
    plain = client.post("/api/traces/import", content=exported.content)

    assert "attachment" in exported.headers["content-disposition"]
    assert twice.status_code == 409
    assert (imported.status_code, imported.json()["query_id"]) == (201, query_id)
    assert client.get(imported.headers["location"]).json() == before
    assert client.post(f"/api/traces/{query_id}/replay").json()["divergence"] is None
    assert (broken.status_code, plain.status_code) == (422, 415)


def test_what_was_imported_is_not_run_again_over_the_network(
    client: httpx2.Client,
) -> None:
    query_id = _asked(client)["query_id"]
    file = client.get(f"/api/traces/{query_id}/export").content
    client.delete(f"/api/traces/{query_id}")
    client.post(
        "/api/traces/import",
        content=file,
        headers={"content-type": "application/x-ndjson"},
    )

    forked = client.post(f"/api/traces/{query_id}/fork", json={"at": 2})
    resumed = client.post(f"/api/traces/{query_id}/resume")

    assert (forked.status_code, resumed.status_code) == (403, 403)
    assert "ANTIPHON_FORK_MESSAGES" in _message(forked)


def test_a_trace_becomes_a_test_of_two_files(
    client: httpx2.Client, tmp_path: Path
) -> None:
    query_id = _asked(client)["query_id"]

    made = client.get(f"/api/traces/{query_id}/test").json()

    assert made["trace_name"] in made["test"]
    assert (
        made["trace"].encode() == client.get(f"/api/traces/{query_id}/export").content
    )
    compile(made["test"], made["test_name"], "exec")


def test_lineage_and_contributions_say_where_the_answer_comes_from(
    client: httpx2.Client,
) -> None:
    answer = _asked(client)
    trace = f"/api/traces/{answer['query_id']}"

    sentences = client.get(f"{trace}/lineage").json()["sentences"]
    passages = client.get(f"{trace}/contributions").json()["contributions"]

    assert sentences[0]["text"] in answer["answer"]
    assert sentences[0]["origins"][0]["source"] == answer["sources"][0]
    assert answer["citations"][0]["fact"] in [each["fact"] for each in passages]


def test_a_fault_plan_is_made_from_a_trace(client: httpx2.Client) -> None:
    trace = f"/api/traces/{_asked(client)['query_id']}"

    made = client.get(f"{trace}/fault?at=5&kind=drop").json()
    not_there = client.get(f"{trace}/fault?at=999")

    assert made["plan"]["faults"][0]["kind"] == "drop"
    assert made["kinds"]
    assert not_there.status_code == 422


def test_a_conversation_is_read_and_deleted(client: httpx2.Client) -> None:
    first = _asked(client)
    second = _asked(client, session_id=first["session_id"])
    path = f"/api/conversations/{first['session_id']}"

    read = client.get(path).json()
    deleted = client.delete(path).json()

    assert [each["question"] for each in read["exchanges"]] == [QUESTION["query"]] * 2
    assert [line["query_id"] for line in read["traces"]] == [
        second["query_id"],
        first["query_id"],
    ]
    assert deleted == {"deleted": 2}
    assert client.get(path).status_code == 404


def test_the_refusal_of_a_method_names_those_that_the_path_takes(
    client: httpx2.Client,
) -> None:
    reply = client.put("/api/traces/x")

    assert reply.status_code == 405
    assert {"GET", "DELETE"} <= set(reply.headers["allow"].split(", "))


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/api/traces?limt=3", "did you mean `limit`"),
        ("/api/traces?status=answred", "did you mean `answered`"),
        ("/api/traces?confidence=hi", "high, medium, low"),
        ("/api/traces?indicator=tool_fail", "did you mean `tool_failed`"),
        ("/api/courses?x=1", "no query parameter `x`"),
        ("/healthz?verbose", "no query parameter `verbose`"),
        ("/api/traces?limit=0", "`limit` must be at least 1"),
        ("/api/traces?limit=many", "`limit` must be a whole number"),
    ],
)
def test_a_parameter_or_value_that_is_not_known_is_refused_with_the_nearest(
    client: httpx2.Client, path: str, words: str
) -> None:
    reply = client.get(path)

    assert reply.status_code == 422
    assert words in _message(reply)


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/api/query", {"qurey": "x"}, "did you mean `query`"),
        ("/api/query", {"query": "x", "max_round": 1}, "did you mean `max_rounds`"),
        ("/api/query", {"query": "x", "zzzzzzz": 1}, "`zzzzzzz` that is not known"),
        ("/api/query", {"query": 7}, "`query` must be a text"),
        ("/api/query", {}, "`query` is missing"),
        ("/api/query", {"query": "x", "max_rounds": "2"}, "must be a whole number"),
        ("/api/query", {"query": "x", "strict": "yes"}, "must be true or false"),
        ("/api/query", {"query": "x", "compression": "zip"}, "must be one of"),
        ("/api/query", [], "the body must be an object"),
        ("/api/clear-session", {"sesion_id": "x"}, "did you mean `session_id`"),
        ("/api/traces/x/fork", {"mod": "live"}, "did you mean `mode`"),
        (
            "/api/traces/x/fork",
            {"change": [{"kind": "drop", "nam": "f1"}]},
            "did you mean `name`",
        ),
        ("/api/traces/x/fork", {"change": 7}, "`change`"),
    ],
)
def test_a_body_that_cannot_be_used_is_refused_in_plain_words(
    client: httpx2.Client, path: str, body: object, words: str
) -> None:
    trace = _asked(client)["query_id"]

    reply = client.post(path.replace("/x/", f"/{trace}/"), json=body)

    assert reply.status_code == 422
    assert words in _message(reply)
    assert "pydantic" not in reply.text
    assert "Input should" not in reply.text


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/query", '{"query": "x", "max_rounds": ' + "9" * 310 + "}"),
        ("/api/query", '{"query": "x", "max_total_tokens": ' + "9" * 310 + "}"),
        ("/api/query", '{"query": "x", "deadline_s": ' + "9" * 310 + "}"),
        ("/api/query", '{"query": "x", "max_cost_usd": -' + "9" * 310 + "}"),
        ("/api/traces/x/fork", '{"at": ' + "9" * 310 + "}"),
        ("/api/traces/x/fork", '{"at": 9223372036854775808}'),
        *(
            ("/api/traces/x/fork", '{"at": 2, "change": ' + change + "}")
            for change in (
                '{"kind": "reply", "value": ' + "[" * 400 + "]" * 400 + "}",
                '{"kind": "reply", "value": "' + "[" * 1_100 + '"}',
                '{"kind": "tool", "name": "t", "value": "' + "[" * 1_100 + '"}',
                '{"kind": "setting", "name": "max_rounds", "value": "'
                + "[" * 1_100
                + '"}',
                '{"kind": "setting", "name": "max_rounds", "value": ' + "9" * 310 + "}",
                '{"kind": "setting", "name": "max_rounds", "value": "'
                + "9" * 4_000
                + '"}',
                '{"kind": "drop", "name": ""}',
                '{"kind": "tool", "name": "", "value": "x"}',
                '{"kind": "reply", "value": {"content": [{"type": "text", "text": "\\ud800"}]}}',
                '{"kind": "reply", "value": "\\ud800"}',
                '{"kind": "reply", "value": [{"type": "mcp_tool_use"}]}',
                '{"kind": "reply", "value": [7]}',
            )
        ),
    ],
)
def test_numbers_depths_and_halves_of_characters_break_nothing(
    client: httpx2.Client, path: str, body: str
) -> None:
    trace = _asked(client)["query_id"]

    reply = client.post(
        path.replace("/x/", f"/{trace}/"),
        content=body,
        headers={"content-type": "application/json"},
    )

    assert reply.status_code in (400, 403, 422), reply.text
    assert len(reply.text) < 1_000


def test_a_last_event_beyond_the_trace_is_its_end_or_is_refused(
    client: httpx2.Client,
) -> None:
    path = f"/api/traces/{_asked(client)['query_id']}/events"

    for number, status in (("9" * 15, 200), (str(2**63), 422), ("-1", 422)):
        reply = client.get(path, headers={"last-event-id": number})
        assert (reply.status_code, b"event:" in reply.content) == (status, False)


def test_a_whole_number_may_be_written_with_a_point(client: httpx2.Client) -> None:
    parent = _asked(client, max_rounds=1.0)["query_id"]

    forked = client.post(f"/api/traces/{parent}/fork", json={"at": 2.0})

    assert (forked.status_code, forked.json()["parent_seq"]) == (201, 2)


def test_the_documentation_loads_nothing_from_elsewhere(client: httpx2.Client) -> None:
    for page in ("/docs", "/redoc"):
        text = client.get(page).text
        assert "http://" not in text
        assert "https://" not in text
        scripts = [part.split('"')[0] for part in text.split('src="')[1:]]
        for script in scripts:
            assert client.get(script).status_code == 200


def test_behind_a_proxy_every_address_has_the_proxys_path(
    data_dir: Path, tmp_path: Path
) -> None:
    with (
        serving(data_dir, tmp_path, ANTIPHON_ROOT_PATH="/antiphon") as running,
        httpx2.Client(base_url=running.url, timeout=STARTING_S) as client,
    ):
        parent = _asked(client)["query_id"]
        forked = client.post(f"/api/traces/{parent}/fork", json={"at": 2})
        unstripped = client.get("/antiphon/api/courses")
        schema = client.get("/openapi.json").json()
        page = client.get("/docs").text

    assert forked.headers["location"].startswith("/antiphon/api/traces/")
    assert forked.json()["diff"].startswith("/antiphon/api/traces/")
    assert unstripped.status_code == 200
    assert schema["servers"] == [{"url": "/antiphon"}]
    assert "/antiphon/openapi.json" in page
