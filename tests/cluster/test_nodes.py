"""API nodes over one queue: any of them follows, cancels and answers any query, and each answers without the others."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2

from antiphon.cluster import connect
from tests.cluster.conftest import Started
from tests.cluster.processes import Node, cluster, is_whole, waited
from tests.e2e.conftest import without_traces
from tests.e2e.processes import doubling, run
from tests.nats_servers import NatsServer

QUESTION = {"query": "What is applemailbox7?"}
POISON = {"calls": [{"name": "leave", "input": {"reason": "now"}}]}
LATE_POISON = {"calls": [{"name": "leave_later", "input": {"reason": "soon"}}]}


def test_a_reader_whose_node_is_killed_goes_on_at_another_from_the_last_event_it_saw(
    started: Started, slow_model: str
) -> None:
    processes = started(slow_model)
    processes.worker()
    first, second = processes.node(), processes.node()
    query_id = first.begin()
    seen: list[str] = []
    for kind, number in first.followed(query_id):
        seen.append(number)
        if kind == "reasoning_started":
            break
    first.process.kill()

    rest = [number for _, number in second.followed(query_id, int(seen[-1])) if number]

    assert [*seen, *rest] == [
        str(seq) for seq in range(1, len(second.events(query_id)) + 1)
    ]
    assert second.answered(query_id)["status"] == "answered"


def test_another_node_than_the_asked_one_streams_the_text_as_it_is_written(
    started: Started, quick_model: str
) -> None:
    processes = started(quick_model)
    asked, other = processes.node(), processes.node()
    query_id = asked.begin()
    with ThreadPoolExecutor() as readers:
        reading = readers.submit(lambda: list(other.followed(query_id)))
        # The worker starts only now, so that the reader cannot be too late for the text.
        processes.worker()
        told = reading.result()

    kinds = [kind for kind, _ in told]
    assert "text_delta" in kinds
    assert kinds.index("reasoning_started") < kinds.index("text_delta")
    assert kinds.index("text_delta") < kinds.index("reasoning_completed")


def test_one_request_sent_to_two_nodes_at_once_runs_once(
    started: Started, quick_model: str
) -> None:
    processes = started(quick_model)
    nodes = [processes.node(), processes.node()]
    processes.worker()

    def ask(node: Node) -> dict[str, object]:
        sent = node.client.post(
            "/api/query", json=QUESTION, headers={"Idempotency-Key": "once"}
        )
        assert sent.status_code == 200, sent.text
        answer: dict[str, object] = sent.json()
        return answer

    with ThreadPoolExecutor() as callers:
        answers = list(callers.map(ask, nodes))

    assert answers[0]["query_id"] == answers[1]["query_id"]
    assert len(nodes[0].client.get("/api/traces").json()["traces"]) == 1
    assert is_whole(nodes[1].events(str(answers[0]["query_id"])))


def test_another_node_than_the_asked_one_cancels_a_query_even_while_it_waits(
    started: Started, slow_model: str
) -> None:
    processes = started(slow_model)
    asked, other = processes.node(), processes.node()
    waiting = asked.begin()
    told = other.client.post(f"/api/queries/{waiting}/cancel")
    worker = processes.worker()
    running = asked.begin()
    asked.after(running, "reasoning_started")
    other.client.post(f"/api/queries/{running}/cancel")

    ended = [asked.answered(query_id)["status"] for query_id in (waiting, running)]

    assert told.status_code == 202
    assert ended == ["cancelled", "cancelled"]
    assert asked.client.post(f"/api/queries/{running}/cancel").status_code == 409
    assert worker.stop() == 0


def test_the_node_that_was_asked_says_what_a_query_waits_for(
    started: Started, slow_model: str
) -> None:
    processes = started(slow_model)
    processes.worker()
    node = processes.node()
    query_id = node.begin()
    node.after(query_id, "reasoning_started")

    (query,) = node.client.get("/api/queries").json()["queries"]

    assert query["query_id"] == query_id
    assert "reasoning_requested" in node.kinds(query_id)
    assert "call-1" in [each["about"] for each in query["waiting_for"]]
    assert node.answered(query_id)["status"] == "answered"
    assert node.client.get("/api/queries").json()["queries"] == []


def test_a_node_without_workers_answers_at_the_deadline(
    started: Started, quick_model: str
) -> None:
    node = started(quick_model).node()

    answer = node.client.post("/api/query", json=QUESTION | {"deadline_s": 1.5}).json()

    kinds = node.kinds(answer["query_id"])
    assert answer["status"] == "partial"
    assert "deadline" in [each["kind"] for each in answer["uncertainty"]["indicators"]]
    assert kinds[:3] == ["query_received", "query_resumed", "deadline_passed"]
    assert "reasoning_requested" not in kinds
    assert is_whole(node.events(answer["query_id"]))


def test_a_question_that_ends_every_worker_is_given_up_with_an_answer_that_says_so(
    started: Started, tmp_path: Path
) -> None:
    script = {"replies": [POISON], "then": "last"}
    with doubling(tmp_path, script) as model:
        processes = started(
            model,
            ANTIPHON_TOOLS="tests.cluster.exits:leave",
            ANTIPHON_MOST_CLAIMS="2",
            ANTIPHON_CLAIM_S="1",
        )
        node = processes.node()
        workers = [processes.worker(), processes.worker()]
        query_id = node.begin()
        for worker in workers:
            worker.process.wait(60)
        processes.worker()

        state = node.answered(query_id)

    assert [worker.process.returncode for worker in workers] == [3, 3]
    assert state["status"] == "cancelled"
    assert "it was given up: 2 times a worker took it" in state["answer"]["answer"]
    # One by each of the two workers that ended, and one by the third, which gives the query up.
    assert node.kinds(query_id).count("query_resumed") == 3
    assert is_whole(node.events(query_id))


def test_neighbours_of_a_question_that_ends_every_worker_are_answered_and_it_alone_is_given_up(
    started: Started, tmp_path: Path
) -> None:
    script = {
        "replies": [
            LATE_POISON | {"times": 50, "when": {"contains": "poison"}},
            {"text": "It is a box.", "first_byte_s": 2.0, "times": 50},
        ],
        "then": "last",
    }
    with doubling(tmp_path, script) as model:
        processes = started(
            model,
            ANTIPHON_TOOLS="tests.cluster.exits:leave_later",
            ANTIPHON_MOST_CLAIMS="3",
            ANTIPHON_CLAIM_S="1",
        )
        node = processes.node()
        poison = node.begin("What is poison?")
        innocent = [node.begin() for _ in range(4)]
        ended = 0
        with ThreadPoolExecutor() as starting:
            over = starting.submit(
                lambda: [node.answered(each) for each in (poison, *innocent)]
            )
            # Like a supervisor, starts another worker whenever one ends.
            while not over.done():
                worker = processes.worker()
                while worker.process.poll() is None and not over.done():
                    time.sleep(0.05)
                ended += worker.process.poll() is not None
            given_up, *answered = over.result()
        resumed = [node.kinds(each).count("query_resumed") for each in innocent]

    assert [each["status"] for each in answered] == ["answered"] * 4
    assert given_up["status"] == "cancelled"
    assert "it was given up: 3 times a worker took it" in given_up["answer"]["answer"]
    assert ended == 3
    assert max(resumed) <= 3


def test_a_node_that_cannot_reach_the_servers_refuses_with_503_and_works_again_later(
    started: Started, quick_model: str, tmp_path: Path
) -> None:
    server = NatsServer(tmp_path)
    server.start()
    try:
        processes = started(quick_model, ANTIPHON_NATS_URL=server.url)
        node = processes.node()
        processes.worker()
        server.kill()
        refused = waited(
            lambda: node.client.post("/api/query", json=QUESTION),
            lambda reply: reply.status_code == 503 and "NATS" in reply.text,
        )
        server.start()
        answered = waited(
            lambda: node.client.post("/api/query", json=QUESTION),
            lambda reply: reply.status_code == 200,
        )
    finally:
        for process in (processes,):
            process.end()
        server.kill()

    assert "cannot be reached" in refused.json()["error"]["message"]
    assert answered.json()["status"] == "answered"


def test_more_questions_than_workers_can_take_in_time_are_refused_with_429(
    started: Started, slow_model: str
) -> None:
    processes = started(slow_model, ANTIPHON_QUEUE_WAIT_S="0")
    node = processes.node()
    processes.worker("--concurrency", "1")

    def ask() -> httpx2.Response:
        return node.client.post("/api/queries", json=QUESTION)

    replies = waited(
        lambda: [ask() for _ in range(4)],
        lambda found: found[-1].status_code == 429,
    )

    assert int(replies[-1].headers["retry-after"]) >= 1
    assert replies[-1].json()["error"]["code"] == "queue_full"


def test_a_request_that_is_sent_again_is_acknowledged_only_with_its_question_in_the_queue(
    nats_url: str, started: Started, quick_model: str
) -> None:
    processes = started(quick_model)
    asked, other = processes.node(), processes.node()
    once = {"Idempotency-Key": "once"}
    first = asked.client.post("/api/queries", json=QUESTION, headers=once)
    # As if the queue had refused the question, or its node had died before sending it.
    asyncio.run(emptied(nats_url, processes.prefix))

    again = other.client.post("/api/queries", json=QUESTION, headers=once)

    assert (first.status_code, again.status_code) == (202, 202)
    assert again.json()["query_id"] == first.json()["query_id"]
    assert asyncio.run(emptied(nats_url, processes.prefix)) == 1


def test_the_asked_node_counts_the_spending_of_a_keys_query_in_a_worker(
    nats_url: str, index: Path, quick_model: str, tmp_path: Path
) -> None:
    data_dir = without_traces(index, tmp_path)
    made = run(
        *("keys", "add", "web", "--tenant", "acme", "--scope", "ask"),
        data_dir=data_dir,
        folder=tmp_path,
    )
    with cluster(nats_url, data_dir, quick_model) as processes:
        node = processes.node()
        processes.worker()
        node.client.headers["x-api-key"] = made.stdout.strip()

        state = node.answered(node.begin())
        [key, tenant] = waited(
            lambda: node.client.get("/api/usage").json()["shares"],
            lambda shares: shares[0]["used"]["tokens"] > 0,
        )

    assert state["status"] == "answered"
    assert (key["used"]["requests"], tenant["name"]) == (1, "acme")
    assert key["set_aside"]["tokens"] == 0


async def emptied(nats_url: str, prefix: str) -> int:
    """Empties the queue of an installation; returns the number of questions it held."""
    shared = await connect(nats_url, name="test", prefix=prefix)
    try:
        stream = shared.naming.queries_stream
        info = await shared.jetstream.stream_info(stream)
        await shared.jetstream.purge_stream(stream)
        return info.state.messages
    finally:
        await shared.close()
