"""Programs of two versions side by side, with different vocabularies: neither loses the other's queries."""

from __future__ import annotations

import signal

from tests.cluster.conftest import Started
from tests.cluster.processes import is_whole, waited

UNREADABLE = "query_not_resumed"


def test_a_newer_worker_resumes_the_query_of_an_older_one(
    started: Started, slow_model: str
) -> None:
    processes = started(slow_model, ANTIPHON_CLAIM_S="1")
    older = processes.worker()
    newer = processes.spare(newer=True)
    node = processes.node()
    newer_node = processes.node(newer=True)
    query_id = node.begin()
    node.after(query_id, "reasoning_started")

    older.kill()
    newer.signal(signal.SIGCONT)
    state = newer_node.answered(query_id)
    refused = waited(
        lambda: node.client.get(f"/api/queries/{query_id}"),
        lambda reply: reply.status_code == 503,
    )

    assert state["status"] == "answered"
    assert is_whole(newer_node.events(query_id))
    assert "a newer Antiphon" in refused.json()["error"]["message"]


def test_an_older_worker_leaves_an_unreadable_query_to_a_newer_one_every_time_it_comes(
    started: Started, quick_model: str
) -> None:
    processes = started(quick_model, ANTIPHON_CLAIM_S="1", ANTIPHON_MOST_CLAIMS="2")
    older = processes.worker()
    newer_node = processes.node(newer=True)
    query_id = newer_node.begin()
    # More often than the limit on claims, which is for queries that end their workers.
    waited(
        lambda: [line for line in older.said if UNREADABLE in line],
        lambda lines: len(lines) > 3,
    )

    processes.worker(newer=True)
    state = newer_node.answered(query_id)

    assert state["status"] == "answered"
    assert newer_node.kinds(query_id).count("query_resumed") == 1
    assert is_whole(newer_node.events(query_id))
    assert older.stop() == 0
