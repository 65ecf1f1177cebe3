"""Asks, follows, cancels and reads with the client that openapi-generator made."""

from __future__ import annotations

import json
import sys

from openapi_client import ApiClient, Configuration, QueriesApi, QueryRequest, TracesApi


def used(url: str, stuck_url: str, question: str) -> dict[str, object]:
    """Returns the result of each use; the slow service is for a query to cancel."""
    client = ApiClient(Configuration(host=url))
    stuck = ApiClient(Configuration(host=stuck_url))
    body = QueryRequest(query=question)

    answer = QueriesApi(client).ask(body)

    begun = QueriesApi(client).begin_query(body)
    followed = QueriesApi(client).follow_query_without_preload_content(begun.query_id)
    stream = b"".join(followed.stream())

    unanswered = QueriesApi(stuck).begin_query(body)
    QueriesApi(stuck).cancel_query(unanswered.query_id)
    cancelled = TracesApi(stuck).read_answer(unanswered.query_id)

    trace = TracesApi(client).read_trace(answer.query_id)
    return {
        "answer": answer.answer,
        "calls": answer.usage.calls,
        "stream": stream.decode(),
        "cancelled": cancelled.status,
        "trace": [recorded.event.actual_instance.kind for recorded in trace.events],
    }


print(json.dumps(used(*sys.argv[1:])))  # noqa: T201  # what the test reads
